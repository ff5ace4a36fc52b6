"""Which piece of work a free worker takes next."""

from __future__ import annotations

import threading

import pytest
from django.db import connection

from sweeps import actions, claiming, lifecycle
from sweeps.claiming import claim_compile
from sweeps.models import Compilation, Conversion, SourceModel, Sweep
from sweeps.models.work import SharedWork
from tests.people import someone
from tests.sweeps.launching import fake_toolchain, launch, source_of
from tunerweb.work import leases
from tunerweb.work.artifacts import keep
from tunerweb.work.leases import Lease, WorkState

pytestmark = pytest.mark.django_db(transaction=True)
MANY = 64


@pytest.fixture(autouse=True)
def _toolchain(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_toolchain(monkeypatch)


def claim() -> tuple[SharedWork, Lease]:
    claimed = claim_compile("compile-1@here")
    assert claimed is not None
    return claimed


def claim_all() -> list[SharedWork]:
    rows = []
    while claimed := claim_compile("compile-1@here"):
        rows.append(claimed[0])
    return rows


def labels(rows: list[SharedWork]) -> list[str]:
    return [row.trials.get().label for row in rows]


def sweep_of(row: SharedWork) -> Sweep:
    return row.trials.get().sweep


def onnx_source() -> SourceModel:
    source = source_of(someone(), "model.onnx")
    source.format = "onnx"
    source.save()
    return source


def test_the_baseline_and_the_config_as_given_come_first() -> None:
    launch(p_values="5,1,0", parallel_compiles=MANY)
    assert labels(claim_all()) == ["P=0", "as given", "P=1", "P=5"]


def test_they_are_no_barrier() -> None:
    launch(p_values="0-1", parallel_compiles=MANY)
    for _ in range(2):
        claim()
    row, _ = claim()
    assert labels([row]) == ["P=1"]


def test_teams_take_turns() -> None:
    first, second = (launch(p_values="0-2", parallel_compiles=MANY) for _ in range(2))
    owners = [sweep_of(row) for row in claim_all()]
    assert owners == [first, second] * 4


def test_a_team_that_came_later_does_not_wait_for_the_first_to_end() -> None:
    launch(p_values="0-5", parallel_compiles=MANY)
    for _ in range(3):
        claim()
    late = launch(p_values="0-2", parallel_compiles=MANY)
    assert [sweep_of(claim()[0]) for _ in range(3)] == [late] * 3


def test_among_teams_with_as_many_running_the_one_served_longest_ago_is_next() -> None:
    first, second = (launch(p_values="0-2", parallel_compiles=MANY) for _ in range(2))
    for _ in range(2):
        _, lease = claim()
        lifecycle.settle(lease, WorkState.DONE)
    assert [sweep_of(claim()[0]), sweep_of(claim()[0])] == [first, second]


def test_inside_a_team_the_higher_priority_goes_first() -> None:
    person = someone()
    low = launch(person, p_values="0", parallel_compiles=MANY)
    high = launch(person, p_values="0", parallel_compiles=MANY, priority=5)
    assert [sweep_of(row) for row in claim_all()] == [high, high, low, low]


def test_priority_beats_the_baseline_of_another_sweep() -> None:
    person = someone()
    launch(person, p_values="0", parallel_compiles=MANY)
    high = launch(person, p_values="0-2", parallel_compiles=MANY, priority=5)
    assert {sweep_of(claim()[0]) for _ in range(4)} == {high}


def test_a_changed_priority_counts_at_the_next_claim() -> None:
    person = someone()
    first, second = (launch(person, p_values="0-2", parallel_compiles=MANY) for _ in range(2))
    assert sweep_of(claim()[0]) == first
    actions.set_priority(second, 1)
    assert sweep_of(claim()[0]) == second


def test_a_sweep_never_runs_more_than_its_limit() -> None:
    launch(p_values="0-5", parallel_compiles=2)
    assert len(claim_all()) == 2


def test_a_place_that_becomes_free_is_taken_again() -> None:
    launch(p_values="0-5", parallel_compiles=1)
    _, lease = claim()
    lifecycle.settle(lease, WorkState.DONE)
    assert len(claim_all()) == 1


def test_a_sweep_at_its_limit_does_not_hold_up_others() -> None:
    person = someone()
    launch(person, p_values="0-5", parallel_compiles=1, priority=9)
    other = launch(person, p_values="0-5", parallel_compiles=1)
    claim()
    assert sweep_of(claim()[0]) == other


def test_shared_work_starts_while_one_of_those_who_want_it_has_a_free_place() -> None:
    person = someone()
    source = source_of(person)
    launch(person, source, p_values="0-2", parallel_compiles=1)
    launch(person, source, p_values="0-2", parallel_compiles=2)
    assert len(claim_all()) == 2


def test_workers_that_claim_at_once_get_different_rows_within_the_limit() -> None:
    launch(p_values="0-20", parallel_compiles=3)
    barrier = threading.Barrier(8)
    claimed: list[int] = []

    def one() -> None:
        barrier.wait()
        try:
            while found := claim_compile("compile@here"):
                claimed.append(found[0].pk)
        finally:
            connection.close()

    threads = [threading.Thread(target=one) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(claimed) == len(set(claimed)) == 3


def test_a_conversion_comes_before_its_compilations() -> None:
    source = onnx_source()
    launch(source.owner, source, parallel_compiles=MANY)
    row, _ = claim()
    assert isinstance(row, Conversion)
    assert claim_compile("compile-2@here") is None


def test_a_done_conversion_lets_its_compilations_start() -> None:
    source = onnx_source()
    launch(source.owner, source, p_values="0-2", parallel_compiles=MANY)
    _, lease = claim()
    lifecycle.settle(lease, WorkState.DONE, dlc=keep(source.team, b"a DLC"))
    assert [type(row) for row in claim_all()] == [Compilation] * 4


def test_a_refused_conversion_ends_its_compilations() -> None:
    source = onnx_source()
    sweep = launch(source.owner, source, p_values="0-2", parallel_compiles=MANY)
    _, lease = claim()
    lifecycle.settle(lease, WorkState.REJECTED, reason="No operator of that name.")
    assert claim_compile("compile-1@here") is None
    assert {row.reason for row in Compilation.objects.all()} == {"No operator of that name."}
    sweep.refresh_from_db()
    assert sweep.finished_at is not None


def test_a_compile_waits_for_the_memory_that_the_last_ones_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    launch(p_values="0-2", parallel_compiles=MANY)
    _, lease = claim()
    lifecycle.settle(lease, WorkState.DONE, peak_memory_bytes=2**30)
    claim()
    monkeypatch.setattr(claiming, "available_memory_bytes", lambda: 2**30 - 1)
    assert claim_compile("compile-2@here") is None
    monkeypatch.setattr(claiming, "available_memory_bytes", lambda: 2**30)
    assert claim_compile("compile-2@here") is not None


def test_the_only_compile_starts_however_little_memory_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    launch(p_values="0-2", parallel_compiles=MANY)
    _, lease = claim()
    lifecycle.settle(lease, WorkState.DONE, peak_memory_bytes=2**30)
    monkeypatch.setattr(claiming, "available_memory_bytes", lambda: 0)
    assert claim_compile("compile-1@here") is not None


def test_cancelled_work_is_not_claimed() -> None:
    sweep = launch(parallel_compiles=MANY)
    actions.cancel_sweep(sweep)
    assert claim_compile("compile-1@here") is None


def test_work_that_was_put_back_is_claimed_again_with_a_higher_fence() -> None:
    launch(p_values="0", parallel_compiles=1)
    row, lease = claim()
    leases.put_back(lease)
    again, second = claim()
    assert (again, second.fence) == (row, lease.fence + 1)


@pytest.mark.parametrize("is_waiting", [True, False])
def test_work_waits_exactly_while_a_claim_would_find_some(is_waiting: bool) -> None:
    launch(p_values="0", parallel_compiles=MANY)
    if not is_waiting:
        claim_all()
    assert claiming.is_compile_waiting() is is_waiting
