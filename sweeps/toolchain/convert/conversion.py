"""ONNX to DLC for one target, through the QNN execution provider's dump in a supervised child."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from devices.targets import Target
from sweeps.toolchain.base import Cancelled
from sweeps.toolchain.convert.archives import quoted
from sweeps.toolchain.convert.content import SourceKind
from sweeps.toolchain.convert.session_errors import session_error
from sweeps.toolchain.convert.sources import (
    CHILD,
    MODEL_FILE,
    SOURCE_FOLDER,
    SourceDescription,
    SourceRejected,
    describe_source,
    size_problem,
)
from sweeps.toolchain.endings import broken_end, diagnosis, no_space, telling_a_full_disk
from sweeps.toolchain.errors import ModelRejected
from sweeps.toolchain.log_reasons import explain
from tunerweb.work.child import ChildOutcome, Ending, Limits, run_child

Json = dict[str, Any]
SPARE_BYTES = 2**20
LARGEST_DIMENSION = 2**31 - 1


class FreeDimensionsMissing(ModelRejected):
    """The model has free dimensions that nobody gave a number for, was given unknown ones, or impossible numbers."""


@dataclass(frozen=True)
class UnsupportedNode:
    """`label` begins a sentence: `Node "conv_1"`."""

    label: str
    op_type: str
    reason: str


@dataclass(eq=False)
class NodesUnsupported(ModelRejected):
    """`nodes` are all that the target does not take; the message names them too."""

    nodes: tuple[UnsupportedNode, ...] = ()


@dataclass(frozen=True)
class Conversion:
    """`model_name` is the model's own; the graph in the DLC has a name that is the same for every model.

    `identity` names the converter's build. The DLC carries a timestamp: its hash is not the same twice.
    """

    dlc: Path
    model_name: str
    identity: str
    notes: tuple[str, ...]


def convert_onnx(
    model: Path,
    target: Target,
    *,
    free_dimensions: Mapping[str, int] | None = None,
    work: Path,
    limits: Limits | None = None,
    cancelled: Cancelled | None = None,
) -> Conversion:
    """Convert `model`, whose data files lie beside it as `prepare_source` leaves them, into a DLC in `work`.

    Raise `FreeDimensionsMissing`, `ModelRejected` with every node that the target does not take, `LimitReached`,
    `ToolFailed` or `Cancelled`.
    """
    sizes = dict(free_dimensions or {})
    described = _described(model, cancelled)
    _check_dimensions(described, sizes)
    if problem := size_problem((*described.inputs, *described.outputs), sizes):
        raise ModelRejected(problem)
    _check_precision(described, target)
    with telling_a_full_disk("conversion"), _private_folder(work) as scratch:
        _copy_source(model, described, scratch / SOURCE_FOLDER)
        answer = _convert(scratch, target, sizes, limits or Limits(), cancelled)
        dlc = scratch.with_suffix(".dlc")
        os.rename(scratch / answer["dlc"], dlc)
    return Conversion(dlc, described.model_name or "", answer["identity"], _notes(described, sizes))


def _described(model: Path, cancelled: Cancelled | None) -> SourceDescription:
    described = describe_source(model, cancelled=cancelled)
    if described.problem:
        raise SourceRejected(described.problem)
    if described.kind is not SourceKind.ONNX:
        kind = f"{quoted(model.name)} is a {described.kind}, not an ONNX model"
        raise SourceRejected(f"{kind}; there is nothing to convert.")
    return described


@contextlib.contextmanager
def _private_folder(work: Path) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="conversion-", dir=work))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _check_dimensions(described: SourceDescription, sizes: dict[str, int]) -> None:
    if unknown := [name for name in sizes if name not in described.free_dimensions]:
        names = ", ".join(described.free_dimensions)
        has = f"its free dimensions are {names}" if names else "it has none"
        raise FreeDimensionsMissing(f"The model has no free dimension {quoted(unknown[0])}; {has}.")
    for name, size in sizes.items():
        if not _is_size(size):
            raise FreeDimensionsMissing(
                f"The free dimension {name} cannot be {size!r}; give a whole number of 1 or more, as in --dim {name}=1."
            )
    if missing := [name for name in described.free_dimensions if name not in sizes]:
        raise FreeDimensionsMissing(" ".join(_missing_sentence(described, name) for name in missing))


def _is_size(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value <= LARGEST_DIMENSION


def _missing_sentence(described: SourceDescription, name: str) -> str:
    tensor = next(tensor.name for tensor in described.inputs if name in (tensor.dims or ()))
    return f"Input {quoted(tensor)} has the free dimension {name}: give it as --dim {_for_shell(name)}=<number>."


def _for_shell(name: str) -> str:
    return name if name.replace("_", "").replace(".", "").isalnum() else f"'{name}'"


def _check_precision(described: SourceDescription, target: Target) -> None:
    if described.precision == "float" and not target.soc.float16:
        raise ModelRejected(
            f"This is a float model and {target.name} computes in integers only; quantize it first, "
            "or choose a target with float16."
        )


def _copy_source(model: Path, described: SourceDescription, folder: Path) -> None:
    folder.mkdir()
    shutil.copyfile(model, folder / MODEL_FILE)
    for item in described.data_files:
        copy = folder / item.location
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(model.parent / item.location, copy)


def _convert(scratch: Path, target: Target, sizes: dict[str, int], limits: Limits, cancelled: Cancelled | None) -> Json:
    job = {"soc_model": target.soc_model, "free_dimensions": sizes}
    outcome = run_child(CHILD + "convert", job, scratch=scratch, limits=limits, cancelled=cancelled, site_packages=True)
    answer: Json = outcome.value or {}
    refused: Json | None = answer.get("refused")
    if (outcome.ending is Ending.FAILED or (refused and not refused["nodes"])) and _is_full(scratch):
        raise no_space("conversion", diagnosis(outcome))
    if outcome.ending is not Ending.DONE:
        raise broken_end(outcome, limits, "conversion")
    if refused:
        raise _refusal(refused, outcome, target)
    if not answer["dlc"]:
        raise ModelRejected(
            "Nothing is left of the model to compile: its outputs are constants, or its own inputs.", diagnosis(outcome)
        )
    return answer


def _is_full(scratch: Path) -> bool:
    """Native code does not say that it could not write, and a full disk must not count against the model."""
    written = sum(file.stat().st_size for file in (scratch / SOURCE_FOLDER).rglob("*") if file.is_file())
    return shutil.disk_usage(scratch).free < 2 * written + SPARE_BYTES


def _refusal(refused: Json, outcome: ChildOutcome, target: Target) -> ModelRejected:
    nodes = tuple(UnsupportedNode(node["label"], node["op_type"], node["reason"]) for node in refused["nodes"])
    if nodes:
        return NodesUnsupported(_nodes_sentence(nodes, target), diagnosis(outcome), nodes=nodes)
    causes = [reason.sentence for reason in explain(outcome.log) if not reason.consequence]
    reason = causes[0] if causes else session_error(refused["message"])
    return ModelRejected(f"The model cannot be converted for {target.name}. {reason}", diagnosis(outcome))


def _nodes_sentence(nodes: tuple[UnsupportedNode, ...], target: Target) -> str:
    """Each reason once, after all the nodes that have it."""
    by_reason: dict[str, list[str]] = {}
    for node in nodes:
        by_reason.setdefault(node.reason, []).append(f"{node.label} ({node.op_type})")
    told = " ".join(f"{', '.join(labels)}: {reason}." for reason, labels in by_reason.items())
    count = "One node" if len(nodes) == 1 else f"{len(nodes)} nodes"
    return f"{count} of the model cannot run on {target.name}. {told}"


def _notes(described: SourceDescription, sizes: dict[str, int]) -> tuple[str, ...]:
    notes = [note for note in described.notes if not note.startswith("A float model")]
    if described.precision == "float":
        notes.append("float model: compiled as float16.")
    notes += [f"free dimension {name} = {size}" for name, size in sizes.items()]
    return tuple(notes)
