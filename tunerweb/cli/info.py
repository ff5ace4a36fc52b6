"""`tunerweb info`: what a DLC, an ONNX model or a context binary is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from sweeps.toolchain.convert import SourceDescription, SourceKind, describe_source
from sweeps.toolchain.convert.hashing import sha256_of
from sweeps.toolchain.qnn.compiler import BundledToolchain
from sweeps.toolchain.qnn.results import memory_footprint
from sweeps.tuner.inputs import BadInput, existing_file
from sweeps.tuner.models import CONTEXT_KEYS, dlc_graphs

Json = dict[str, Any]


def info(
    file: Annotated[Path, typer.Argument(help="A DLC, an ONNX model or a context binary.", show_default=False)],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON on stdout.")] = False,
) -> int:
    """Show what FILE is: graphs, tensors, sizes."""
    description = describe_source(existing_file(file, "file"))
    if description.kind is SourceKind.CONTEXT_BINARY:
        document: Json = BundledToolchain().read_context(file)
    else:
        document = source_document(file, description)
    if as_json:
        print(json.dumps(document, indent=2))
    else:
        print_info(file, description, document)
    return 0


def source_document(file: Path, description: SourceDescription) -> Json:
    """The shape of a context binary's JSON as far as a source model has it, plus what only a source model has."""
    if description.kind is SourceKind.DLC and not description.problem:
        graphs = dlc_graphs(file)
    elif description.kind is SourceKind.ONNX:
        graphs = [{"info": onnx_graph(description)}]
    else:
        raise BadInput(description.problem or f"{file.name} is a {description.kind}, not a model.")
    return {"kind": description.kind.value, "info": {"numGraphs": len(graphs), "graphs": graphs}}


def onnx_graph(description: SourceDescription) -> Json:
    def tensors(values: Any) -> list[Json]:
        return [
            {"info": {"name": tensor.name, "dimensions": list(tensor.dims or ()), "dataType": tensor.data_type}}
            for tensor in values
        ]

    return {
        "graphName": description.model_name,
        "graphInputs": tensors(description.inputs),
        "graphOutputs": tensors(description.outputs),
        "freeDimensions": list(description.free_dimensions),
        "precision": description.precision,
        "opset": description.opset,
        "opCounts": dict(description.op_counts),
    }


def print_info(file: Path, description: SourceDescription, document: Json) -> None:
    console = Console(highlight=False)
    console.print(f"{escape(file.name)}: {description.kind.value}, {file.stat().st_size:,} bytes")
    console.print(f"sha256 {sha256_of(file)}")
    context = document["info"]
    if "buildId" in context:
        arch = (context["contextMetadata"] or {}).get("info", {}).get("dspArch")
        rom = f"ROM {context['contextBlobSize']:,} bytes"
        console.print(f"built by {context['buildId']} for SoC {context['socModel']} (v{arch}), {rom}", soft_wrap=True)
    for graph in context["graphs"]:
        print_graph(console, graph["info"])
    notes = description.notes
    if description.problem and description.kind is not SourceKind.CONTEXT_BINARY:
        notes = (*notes, description.problem)
    for note in notes:
        console.print(f"note: {escape(note)}", soft_wrap=True)


def print_graph(console: Console, graph: Json) -> None:
    console.print(f"graph {escape(str(graph['graphName']))}", soft_wrap=True)
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for heading in ("", "tensor", "shape", "type"):
        table.add_column(heading)
    for direction, key in (("in", "graphInputs"), ("out", "graphOutputs")):
        for tensor in graph[key]:
            shape = " x ".join(str(size) for size in tensor["info"]["dimensions"])
            data_type = str(tensor["info"]["dataType"]).removeprefix("QNN_DATATYPE_")
            table.add_row(direction, escape(tensor["info"]["name"]), escape(shape), data_type)
    console.print(table)
    if footprint := memory_footprint(graph):
        kinds = ", ".join(f"{key} {getattr(footprint, name):,}" for key, name in CONTEXT_KEYS.items())
        console.print(f"RAM {footprint.ram_bytes:,} bytes: {kinds}", soft_wrap=True)
    elif "graphBlobInfo" in graph:
        console.print("RAM not reported by this build")
    if counts := graph.get("opCounts"):
        console.print(
            f"{graph['precision']}, opset {graph['opset']}: " + ", ".join(f"{name} {n}" for name, n in counts.items())
        )
