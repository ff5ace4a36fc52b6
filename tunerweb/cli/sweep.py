"""`tunerweb sweep`: a sweep without a server, by size on this machine or by latency or DRAM traffic on a device."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from sweeps.tuner.inputs import BadInput
from sweeps.tuner.size_sweep import SweepRequest, SweepResult, run_size_sweep
from tunerweb.cli.progress import listener_for
from tunerweb.work.child import Limits

GIB = 2**30
NEEDS_DEVICE = "--device: a registered one's name, user@host, a serial number, host or simulated"


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
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for the binaries, configs and the report.", show_default="size_optimized, or by criterion"
        ),
    ] = None,
    criterion: Annotated[
        str | None, typer.Option(help="latency or bandwidth: run each point on a device.", show_default="by size")
    ] = None,
    device: Annotated[
        str | None,
        typer.Option(help="Name of a registered device, or user@host, a serial, host, simulated.", show_default=False),
    ] = None,
    rounds: Annotated[
        int | None, typer.Option(help="Times that each point is measured, 5 or more.", show_default="as it takes")
    ] = None,
    runs: Annotated[
        int | None, typer.Option(help="Inferences of one measurement.", show_default="half a second of them")
    ] = None,
    perf_profile: Annotated[str, typer.Option(help="The NPU's power mode while it is measured.")] = "burst",
    key: Annotated[
        Path | None, typer.Option(help="File with the private key, for user@host.", show_default=False)
    ] = None,
    password_file: Annotated[
        Path | None, typer.Option(help="File with the password, for user@host.", show_default=False)
    ] = None,
    host_key: Annotated[
        str | None,
        typer.Option(help="Public host key, a file with it, or accept, for user@host.", show_default=False),
    ] = None,
    python: Annotated[str, typer.Option(help="The device's Python, for user@host.")] = "python3",
    data: Annotated[
        Path | None, typer.Option(help="Folder with the registered devices.", show_default="TUNERWEB_DATA, or ./data")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON on stdout, nothing else.")] = False,
) -> int:
    """Compile MODEL at every P value and rank ROM, RAM, DRAM traffic and simulated cycles, or what a device says."""
    limits = Limits(wall_s=timeout, memory_bytes=round(memory * GIB) if memory else None)
    folder = out or Path(f"{criterion or 'size'}_optimized")
    request = SweepRequest(tuple(model), config, soc, p, dimensions(dim or []), workers, top, limits, folder)
    options = DeviceOptions(criterion, device, rounds, runs, perf_profile, key, password_file, host_key, python, data)
    if criterion is not None or device is not None:
        return _measure(request, options, as_json)
    with listener_for(sys.stderr) as listener:
        result = run_size_sweep(request, listener)
    if as_json:
        print(json.dumps(result.report, indent=2))
    else:
        _print(result)
    return 0 if result.delivered else 1


class DeviceOptions(NamedTuple):
    criterion: str | None
    device: str | None
    rounds: int | None
    runs: int | None
    perf_profile: str
    key: Path | None
    password_file: Path | None
    host_key: str | None
    python: str
    data: Path | None


def _measure(sweep: SweepRequest, options: DeviceOptions, as_json: bool) -> int:
    """Raises `BadInput`."""
    if options.criterion is None or options.device is None:
        missing = "--criterion latency or bandwidth" if options.criterion is None else NEEDS_DEVICE
        raise BadInput(f"A sweep on a device needs {missing}.")
    if sweep.top_k != 1:
        raise BadInput("--top is for a sweep by size: a device gives one best binary.")
    # Imported where it is needed: a sweep by size does not wait for ssh.
    from sweeps.tuner.arguments import access_of
    from sweeps.tuner.criteria import checked_criterion
    from sweeps.tuner.optimizing import TuneRequest
    from tunerweb.cli.measuring import measure
    from tunerweb.cli.registered import device_named

    criterion = checked_criterion(options.criterion)
    given = {"private_key": options.key, "password_file": options.password_file, "host_key": options.host_key}
    access = access_of({**given, "python": options.python})
    device = device_named(options.device, access, data=options.data, user=None)
    request = TuneRequest(sweep, criterion, device, options.perf_profile, rounds=options.rounds, runs=options.runs)
    return measure(request, as_json=as_json)


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
