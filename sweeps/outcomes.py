"""Trials as the pure code knows them: a point with its result, or with the reason why there is none."""

from __future__ import annotations

import json
from typing import Any

from sweeps.configs import HtpConfig
from sweeps.models import Compilation, Sweep, Trial, TrialKind, TrialState, Verdict, Verification
from sweeps.ranking import TrialOutcome
from sweeps.toolchain.base import CompileResult, Point
from sweeps.toolchain.errors import Diagnosis, FailureKind, ToolchainError
from tunerweb.work.artifacts import server_store
from tunerweb.work.leases import CANCELLED

NOT_YET = "It has not been compiled yet."


def outcomes_of(sweep: Sweep) -> tuple[TrialOutcome, ...]:
    return tuple(outcome_of(trial) for trial in sweep.trials.with_work())


def outcome_of(trial: Trial) -> TrialOutcome:
    compilation = trial.compilation
    point = Point(
        config=HtpConfig.from_json(_config(compilation)),
        p_value=trial.p_value,
        as_given=trial.kind == TrialKind.AS_GIVEN,
    )
    if trial.state == TrialState.DONE:
        return TrialOutcome(point=point, result=result_of(compilation), outputs_problem=_outputs_problem(trial))
    return TrialOutcome(point=point, error=_reason(trial), failure=_failure(compilation))


def _outputs_problem(trial: Trial) -> str:
    verification: Verification | None = getattr(trial, "verification", None)
    return verification.reason if verification and verification.verdict == Verdict.DIFFERENT else ""


def result_of(compilation: Compilation) -> CompileResult:
    """The binary is the store's file; the log is not read. Raises ValueError for what is not done."""
    if compilation.result is None or compilation.binary is None:
        raise ValueError(f"{compilation} has no result.")
    stored: dict[str, Any] = compilation.result["compile"]
    binary = str(server_store().path(compilation.binary.sha256))
    return CompileResult.model_validate_json(json.dumps({**stored, "binary": binary, "log": ""}))


def _config(compilation: Compilation) -> dict[str, Any]:
    """As it was compiled, which names the graphs of a converted model; before that, as it was planned."""
    config: dict[str, Any] = (compilation.result or {}).get("config") or compilation.config
    return config


def _reason(trial: Trial) -> str:
    if trial.state == TrialState.CANCELLED:
        return CANCELLED
    return trial.compilation.reason or NOT_YET


def _failure(compilation: Compilation) -> ToolchainError | None:
    error = compilation.error
    if not error:
        return None
    known = Diagnosis(log_tail=tuple(error["log_tail"]), native_errors=tuple(error["native_errors"]))
    return ToolchainError(error["sentence"], known, FailureKind(error["kind"]))
