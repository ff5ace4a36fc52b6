"""A sweep that verifies outputs and measures on devices, with the real compiler and the real runners."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from devices.models import Device, Hold, Platform, TransportKind
from devices.runners.base import RunKilled
from devices.runners.simulated import SimulatedRunner
from devices.targets import find_target
from devices.transports.errors import CommandStuck
from sweeps import actions, claiming, lifecycle, measured, rescuing, steering
from sweeps.jobs import blocks, toolchains
from sweeps.jobs import devices as jobs
from sweeps.models import DeviceSession, SourceModel, Sweep, Verdict, Verification
from sweeps.models.sources import SourceFile
from sweeps.ranking import Metric
from sweeps.rows.judging import judgement_of
from sweeps.specs import Measurements
from tests.devices.registered import registered
from tests.people import someone
from tests.sweeps.launching import fake_toolchain, launch, work
from tunerweb.accounts.models import User
from tunerweb.work.artifacts import keep
from tunerweb.work.keeper import Keeper
from tunerweb.work.leases import WorkState

pytestmark = pytest.mark.django_db(transaction=True)
SMALL = Path(__file__).parents[1] / "data" / "small.dlc"
HOST: dict[str, Any] = {"platform": Platform.HOST, "transport": TransportKind.LOCAL}


def small(person: User) -> SourceModel:
    artifact = keep(person.team, SMALL)
    source: SourceModel = SourceModel.objects.create(
        team=person.team, owner=person, name="small.dlc", sha256=artifact.sha256, format="dlc", size_bytes=1
    )
    SourceFile.objects.create(source_model=source, name="small.dlc", artifact=artifact)
    with toolchains.toolchain().open(SMALL, find_target("SM8650")) as session:
        source.description = {"graphs": [{"name": name, "inputs": [], "outputs": []} for name in session.graph_names]}
    source.save()
    toolchains.register_toolchain()
    return source


def ready(person: User, name: str, **fields: Any) -> Device:
    return registered(person, name, is_healthy=True, **fields)


def measured_sweep(*devices: Device, verifies: bool = False, **asked: Any) -> Sweep:
    person = devices[0].owner if devices else someone()
    asked = {"devices": devices, "verifies_outputs": verifies, **asked}
    return launch(person, small(person), p_values="0,1", measurements=Measurements(**asked))


def work_on(device: Device) -> DeviceSession:
    """What the device's worker does with one session."""
    claimed = claiming.claim_session(device, "device@here")
    assert claimed
    with Keeper() as keeper:
        jobs.do_session(*claimed, keeper)
    return DeviceSession.objects.get(pk=claimed[0].pk)


def test_outputs_of_every_candidate_are_compared_with_those_of_the_baseline() -> None:
    sweep = measured_sweep(verifies=True)
    work()
    verdicts = {row.trial.label: row.verdict for row in Verification.objects.select_related("trial__sweep")}
    assert verdicts == {"as given": Verdict.IDENTICAL, "P=0": Verdict.REFERENCE, "P=1": Verdict.IDENTICAL}
    sweep.refresh_from_db()
    assert sweep.finished_at


def test_a_sweep_with_verifications_left_is_not_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claiming, "claim_verification", lambda worker: None)
    sweep = measured_sweep(verifies=True)
    work()
    sweep.refresh_from_db()
    assert sweep.finished_at is None


def test_a_simulated_device_gives_a_ranking_that_says_so() -> None:
    device = ready(someone(), "bench")
    sweep = measured_sweep(device, rounds=6, runs=20)
    work()
    row = work_on(device)
    assert (row.state, row.runtime["timing"]) == (WorkState.DONE, "simulated")
    ranking = measured.measured_of(row).ranking
    assert ranking
    assert ranking.rounds == 6
    assert {each.name for each in ranking.candidates} == {"as given", "P=0", "P=1"}
    sweep.refresh_from_db()
    assert sweep.finished_at


def test_this_host_compares_outputs_and_gives_no_ranking_since_it_emulates() -> None:
    device = ready(someone(), "host", **HOST)
    measured_sweep(device)
    work()
    row = work_on(device)
    assert row.state == WorkState.DONE
    assert measured.measured_of(row).why_not.startswith("Not rankable: emulated")
    assert {each.verdict for each in row.outputs.all()} == {Verdict.REFERENCE, Verdict.IDENTICAL}


def test_the_device_is_free_after_a_session() -> None:
    device = ready(someone(), "bench")
    measured_sweep(device, rounds=1, runs=1)
    work()
    work_on(device)
    assert not Hold.objects.exists()


def test_a_session_goes_on_from_the_blocks_that_are_there() -> None:
    device = ready(someone(), "bench")
    sweep = measured_sweep(device, rounds=2, runs=5)
    work()
    row = work_on(device)
    there = set(row.blocks.filter(round=0).values_list("pk", flat=True))
    row.blocks.exclude(round=0).delete()
    DeviceSession.objects.filter(pk=row.pk).update(state=WorkState.QUEUED)
    work_on(device)
    assert there < set(row.blocks.values_list("pk", flat=True))
    assert row.blocks.count() == 2 * (sweep.trials.count() + 1)


def test_nothing_is_measured_before_all_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_toolchain(monkeypatch)
    device = ready(someone(), "bench")
    launch(device.owner, measurements=Measurements(devices=(device,)))
    assert claiming.claim_session(device, "device@here") is None


def test_a_device_that_failed_its_check_is_not_measured_on(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_toolchain(monkeypatch)
    device = ready(someone(), "bench")
    launch(device.owner, measurements=Measurements(devices=(device,)))
    work()
    Device.objects.update(is_healthy=False)
    assert claiming.claim_session(device, "device@here") is None


def test_a_device_that_goes_away_leaves_the_session_waiting_for_it() -> None:
    board: dict[str, Any] = {"platform": Platform.LINUX, "transport": TransportKind.SSH}
    device = ready(someone(), "board", identifier="me@127.0.0.1:9", **board)
    measured_sweep(device)
    work()
    row = work_on(device)
    device.refresh_from_db()
    assert (row.state, device.reach, device.is_healthy) == (WorkState.QUEUED, "offline", False)
    assert row.reason.startswith("board went away: ")
    assert not Hold.objects.exists()


def test_a_sweep_ends_without_a_device_that_is_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_toolchain(monkeypatch)
    device = ready(someone(), "bench")
    sweep = launch(device.owner, measurements=Measurements(devices=(device,)))
    work()
    steering.cancel_session(sweep.sessions.get())
    sweep.refresh_from_db()
    assert sweep.finished_at


def test_cancelling_a_sweep_ends_what_was_to_be_run(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_toolchain(monkeypatch)
    device = ready(someone(), "bench")
    sweep = launch(device.owner, measurements=Measurements(devices=(device,), verifies_outputs=True))
    steering.cancel_sweep(sweep)
    states = {*Verification.objects.values_list("state", flat=True), sweep.sessions.get().state}
    assert states == {WorkState.CANCELLED}


def test_what_was_cancelled_is_measured_after_a_retry() -> None:
    device = ready(someone(), "bench")
    sweep = measured_sweep(device, rounds=1, runs=1)
    work()
    steering.cancel_session(sweep.sessions.get())
    assert actions.retry_failed(sweep) == 1
    assert work_on(device).state == WorkState.DONE


def test_a_session_of_a_deleted_device_ends_with_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_toolchain(monkeypatch)
    device = ready(someone(), "bench")
    sweep = launch(device.owner, measurements=Measurements(devices=(device,)))
    work()
    device.delete()
    rescuing.reconcile()
    assert sweep.sessions.get().reason == rescuing.DEVICE_GONE


def test_the_clone_of_a_sweep_measures_on_the_same_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_toolchain(monkeypatch)
    device = ready(someone(), "bench")
    asked = Measurements(devices=(device,), verifies_outputs=True, rounds=7, runs=3, perf_profile="balanced")
    assert actions.spec_of(launch(device.owner, measurements=asked)).measurements == asked


def test_a_binary_that_computes_something_else_leaves_every_ranking() -> None:
    sweep = measured_sweep(verifies=True)
    work()
    Verification.objects.filter(trial__p_value=1).update(verdict=Verdict.DIFFERENT, reason="The output y differs.")
    [judged] = [trial.metrics[Metric.ROM] for trial in judgement_of(sweep).trials if trial.p_value == 1]
    assert judged.rank is None
    assert judged.reason == "its outputs differ from the baseline's: The output y differs."


def test_a_binary_that_computes_something_else_is_not_measured() -> None:
    device = ready(someone(), "bench")
    sweep = measured_sweep(device, verifies=True, rounds=1, runs=1)
    work()
    Verification.objects.filter(trial__p_value=1).update(verdict=Verdict.DIFFERENT)
    row = work_on(device)
    assert {block.trial.label for block in row.blocks.select_related("trial")} == {"P=0", "as given"}
    assert sweep.trials.count() == 3


def test_an_emulator_runs_each_binary_once_and_no_twin() -> None:
    device = ready(someone(), "host", **HOST)
    sweep = measured_sweep(device)
    work()
    assert work_on(device).blocks.count() == sweep.trials.count()


def test_only_the_outputs_that_others_are_compared_with_are_kept() -> None:
    measured_sweep(verifies=True)
    work()
    kept = Verification.objects.filter(outputs__isnull=False)
    assert [row.verdict for row in kept] == [Verdict.REFERENCE]


def test_what_was_killed_from_outside_is_run_again(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = killed(monkeypatch, times=2)
    device = ready(someone(), "bench")
    measured_sweep(device, rounds=1, runs=1)
    work()
    row = work_on(device)
    assert (row.refused, row.blocks.count(), runs["count"]) == ({}, 4, 6)


def test_what_is_killed_each_time_leaves_the_others_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    killed(monkeypatch, times=blocks.MOST_KILLS)
    device = ready(someone(), "bench")
    measured_sweep(device, rounds=1, runs=1)
    work()
    row = work_on(device)
    assert (row.state, len(row.refused)) == (WorkState.DONE, 1)


def killed(monkeypatch: pytest.MonkeyPatch, times: int) -> dict[str, int]:
    """The first runs end as if somebody had killed them."""
    runs, real = {"count": 0}, SimulatedRunner.run

    def run(runner: SimulatedRunner, *args: Any) -> Any:
        runs["count"] += 1
        if runs["count"] <= times:
            raise RunKilled("The run was killed.")
        return real(runner, *args)

    monkeypatch.setattr(SimulatedRunner, "run", run)
    return runs


def test_outputs_are_compared_again_when_the_worker_died_before_its_block_was_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def lost(*args: object) -> None:
        raise lifecycle.LeaseLost("the worker died here")

    device = ready(someone(), "host", **HOST)
    measured_sweep(device)
    work()
    with monkeypatch.context() as dying:
        dying.setattr(lifecycle, "keep_block", lost)
        row = work_on(device)
    assert row.outputs.count() == 1
    DeviceSession.objects.update(state=WorkState.QUEUED)
    Hold.objects.all().delete()
    assert work_on(device).outputs.exclude(verdict="").count() == 3


def test_a_device_that_cannot_kill_its_process_is_set_aside(monkeypatch: pytest.MonkeyPatch) -> None:
    def stuck(*args: object) -> None:
        raise CommandStuck("The process cannot be ended.")

    monkeypatch.setattr(SimulatedRunner, "run", stuck)
    device = ready(someone(), "bench")
    measured_sweep(device, rounds=1)
    work()
    row = work_on(device)
    device.refresh_from_db()
    assert (row.state, bool(device.quarantined_at)) == (WorkState.QUEUED, True)
    assert row.reason.startswith("bench is set aside: ")


def test_a_paused_sweep_leaves_its_device_to_others() -> None:
    device = ready(someone(), "bench")
    sweep = measured_sweep(device, rounds=1)
    work()
    claimed = claiming.claim_session(device, "device@here")
    assert claimed
    steering.pause_sweep(sweep)
    with Keeper() as keeper:
        jobs.do_session(*claimed, keeper)
    assert (sweep.sessions.get().state, Hold.objects.exists()) == (WorkState.QUEUED, False)
