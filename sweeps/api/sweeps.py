"""Sweeps: launch one, follow it, ask something of it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

from django.http import Http404
from ninja import Field, Query, Router, Status

from sweeps import actions
from sweeps.api.refusals import CONFLICTS, INVALID, REFUSED, Conflict
from sweeps.api.sweep_values import SweepDetail, SweepOut, SweepResults, detail_of, results_of, sweeps_out
from sweeps.api.values import Asked, Name, Page, Slice, Text, TokenRequest, found, mine, page_of, team_of
from sweeps.models import CompileConfig, ConfigVersion, SourceModel, Sweep
from sweeps.planning import worker_count
from sweeps.specs import Problem, SpecRejected, SweepSpec

router = Router(tags=["sweeps"])
MODEL_GONE = "There is no model of this id."
CONFIG_GONE = "There is no config of this id, or no such version of it."
NOTHING_TO_RETRY = "No trial of this sweep failed or was cancelled, so there is nothing to retry."
IS_OVER = "This sweep is finished already."


class NewSweep(Asked):
    """`config_version`: the latest when it is left out. `target`: a SoC's name or number; empty, and the config's is
    taken. `submission`: a text of yours; sent again with the same one, it is the same sweep.
    """

    model: Text = Field(max_length=20)
    config: Text | None = Field(None, max_length=20)
    config_version: int | None = Field(None, ge=1, le=2**31 - 1)
    target: Text = Field("", max_length=60)
    p_values: Text = Field("all", max_length=200)
    free_dimensions: dict[Text, int] = Field(default_factory=dict)
    name: Name = ""
    top_k: int = 1
    parallel_compiles: int | None = None
    timeout_s: int = 3600
    memory_bytes: int | None = Field(None, le=2**60)
    priority: int = 0
    submission: Text | None = Field(None, min_length=1, max_length=200)


class SweepFilter(Slice):
    model: Text | None = None
    finished: bool | None = None


@router.post("/sweeps", response={201: SweepDetail, **INVALID}, summary="Launch a sweep")
def sweep_launch(request: TokenRequest, asked: NewSweep) -> Any:
    sweep = actions.start_sweep(_spec(request, asked))
    return Status(201, detail_of(_sweep(request, sweep.public_id)))


@router.get("/sweeps", response={200: Page[SweepOut], **INVALID}, summary="All sweeps")
def sweep_list(request: TokenRequest, asked: Query[SweepFilter]) -> Any:
    rows = mine(request, _sweeps()).order_by("-created_at", "-pk")
    if asked.model is not None:
        rows = rows.filter(source_model__public_id=asked.model)
    if asked.finished is not None:
        rows = rows.filter(finished_at__isnull=not asked.finished)
    return page_of(rows, asked, sweeps_out)


@router.get("/sweeps/{sweep_id}", response={200: SweepDetail, **REFUSED}, summary="One sweep and its trials")
def sweep_read(request: TokenRequest, sweep_id: str) -> Any:
    return detail_of(_sweep(request, sweep_id))


@router.get("/sweeps/{sweep_id}/results", response={200: SweepResults, **CONFLICTS}, summary="What came out")
def sweep_results(request: TokenRequest, sweep_id: str) -> Any:
    return results_of(_sweep(request, sweep_id))


@router.post("/sweeps/{sweep_id}/cancel", response={200: SweepDetail, **CONFLICTS}, summary="Cancel")
def sweep_cancel(request: TokenRequest, sweep_id: str) -> Any:
    return _changed(request, sweep_id, actions.cancel_sweep)


@router.post("/sweeps/{sweep_id}/pause", response={200: SweepDetail, **CONFLICTS}, summary="Pause")
def sweep_pause(request: TokenRequest, sweep_id: str) -> Any:
    """What runs goes on; nothing new of it starts."""
    return _changed(request, sweep_id, actions.pause_sweep)


@router.post("/sweeps/{sweep_id}/resume", response={200: SweepDetail, **CONFLICTS}, summary="Resume")
def sweep_resume(request: TokenRequest, sweep_id: str) -> Any:
    return _changed(request, sweep_id, actions.resume_sweep)


@router.post("/sweeps/{sweep_id}/retry", response={200: SweepDetail, **CONFLICTS}, summary="Retry what failed")
def sweep_retry(request: TokenRequest, sweep_id: str) -> Any:
    """New work for the trials that failed or were cancelled; refusals are answers and stay."""
    sweep = _sweep(request, sweep_id)
    if not actions.retry_failed(sweep):
        raise Conflict(NOTHING_TO_RETRY)
    return detail_of(_sweep(request, sweep_id))


def _changed(request: TokenRequest, sweep_id: str, act: Callable[[Sweep], object]) -> SweepDetail:
    """Asked twice, the second time changes nothing."""
    sweep = _sweep(request, sweep_id)
    if sweep.finished_at and not sweep.cancelled_at:
        raise Conflict(IS_OVER)
    act(sweep)
    return detail_of(_sweep(request, sweep_id))


def _sweeps() -> Any:
    return Sweep.objects.select_related("source_model", "config_version__config", "toolchain", "owner")


def _sweep(request: TokenRequest, public_id: str) -> Sweep:
    row: Sweep = found(request, _sweeps(), public_id)
    return row


def _spec(request: TokenRequest, asked: NewSweep) -> SweepSpec:
    same = ("p_values", "free_dimensions", "name", "top_k", "timeout_s", "memory_bytes", "priority")
    return SweepSpec(
        team=team_of(request),
        owner=request.user,
        source_model=_chosen(lambda: found(request, SourceModel.objects.all(), asked.model), "model", MODEL_GONE),
        config_version=_chosen(lambda: _version(request, asked), "config", CONFIG_GONE),
        soc=asked.target,
        parallel_compiles=worker_count() if asked.parallel_compiles is None else asked.parallel_compiles,
        submission=_submission(request, asked.submission),
        **{name: getattr(asked, name) for name in same},
    )


def _chosen(find: Callable[[], Any], field: str, sentence: str) -> Any:
    """What is missing is a problem of that field: the address of this request is right."""
    try:
        return find()
    except Http404:
        raise SpecRejected(Problem(field, sentence)) from None


def _version(request: TokenRequest, asked: NewSweep) -> ConfigVersion | None:
    if asked.config is None:
        return None
    versions = found(request, CompileConfig.objects.all(), asked.config).versions.select_related("config")
    wanted = versions if asked.config_version is None else versions.filter(number=asked.config_version)
    version: ConfigVersion | None = wanted.order_by("-number").first()
    if version is None:
        raise Http404
    return version


def _submission(request: TokenRequest, text: str | None) -> str | None:
    """Nobody else's: two programs may choose the same text."""
    if text is None:
        return None
    return hashlib.sha256(f"api:{request.auth.team_id}:{request.auth.user_id}:{text}".encode()).hexdigest()[:40]
