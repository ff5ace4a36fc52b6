"""`tunerweb up`: everything in the foreground, until Ctrl+C."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tunerweb.cli import complain

if TYPE_CHECKING:
    from tunerweb.supervisor.stack import Then

FAILED = 1
STDOUT = 1


def up(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 8000,
    workers: Annotated[
        int | None, typer.Option(min=1, max=256, help="Compiles at once.", show_default="one per core")
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="Folder of everything that is kept.", show_default="TUNERWEB_DATA, or ./data")
    ] = None,
) -> int:
    """Start the dashboard with all it needs: broker, workers, web server. Ctrl+C stops it."""
    return start(host, port, workers, data)


def start(host: str, port: int, workers: int | None, data: Path | None, then: Then | None = None) -> int:
    # Imported where it is needed: the commands that need no server start faster.
    from tunerweb.cli.environment import read_environment
    from tunerweb.supervisor.errors import CannotStart
    from tunerweb.supervisor.stack import Address, run_stack

    environment = read_environment(workers=workers, data=data)
    try:
        return run_stack(environment, Address(host, port), say, then)
    except CannotStart as error:
        return complain(FAILED, str(error))


def say(line: str) -> None:
    write(f"{time.strftime('%H:%M:%S')} {line}")


def write(text: str) -> None:
    # Past the buffer of stdout: nobody may read this any more, which is no reason to stop, now or at the exit.
    with contextlib.suppress(OSError):
        os.write(STDOUT, f"{text}\n".encode())
