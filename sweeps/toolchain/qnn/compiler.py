"""The bundled toolchain: the QNN libraries of the installed `onnxruntime-qnn` wheel, each compile in its own child."""

from __future__ import annotations

import contextlib
import importlib.metadata
import importlib.util
import itertools
import os
import shutil
import threading
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from devices.targets import Target
from sweeps.toolchain.base import Cancelled, CompileResult, PhaseHeard, Point, ToolchainIdentity
from sweeps.toolchain.endings import telling_a_full_disk
from sweeps.toolchain.errors import ConfigRejected, ToolFailed
from sweeps.toolchain.qnn import options, refusals, results
from sweeps.toolchain.qnn.child import BINARY_FILE, DLC_FILE
from sweeps.toolchain.qnn.probe import ScheduleProbe
from tunerweb.work.child import ChildOutcome, Ending, Limits, run_child
from tunerweb.work.scratch import scratch_root

Json = dict[str, Any]
CHILD = "sweeps.toolchain.qnn.child:"
COMPILE = CHILD + "compile_graphs"


class BundledToolchain:
    """`libraries` is the folder of libQnnHtp.so; by default that of the installed wheel."""

    def __init__(self, libraries: Path | None = None, package_version: str | None = None) -> None:
        self.libraries = libraries or installed_libraries()
        self.package_version = package_version or importlib.metadata.version("onnxruntime-qnn")

    @cached_property
    def identity(self) -> ToolchainIdentity:
        """Raise `ToolFailed` when the libraries cannot be used."""
        with scratch_root() as scratch:
            return self.identity_of(self.ask("identify", {}, scratch))

    def identity_of(self, answer: Json) -> ToolchainIdentity:
        return ToolchainIdentity(name="bundled", package_version=self.package_version, build_id=answer["build_id"])

    def open(
        self,
        model: Path,
        target: Target,
        *,
        graph_names: tuple[str, ...] | None = None,
        limits: Limits | None = None,
        cancelled: Cancelled | None = None,
    ) -> BundledSession:
        return BundledSession(self, model, target, graph_names, limits, cancelled)

    def read_context(self, binary: Path) -> Json:
        """Raise `ModelRejected` when the file is not a context binary."""
        with scratch_root() as scratch:
            (scratch / BINARY_FILE).symlink_to(binary.resolve())
            context: Json = self.ask("read_context", {}, scratch)["context"]
        return context

    def ask(
        self,
        entry: str,
        job: Json,
        scratch: Path,
        target: Target | None = None,
        limits: Limits | None = None,
        cancelled: Cancelled | None = None,
    ) -> Json:
        """One job in a child; raise the error that explains anything but an answer."""
        limits = limits or Limits()
        job = {"libraries": str(self.libraries), **job}
        outcome = run_child(CHILD + entry, job, scratch=scratch, limits=limits, cancelled=cancelled)
        return answer_of(outcome, limits, target)


def installed_libraries() -> Path:
    """The folder of the wheel's libraries. The package is found, not imported: importing it loads native code."""
    spec = importlib.util.find_spec("onnxruntime_qnn")
    for location in (spec and spec.submodule_search_locations) or []:
        if (Path(location) / "libQnnHtp.so").is_file():
            return Path(location)
    raise ToolFailed("The package onnxruntime-qnn is not installed, or without its Linux libraries. Run `make setup`.")


def answer_of(outcome: ChildOutcome, limits: Limits, target: Target | None) -> Json:
    if outcome.ending is not Ending.DONE:
        raise refusals.broken_end(outcome, limits)
    answer: Json = outcome.value
    if "unusable" in answer:
        raise ToolFailed(answer["unusable"], refusals.diagnosis(outcome))
    if "failed" in answer:
        raise refusals.refusal(answer["failed"], outcome, target)
    return answer


class BundledSession:
    """One DLC on one target. Compiles may run at the same time from several threads."""

    def __init__(
        self,
        toolchain: BundledToolchain,
        model: Path,
        target: Target,
        graph_names: tuple[str, ...] | None = None,
        limits: Limits | None = None,
        cancelled: Cancelled | None = None,
    ) -> None:
        self.toolchain = toolchain
        self.target = target
        self._graph_names = graph_names
        self._model = model
        self._reading = (limits, cancelled)
        self._numbers = itertools.count()
        self._lock = threading.Lock()
        self._schedule: bool | None = None
        self._closing = contextlib.ExitStack()

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as stack:
            self.folder = stack.enter_context(scratch_root())
            self._dlc = self.folder / DLC_FILE
            with telling_a_full_disk("reading of the model"):
                shutil.copyfile(self._model, self._dlc)
            self.identity = self._identity()
            self._closing = stack.pop_all()
        return self

    def __exit__(self, *exc: object) -> None:
        self._closing.close()

    def _identity(self) -> ToolchainIdentity:
        """Told by the child that reads the model anyway, when it has to be read."""
        if self._graph_names is None:
            return self.toolchain.identity_of(self._source)
        return self.toolchain.identity

    @property
    def graphs(self) -> list[Json]:
        """Graphs and tensors of the model, in the shape of `qnn-context-binary-utility`, without sizes."""
        return list(self._source["graphs"])

    @property
    def graph_names(self) -> tuple[str, ...]:
        return self._graph_names or tuple(graph["info"]["graphName"] for graph in self.graphs)

    @cached_property
    def _source(self) -> Json:
        scratch = self._scratch()
        try:
            return self.toolchain.ask("read_source", self._job(), scratch, self.target, *self._reading)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)

    def _job(self) -> Json:
        return {"soc_model": self.target.soc.soc_model, "context_options": [], "graph_options": {}, "schedule": False}

    def _scratch(self) -> Path:
        """A fresh folder with the DLC under its fixed name."""
        with self._lock:
            scratch = self.folder / f"job-{next(self._numbers)}"
        scratch.mkdir()
        os.link(self._dlc, scratch / DLC_FILE)
        return scratch

    def compile(
        self,
        point: Point,
        *,
        limits: Limits | None = None,
        cancelled: Cancelled | None = None,
        hear_phase: PhaseHeard | None = None,
    ) -> CompileResult:
        limits = limits or Limits()
        try:
            return self._compile(point, limits, cancelled, hear_phase)
        except ConfigRejected as error:
            if not (self._schedule and refusals.lacks_cost_model(error)):
                raise
            self._schedule = False
            return self._compile(point, limits, cancelled, hear_phase)

    def job(self, point: Point) -> Json:
        """What the compile child is told, beside the DLC in its working directory."""
        return self._job() | {
            "libraries": str(self.toolchain.libraries),
            "context_options": options.context_options(point.config),
            "graph_options": options.graph_options(point.config, self.graph_names),
            "schedule": self._asks_for_schedule(),
        }

    def _asks_for_schedule(self) -> bool:
        with self._lock:
            if self._schedule is None:
                self._schedule = ScheduleProbe(self.toolchain, self.identity).works_on(self.target)
            return self._schedule

    def _compile(
        self, point: Point, limits: Limits, cancelled: Cancelled | None, hear_phase: PhaseHeard | None
    ) -> CompileResult:
        scratch = self._scratch()
        try:
            with telling_a_full_disk("compile"):
                job = self.job(point)
                outcome = run_child(
                    COMPILE, job, scratch=scratch, limits=limits, cancelled=cancelled, hear_phase=hear_phase
                )
            answer = answer_of(outcome, limits, self.target)
            binary = self.folder / f"{scratch.name}.bin"
            os.rename(scratch / BINARY_FILE, binary)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
        return results.compile_result(answer, outcome, binary, self.identity)
