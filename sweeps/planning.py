"""What a sweep would do: which points, on which target, what is there already, what is refused and why.

Reads the database and changes nothing: the launch form's preview and the launch itself ask the same question.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Avg

from devices.targets import Target, TargetError, find_target
from sweeps.configs import (
    ConfigDocument,
    ConfigUnreadable,
    Finding,
    HtpConfig,
    check_config,
    empty_document,
    read_config,
    target_number_of,
)
from sweeps.keys import compilation_key, conversion_key
from sweeps.models import Compilation, ConfigVersion, SourceModel, Toolchain, TrialKind
from sweeps.models.sources import SourceFormat
from sweeps.search_space import invalid_p_values, num_cores_of, parse_p_values, size_sweep_points
from sweeps.specs import Problem, SpecRejected, SweepSpec
from sweeps.toolchain.base import Point
from tunerweb.accounts.models import Team
from tunerweb.environment import load_environment
from tunerweb.work.leases import REUSABLE, WorkState

MOST_PARALLEL = 64
LOWEST_PRIORITY, HIGHEST_PRIORITY = -100, 100
LARGEST_DIMENSION = 2**31 - 1
NO_TOOLCHAIN = "No compile worker has reported its toolchain yet. Workers start with the server: try again in a moment."


@dataclass(frozen=True)
class PlannedPoint:
    """`reuses`: the compilation that is there already, done, running or queued."""

    kind: TrialKind
    point: Point
    key: str
    reuses: Compilation | None

    @property
    def p_value(self) -> int | None:
        return self.point.p_value


@dataclass(frozen=True)
class SweepPlan:
    """`expected_s`: how long the missing compiles take; None when nothing like it was ever measured here."""

    target: Target
    toolchain: Toolchain
    conversion_key: str | None
    points: tuple[PlannedPoint, ...]
    left_out: Mapping[int, str]
    notes: tuple[Finding, ...]
    warnings: tuple[Finding, ...]
    expected_s: float | None
    workers: int

    @property
    def compiles(self) -> int:
        """Points that nobody has compiled or is compiling."""
        return len({planned.key for planned in self.points if planned.reuses is None})


def plan_sweep(spec: SweepSpec) -> SweepPlan:
    """Raise `SpecRejected` with every problem that can be told at once."""
    _check_numbers(spec)
    toolchain = Toolchain.objects.order_by("-seen_at", "-id").first()
    if toolchain is None:
        raise SpecRejected(Problem("", NO_TOOLCHAIN))
    document = read_version(spec.config_version)
    target = _target(spec, document)
    dimensions = _dimensions(spec)
    checked = check_config(
        document, target=target, graph_names=graph_names_of(spec.source_model), rebind=is_onnx(spec.source_model)
    )
    if checked.config is None:
        raise SpecRejected(*(Problem("config_version", _sentence(found)) for found in checked.problems))
    target = _with_cores(target, checked.config)
    conversion = _conversion_key(spec.source_model, target, toolchain, dimensions)
    wanted = _p_values(spec)
    points = _planned(spec, checked.config, target, toolchain, conversion, wanted)
    plan = SweepPlan(
        target=target,
        toolchain=toolchain,
        conversion_key=conversion,
        points=points,
        left_out=invalid_p_values(wanted, num_cores_of(checked.config, target)),
        notes=checked.notes if spec.config_version else (),
        warnings=checked.warnings if spec.config_version else (),
        expected_s=None,
        workers=min(worker_count(), spec.parallel_compiles),
    )
    return _with_expectation(plan, spec)


def read_version(version: ConfigVersion | None) -> ConfigDocument:
    if version is None:
        return empty_document()
    try:
        return read_config(version.text.encode(), name=version.config.name)
    except ConfigUnreadable as error:
        raise SpecRejected(Problem("config_version", str(error))) from None


def is_onnx(source: SourceModel) -> bool:
    return source.format == SourceFormat.ONNX


def graph_names_of(source: SourceModel) -> tuple[str, ...]:
    """Of a DLC, as it was inspected. The graph of an ONNX model gets its name in the conversion: until then it has one
    that stands for it, and the config is bound again when it is known.
    """
    names = tuple(str(graph["name"]) for graph in source.description.get("graphs", ()))
    return names or ("model",)


def worker_count() -> int:
    return load_environment().workers or len(os.sched_getaffinity(0))


def _check_numbers(spec: SweepSpec) -> None:
    limits = {
        "top_k": (1, 100, "How many of the best binaries to export"),
        "parallel_compiles": (1, MOST_PARALLEL, "How many compiles run at once"),
        "timeout_s": (1, 7 * 24 * 3600, "How many seconds one compile may take"),
        "priority": (LOWEST_PRIORITY, HIGHEST_PRIORITY, "The priority"),
    }
    problems = [
        Problem(name, f"{what} cannot be {getattr(spec, name):,}: give a number from {least:,} to {most:,}.")
        for name, (least, most, what) in limits.items()
        if not least <= getattr(spec, name) <= most
    ]
    if spec.memory_bytes is not None and spec.memory_bytes < 2**20:
        problems.append(
            Problem("memory_bytes", "A compile needs more memory than that: leave the limit out or raise it.")
        )
    if problems:
        raise SpecRejected(*problems)


def _p_values(spec: SweepSpec) -> tuple[int, ...] | None:
    try:
        return parse_p_values(spec.p_values)
    except ValueError as error:
        raise SpecRejected(Problem("p_values", str(error))) from None


def _target(spec: SweepSpec, document: ConfigDocument) -> Target:
    wanted: str | int | None = spec.soc.strip() or target_number_of(document)
    if wanted is None:
        raise SpecRejected(Problem("soc", "Choose a target: the config names none."))
    try:
        return find_target(wanted)
    except TargetError as error:
        raise SpecRejected(Problem("soc", str(error))) from None


def _with_cores(target: Target, config: HtpConfig) -> Target:
    try:
        return find_target(target.soc_model, num_cores=num_cores_of(config, target))
    except TargetError as error:
        raise SpecRejected(Problem("config_version", str(error))) from None


def _dimensions(spec: SweepSpec) -> dict[str, int]:
    """Every free dimension needs a size, by its name: none is guessed."""
    free = [str(name) for name in spec.source_model.description.get("free_dimensions", ())]
    problems = [*_dimension_problems(free, spec.free_dimensions)]
    if problems:
        raise SpecRejected(*problems)
    return dict(spec.free_dimensions)


def _dimension_problems(free: list[str], given: Mapping[str, int]) -> Iterator[Problem]:
    for name in free:
        size = given.get(name)
        if size is None:
            yield Problem("free_dimensions", f"The model leaves the dimension {name!r} free: give its size.")
        elif not 1 <= size <= LARGEST_DIMENSION:
            yield Problem("free_dimensions", f"The dimension {name!r} cannot be {size}: give 1 or more.")
    for name in given:
        if name not in free:
            yield Problem("free_dimensions", f"The model has no free dimension {name!r}.")


def _conversion_key(
    source: SourceModel, target: Target, toolchain: Toolchain, dimensions: Mapping[str, int]
) -> str | None:
    if not is_onnx(source):
        return None
    return conversion_key(source.sha256, target, toolchain.converter, str(toolchain), dimensions)


def _planned(
    spec: SweepSpec,
    config: HtpConfig,
    target: Target,
    toolchain: Toolchain,
    conversion: str | None,
    wanted: tuple[int, ...] | None,
) -> tuple[PlannedPoint, ...]:
    points = size_sweep_points(config, target, graph_names_of(spec.source_model), wanted)
    keys = [
        compilation_key(spec.source_model.sha256, conversion, point.config, target, str(toolchain)) for point in points
    ]
    there = {row.key: row for row in reusable(spec.team, keys)}
    return tuple(
        PlannedPoint(_kind(point), point, key, there.get(key)) for point, key in zip(points, keys, strict=True)
    )


def reusable(team: Team, keys: list[str]) -> Any:
    return Compilation.objects.filter(team=team, key__in=keys, state__in=REUSABLE, cancel_requested_at=None)


def _kind(point: Point) -> TrialKind:
    if point.as_given:
        return TrialKind.AS_GIVEN
    return TrialKind.BASELINE if point.p_value == 0 else TrialKind.P_VALUE


def _with_expectation(plan: SweepPlan, spec: SweepSpec) -> SweepPlan:
    mean_s = mean_compile_s(spec.source_model, plan.target)
    if mean_s is None and plan.compiles:
        return plan
    rounds = -(-plan.compiles // max(1, plan.workers))
    return SweepPlan(**{**vars(plan), "expected_s": rounds * (mean_s or 0.0)})


def mean_compile_s(source: SourceModel, target: Target | None = None) -> float | None:
    """Of this model on this target, else on any."""
    done = Compilation.objects.filter(source_model=source, state=WorkState.DONE)
    on_target = done.filter(soc_model=target.soc_model) if target else done
    for rows in (on_target, done):
        mean_us = rows.aggregate(mean=Avg("wall_us"))["mean"]
        if mean_us is not None:
            return float(mean_us) / 1e6
    return None


def _sentence(finding: Finding) -> str:
    return f"{finding.path}: {finding.sentence}" if finding.path else finding.sentence
