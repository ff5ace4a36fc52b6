"""Sweeps in the test database, worked on in this process by a toolchain that says it is a fake."""

from __future__ import annotations

import secrets

import pytest

from sweeps.actions import start_sweep
from sweeps.jobs import loops, toolchains
from sweeps.models import SourceModel, Sweep, Trial
from sweeps.models.sources import SourceFile
from sweeps.specs import SweepSpec
from sweeps.toolchain.fake import GRAPH_NAME, FakeToolchain
from tests.people import someone
from tunerweb.accounts.models import User
from tunerweb.work.artifacts import keep

SOC = "SM8650"


def fake_toolchain(monkeypatch: pytest.MonkeyPatch, toolchain: FakeToolchain | None = None) -> FakeToolchain:
    """In place of the workers' own, and registered as they do at their start."""
    made = toolchain or FakeToolchain()
    for module in (toolchains, loops.compiles):
        monkeypatch.setattr(module, "toolchain", lambda: made)
    toolchains.row_of(made.identity)
    return made


def source_of(person: User, name: str = "model.dlc") -> SourceModel:
    artifact = keep(person.team, secrets.token_bytes(16))
    source: SourceModel = SourceModel.objects.create(
        team=person.team,
        owner=person,
        name=name,
        sha256=artifact.sha256,
        format="dlc",
        size_bytes=artifact.size_bytes,
        description={"graphs": [{"name": GRAPH_NAME, "inputs": [], "outputs": []}]},
    )
    SourceFile.objects.create(source_model=source, name=name, artifact=artifact)
    return source


def launch(person: User | None = None, source: SourceModel | None = None, **fields: object) -> Sweep:
    person = person or someone()
    source = source or source_of(person)
    wanted = {"soc": SOC, "p_values": "0-2", **fields}
    return start_sweep(SweepSpec(team=person.team, owner=person, source_model=source, **wanted))


def work() -> None:
    """What one hint does."""
    loops.work_on_compiles()


def trial(sweep: Sweep, p_value: int) -> Trial:
    found: Trial = sweep.trials.with_work().exclude(kind="as_given").get(p_value=p_value)
    return found


def states(sweep: Sweep) -> list[str]:
    return [str(each.state) for each in sweep.trials.with_work()]
