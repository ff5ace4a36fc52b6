"""The `tunerweb` command. Exit codes: 0 done, 1 failed, 2 bad usage or bad input, 130 ended by Ctrl+C."""

from __future__ import annotations

import errno
import sys
from collections.abc import Callable
from typing import Any

import typer
from typer.exceptions import TyperException

from sweeps.toolchain.errors import ModelRejected, ToolchainError
from sweeps.tuner.inputs import BadInput
from tunerweb.cli.doctor import doctor
from tunerweb.cli.info import info
from tunerweb.cli.sweep import sweep

FAILED, BAD_INPUT, INTERRUPTED = 1, 2, 130

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Compile a model at every setting of Qualcomm's HTP compiler, and see what is worth shipping.",
)
for command in (sweep, info, doctor):
    app.command()(command)


def main() -> None:
    """Every error that a person can do something about is one clear line (a config may have several)."""
    sys.exit(run(lambda: app(standalone_mode=False)))


def run(command: Callable[[], Any]) -> int:
    try:
        code = command()
    except BadInput as error:
        return complain(BAD_INPUT, *error.problems)
    except ModelRejected as error:
        return complain(BAD_INPUT, str(error))
    except ToolchainError as error:
        return complain(FAILED, str(error))
    except OSError as error:
        return complain(FAILED, os_sentence(error))
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except TyperException as error:
        return complain(BAD_INPUT, f"{error} Try `tunerweb --help`.")
    if code == INTERRUPTED:  # typer's own answer to Ctrl+C, too
        return complain(INTERRUPTED, "Stopped by Ctrl+C. No process was left running and no half-written file.")
    return code if isinstance(code, int) else 0


def complain(code: int, *sentences: str) -> int:
    for sentence in sentences:
        print(f"tunerweb: {sentence}", file=sys.stderr)
    return code


def os_sentence(error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        what_next = "Free some space, or choose another folder with --out."
        return f"{error.strerror}: the files could not be written. {what_next}"
    what = error.strerror or str(error)
    where = f": {error.filename}" if error.filename else ""
    return f"{what}{where}."
