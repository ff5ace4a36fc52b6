"""Somebody new for each sweep: teams share nothing, so that nothing comes from the store."""

from __future__ import annotations

import itertools
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sweeps.models import SourceModel, Sweep
    from tunerweb.accounts.models import User

numbers = itertools.count(1)
STEP_S = 0.005


def newcomer() -> User:
    from tunerweb.accounts.models import Membership, Team, User

    name = f"bench-{time.monotonic_ns()}-{next(numbers)}"
    user = User.objects.create_user(name)
    Membership.objects.create(user=user, team=Team.objects.create(name=name))
    return user


def source_of(user: User, model: Path, graph_names: tuple[str, ...]) -> SourceModel:
    from sweeps.models import SourceFile, SourceModel
    from tunerweb.work.artifacts import keep

    artifact = keep(user.team, model)
    source: SourceModel = SourceModel.objects.create(
        team=user.team,
        owner=user,
        name=model.name,
        sha256=artifact.sha256,
        format="dlc",
        size_bytes=artifact.size_bytes,
        description={"graphs": [{"name": name, "inputs": [], "outputs": []} for name in graph_names]},
    )
    SourceFile.objects.create(source_model=source, name=model.name, artifact=artifact)
    return source


def launch(user: User, source: SourceModel, soc: str, workers: int, p_values: str = "all") -> Sweep:
    from sweeps.actions import start_sweep
    from sweeps.specs import SweepSpec

    spec = SweepSpec(
        team=user.team, owner=user, source_model=source, soc=soc, p_values=p_values, parallel_compiles=workers
    )
    return start_sweep(spec)


def wait_until_finished(sweep: Sweep) -> None:
    while sweep.finished_at is None:
        time.sleep(STEP_S)
        sweep.refresh_from_db(fields=["finished_at"])


def graph_names_of(model: Path, soc: str) -> tuple[str, ...]:
    from devices.targets import find_target
    from sweeps.toolchain.qnn.compiler import BundledToolchain

    with BundledToolchain().open(model, find_target(soc)) as session:
        return session.graph_names
