"""A supervisor with the real broker and stand-ins for the rest: `python -m ... DATA`, run as a process by the tests."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from tunerweb.cli.up import say
from tunerweb.supervisor import broker
from tunerweb.supervisor.data_folder import LOGS, held
from tunerweb.supervisor.errors import CannotStart
from tunerweb.supervisor.specs import ProcessSpec
from tunerweb.supervisor.supervisor import Plan, Supervisor

PREPARE = "print('prepared')"
# Tells its process id, then stops when it is asked to.
OBEDIENT = "import os, signal; print(os.getpid(), flush=True); signal.pause()"
# Has a child of its own in the same session, as a worker has.
PARENT = (
    "import subprocess, signal, sys; child = subprocess.Popen([sys.executable, '-c', 'import signal; signal.pause()']);"
    "print(child.pid, flush=True); signal.pause()"
)
DEAF = """
import signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("deaf", flush=True)
while True:
    signal.pause()
"""
BROKEN = "raise RuntimeError('no such table')"
KINDS = {"obedient": OBEDIENT, "parent": PARENT, "deaf": DEAF, "broken": BROKEN}


def python(name: str, code: str, *patience_s: float) -> ProcessSpec:
    argv = (sys.executable, "-c", code)
    return ProcessSpec(name, argv, dict(os.environ), patience_s=patience_s or (10.0,), failure=f"{name} failed")


def plan(data: Path, kinds: list[str]) -> Plan:
    socket = broker.socket_path(data)
    patience = float(os.environ.get("PATIENCE", "0.2"))
    workers = tuple(python(f"{kind}-{number}", KINDS[kind], patience, patience) for number, kind in enumerate(kinds, 1))
    return Plan(
        broker=ProcessSpec("broker", broker.broker_command(socket), dict(os.environ)),
        socket=socket,
        prepare=python("prepare", BROKEN if os.environ.get("PREPARE") == "broken" else PREPARE),
        stages=((python("web", OBEDIENT),), workers),
        need_broker=frozenset(spec.name for spec in workers),
    )


async def supervise(data: Path, kinds: list[str]) -> int:
    async def ready(prepared: str) -> None:
        say(f"ready, {prepared}")

    return await Supervisor(plan(data, kinds), data / LOGS, say).run(ready)


def main() -> int:
    data = Path(sys.argv[1])
    os.umask(0o077)
    try:
        with held(data):
            return asyncio.run(supervise(data, sys.argv[2:]))
    except CannotStart as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
