"""The `tunerweb` command. Exit codes: 0 done, 1 failed, 2 bad usage or bad input, 130 ended by Ctrl+C."""

from __future__ import annotations

import sys

INTERRUPTED = 130


def main() -> None:
    try:
        # Half a second of imports, in which Ctrl+C must be no traceback either.
        from tunerweb.cli.app import run

        code = run()
    except KeyboardInterrupt:
        code = complain(INTERRUPTED, "Stopped by Ctrl+C. No process was left running and no half-written file.")
    sys.exit(code)


def complain(code: int, *sentences: str) -> int:
    for sentence in sentences:
        print(f"tunerweb: {sentence}", file=sys.stderr)
    return code
