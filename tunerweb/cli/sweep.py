"""`tunerweb sweep`: a size sweep on this machine, without a server."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from sweeps.tuner.inputs import BadInput
from sweeps.tuner.size_sweep import SweepRequest, SweepResult, run_size_sweep
from tunerweb.cli.progress import listener_for
from tunerweb.work.child import Limits

GIB = 2**30


def sweep(
    model: Annotated[
        list[Path],
        typer.Argument(help="A DLC, an ONNX model (with its data files), or a zip of these.", show_default=False),
    ],
    config: Annotated[
        Path | None, typer.Option(help="Backend-extension JSON: the HTP settings or the wrapper.", show_default=False)
    ] = None,
    soc: Annotated[
        str | None, typer.Option(help="Target by name or number, e.g. SM8650 or 57.", show_default="from the config")
    ] = None,
    p: Annotated[str, typer.Option("--p", help="P values: all, or a list like 0,1,5-8.")] = "all",
    dim: Annotated[
        list[str] | None, typer.Option(help="NAME=N for a free dimension of an ONNX model.", show_default=False)
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Compiles at once, as memory allows.", show_default="one per core")
    ] = None,
    top: Annotated[int, typer.Option(help="Export the best K binaries of each metric.")] = 1,
    timeout: Annotated[float, typer.Option(min=0.001, help="Seconds of wall time for one compile.")] = 3600.0,
    memory: Annotated[
        float | None, typer.Option(min=0.001, help="GiB for one compile.", show_default="4/5 of the machine")
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for the binaries, configs and the report.")] = Path(
        "size_optimized"
    ),
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON on stdout, nothing else.")] = False,
) -> int:
    """Compile MODEL at every P value and rank ROM, RAM, DRAM traffic and simulated cycles."""
    limits = Limits(wall_s=timeout, memory_bytes=round(memory * GIB) if memory else None)
    request = SweepRequest(tuple(model), config, soc, p, dimensions(dim or []), workers, top, limits, out)
    with listener_for(sys.stderr) as listener:
        result = run_size_sweep(request, listener)
    if as_json:
        print(json.dumps(result.report, indent=2))
    else:
        _print(result)
    return 0 if result.delivered else 1


def _print(result: SweepResult) -> None:
    # Imported where it is needed: see `listener_for`.
    from rich.console import Console
    from rich.markup import escape

    from sweeps.reports.text_table import SweepText

    console = Console(highlight=False)
    SweepText(result.trials, result.target, result.invalid).print(console)
    console.print()
    console.print(f"Files are in {escape(str(result.out))}{'' if str(result.out).endswith('/') else '/'}.")


def dimensions(texts: list[str]) -> dict[str, int]:
    """`["N=1"]` to `{"N": 1}`. Raise `BadInput`."""
    sizes: dict[str, int] = {}
    for text in texts:
        name, separator, size = text.rpartition("=")
        if not separator or not name or not size.isascii() or not size.isdigit() or int(size) < 1:
            raise BadInput(f"--dim {text}: give a name and a whole number from 1, like --dim N=1.")
        if sizes.setdefault(name, int(size)) != int(size):
            raise BadInput(f"--dim gives {name} twice, as {sizes[name]} and as {size}.")
    return sizes
