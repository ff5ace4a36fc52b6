"""`tunerweb demo`: everything that `tunerweb up` starts, and the sample model swept to its ranking in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tunerweb.cli.up import say, start, write

if TYPE_CHECKING:
    from tunerweb.supervisor.stack import Stack

DEMO = "sweeps.demo"


def demo(
    once: Annotated[bool, typer.Option("--once", help="End after the ranking.")] = False,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 0,
    workers: Annotated[
        int | None, typer.Option(min=1, max=256, help="Compiles at once.", show_default="one per core")
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="Folder of everything that is kept.", show_default="TUNERWEB_DATA, or ./data")
    ] = None,
) -> int:
    """Start everything and sweep the sample model: a look at Tunerweb without a model of your own."""

    async def sweep_the_sample(stack: Stack) -> None:
        await show_ranking(stack)
        if once:
            stack.stop()
        else:
            say("The sweep is done. Everything stays up until Ctrl+C.")

    return start(host, port, workers, data, sweep_the_sample)


async def show_ranking(stack: Stack) -> None:
    """`import` prints `{"path": ..., "sweep": ...}`: a link that lets its reader in, and what `wait` asks for."""
    imported = await stack.run_once("demo", DEMO, "import", failure="The sample model cannot be swept")
    sweep = json.loads(imported)
    say(f"The sample model is being swept. See it live, the link signs you in once: {stack.public_url}{sweep['path']}")
    ranking = await stack.run_once("demo", DEMO, "wait", sweep["sweep"], failure="The sweep has no ranking")
    write(ranking)
