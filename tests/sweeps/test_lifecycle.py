"""How work and the sweeps that want it come to their ends."""

from __future__ import annotations

import pytest
from django.utils import timezone

from sweeps import actions, lifecycle, rescuing
from sweeps.claiming import claim_compile
from sweeps.models import Compilation, Sweep
from sweeps.toolchain.base import Cancelled, Point
from sweeps.toolchain.errors import ConfigRejected, FailureKind, LimitReached, ToolFailed
from sweeps.toolchain.fake import Ending, FakeToolchain
from tests.people import someone
from tests.sweeps.launching import fake_toolchain, launch, source_of, states, trial, work
from tunerweb.work import leases
from tunerweb.work.leases import Lease, WorkState

pytestmark = pytest.mark.django_db(transaction=True)
WORKER = "compile-1@here"


def ending_with(error: Exception) -> Ending:
    def end(_point: Point, _cancelled: Cancelled | None) -> None:
        raise error

    return end


def reload(sweep: Sweep) -> Sweep:
    sweep.refresh_from_db()
    return sweep


def claim() -> tuple[Compilation, Lease]:
    claimed = claim_compile(WORKER)
    assert claimed is not None
    row, lease = claimed
    assert isinstance(row, Compilation)
    return row, lease


def test_every_point_of_a_sweep_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_toolchain(monkeypatch)
    sweep = launch()
    work()
    assert states(sweep) == ["done"] * 4


def test_a_sweep_is_finished_with_its_last_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_toolchain(monkeypatch)
    sweep = launch()
    work()
    assert reload(sweep).finished_at is not None
    assert sweep.headline == "Nothing worth shipping."


def test_an_identical_compilation_is_never_run_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    toolchain = fake_toolchain(monkeypatch)
    person = someone()
    source = source_of(person)
    launch(person, source)
    work()
    second = launch(person, source)
    work()
    assert len(toolchain.compiled) == 4
    assert list(second.trials.values_list("from_store", flat=True)) == [True] * 4


def test_two_sweeps_that_wait_for_the_same_work_share_it(monkeypatch: pytest.MonkeyPatch) -> None:
    toolchain = fake_toolchain(monkeypatch)
    person = someone()
    source = source_of(person)
    sweeps = [launch(person, source), launch(person, source)]
    work()
    assert len(toolchain.compiled) == 4
    assert [states(sweep) for sweep in sweeps] == [["done"] * 4] * 2


def test_teams_do_not_share_results(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_toolchain(monkeypatch)
    first, second = launch(), launch()
    keys = set(first.trials.values_list("compilation_id")) & set(second.trials.values_list("compilation_id"))
    assert not keys


def test_a_refused_point_is_an_answer_that_is_reused(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_toolchain(monkeypatch, FakeToolchain({1: ending_with(ConfigRejected("P=1 is refused."))}))
    person = someone()
    source = source_of(person)
    sweep = launch(person, source)
    work()
    second = launch(person, source)
    assert trial(sweep, 1).compilation == trial(second, 1).compilation
    assert trial(second, 1).compilation.reason == "P=1 is refused."


def test_a_failure_is_never_reused(monkeypatch: pytest.MonkeyPatch) -> None:
    error = LimitReached("The compile was stopped after its time limit of 1 s.", kind=FailureKind.HANG)
    fake_toolchain(monkeypatch, FakeToolchain({1: ending_with(error)}))
    person = someone()
    source = source_of(person)
    sweep = launch(person, source)
    work()
    second = launch(person, source)
    assert trial(sweep, 1).state == "failed"
    assert trial(second, 1).state == "queued"


def test_the_third_crash_fails_the_row(monkeypatch: pytest.MonkeyPatch) -> None:
    error = ToolFailed("The compiler crashed during this compile (SIGSEGV).", kind=FailureKind.CRASH)
    fake_toolchain(monkeypatch, FakeToolchain({1: ending_with(error)}))
    sweep = launch()
    work()
    failed = trial(sweep, 1)
    assert (failed.state, failed.compilation.crashes, failed.compilation.attempts) == ("failed", 3, 3)


def test_a_kill_from_outside_is_no_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    left = [ToolFailed("killed", kind=FailureKind.KILLED) for _ in range(5)]

    def end(_point: Point, _cancelled: Cancelled | None) -> None:
        if left:
            raise left.pop()

    fake_toolchain(monkeypatch, FakeToolchain({1: end}))
    sweep = launch()
    work()
    done = trial(sweep, 1)
    assert (done.state, done.compilation.crashes, done.compilation.attempts) == ("done", 0, 6)


def test_an_error_of_ours_fails_the_trial_and_not_the_sweep(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_toolchain(monkeypatch, FakeToolchain({1: ending_with(ZeroDivisionError("oh"))}))
    sweep = launch()
    work()
    assert sorted(states(sweep)) == ["done", "done", "done", "failed"]
    assert "ZeroDivisionError: oh" in trial(sweep, 1).compilation.reason


def test_a_retry_gives_failed_points_new_work_and_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    toolchain = fake_toolchain(monkeypatch, FakeToolchain({1: ending_with(LimitReached("Too slow."))}))
    sweep = launch()
    work()
    toolchain.ends.clear()
    assert actions.retry_failed(sweep) == 1
    work()
    assert states(sweep) == ["done"] * 4
    assert len(toolchain.compiled) == 4


def test_a_retried_sweep_finishes_again(monkeypatch: pytest.MonkeyPatch) -> None:
    toolchain = fake_toolchain(monkeypatch, FakeToolchain({1: ending_with(LimitReached("Too slow."))}))
    sweep = launch()
    work()
    toolchain.ends.clear()
    actions.retry_failed(sweep)
    assert reload(sweep).finished_at is None
    work()
    assert reload(sweep).finished_at is not None


def test_cancelling_ends_what_is_queued_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_toolchain(monkeypatch)
    sweep = launch()
    actions.cancel_sweep(sweep)
    assert states(sweep) == ["cancelled"] * 4
    assert set(Compilation.objects.values_list("state", flat=True)) == {WorkState.CANCELLED}
    assert reload(sweep).finished_at is not None


def test_cancelling_tells_the_worker_of_what_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_toolchain(monkeypatch)
    sweep = launch()
    _, lease = claim()
    actions.cancel_sweep(sweep)
    assert leases.cancel_requested(lease)


def test_work_that_another_sweep_wants_is_not_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_toolchain(monkeypatch)
    person = someone()
    source = source_of(person)
    first, second = launch(person, source), launch(person, source)
    _, lease = claim()
    actions.cancel_sweep(first)
    assert not leases.cancel_requested(lease)
    work_left = Compilation.objects.filter(state=WorkState.QUEUED).count()
    assert (states(second).count("queued"), work_left) == (3, 3)


def test_what_was_cancelled_while_it_ran_is_cancelled_whatever_came_out(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_toolchain(monkeypatch)
    sweep = launch()
    row, lease = claim()
    actions.cancel_sweep(sweep)
    assert lifecycle.settle(lease, WorkState.DONE)
    row.refresh_from_db()
    assert row.state == WorkState.CANCELLED


def test_a_sweep_that_wants_cancelled_work_gets_a_row_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_toolchain(monkeypatch)
    person = someone()
    source = source_of(person)
    first = launch(person, source)
    row, _ = claim()
    actions.cancel_sweep(first)
    second = launch(person, source)
    assert not second.trials.filter(compilation=row).exists()


def test_a_cancelled_row_is_not_revived_by_a_rescue(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_toolchain(monkeypatch)
    sweep = launch()
    row, _ = claim()
    actions.cancel_sweep(sweep)
    Compilation.objects.filter(pk=row.pk).update(lease_until=0.0)
    rescuing.reconcile()
    row.refresh_from_db()
    assert row.state == WorkState.CANCELLED


def test_an_expired_lease_goes_back_into_the_queue(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_toolchain(monkeypatch)
    sweep = launch()
    row, lease = claim()
    Compilation.objects.filter(pk=row.pk).update(lease_until=0.0)
    rescuing.reconcile()
    work()
    assert states(sweep) == ["done"] * 4
    assert not lifecycle.settle(lease, WorkState.FAILED)


def test_a_row_that_took_three_workers_with_it_is_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_toolchain(monkeypatch)
    launch(p_values="0")
    for _ in range(3):
        row, _ = claim()
        Compilation.objects.filter(pk=row.pk).update(lease_until=0.0)
        rescuing.reconcile()
    row.refresh_from_db()
    assert row.state == WorkState.FAILED
    assert "3 workers died" in row.reason


def test_workers_that_died_under_several_rows_poison_none(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_toolchain(monkeypatch)
    launch()
    for _ in range(3):
        Compilation.objects.filter(pk__in=[claim()[0].pk for _ in range(1)]).update(lease_until=0.0)
        rescuing.reconcile()
        Compilation.objects.filter(state=WorkState.QUEUED).exclude(rescues=0).update(last_rescue_at=timezone.now())
        other = Compilation.objects.filter(rescues=0).first()
        Compilation.objects.filter(pk=other.pk).update(last_rescue_at=timezone.now())
    assert not Compilation.objects.filter(state=WorkState.FAILED).exists()


def test_a_paused_sweep_starts_nothing_new(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_toolchain(monkeypatch)
    sweep = launch()
    actions.pause_sweep(sweep)
    assert claim_compile(WORKER) is None


def test_a_resumed_sweep_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_toolchain(monkeypatch)
    sweep = launch()
    actions.pause_sweep(sweep)
    actions.resume_sweep(sweep)
    work()
    assert states(sweep) == ["done"] * 4


def test_the_same_form_sent_twice_is_one_sweep(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_toolchain(monkeypatch)
    person = someone()
    source = source_of(person)
    first = launch(person, source, submission="form 1")
    assert launch(person, source, submission="form 1") == first


def test_a_deleted_sweep_takes_the_files_that_nothing_else_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_toolchain(monkeypatch)
    sweep = launch()
    work()
    binaries = {each.compilation.binary_id for each in sweep.trials.with_work()}
    foreseen = actions.freed_by(sweep)
    assert actions.delete_sweep(sweep) == foreseen
    assert foreseen.files == len(binaries)
    assert not Compilation.objects.exists()


def test_a_deleted_sweep_leaves_what_another_one_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_toolchain(monkeypatch)
    person = someone()
    source = source_of(person)
    first = launch(person, source)
    work()
    launch(person, source)
    assert actions.delete_sweep(first).files == 0
    assert Compilation.objects.count() == 4


def test_a_running_sweep_is_not_deleted(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_toolchain(monkeypatch)
    sweep = launch()
    assert actions.delete_sweep(sweep).blocked_by
    assert Sweep.objects.filter(pk=sweep.pk).exists()
