"""People and workers at the same rows at the same moment: nobody is turned away, and everything comes to its end."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable

import pytest
from django.db import connection

from sweeps import actions, lifecycle, rescuing
from sweeps.claiming import claim_compile
from sweeps.models import Compilation, Conversion, SourceModel, Sweep, Trial
from sweeps.specs import SweepSpec
from tests.people import someone
from tests.sweeps.launching import SOC, fake_toolchain, source_of
from tunerweb.work import hints
from tunerweb.work.artifacts import keep
from tunerweb.work.leases import LIVE, WorkState

pytestmark = pytest.mark.django_db(transaction=True)
ROUNDS = 12


class Crowd:
    """Threads that run until the first of the other kind have done all their rounds."""

    def __init__(self) -> None:
        self.errors: list[BaseException] = []
        self.over = threading.Event()

    def work(self, *people: Callable[[], None], workers: list[Callable[[], None]]) -> None:
        busy = [threading.Thread(target=self._rounds, args=(one,)) for one in people]
        helping = [threading.Thread(target=self._until_over, args=(one,)) for one in workers]
        for thread in [*busy, *helping]:
            thread.start()
        for thread in busy:
            thread.join()
        self.over.set()
        for thread in helping:
            thread.join()

    def _rounds(self, one: Callable[[], None]) -> None:
        self._guarded(lambda: [one() for _ in range(ROUNDS)])

    def _until_over(self, one: Callable[[], None]) -> None:
        def again() -> None:
            while not self.over.is_set():
                one()

        self._guarded(again)

    def _guarded(self, what: Callable[[], object]) -> None:
        try:
            what()
        except BaseException as error:
            self.errors.append(error)
        finally:
            connection.close()


def a_model(file_format: str) -> SourceModel:
    source = source_of(someone(), f"model.{file_format}")
    source.format = file_format
    source.save()
    return source


def worker(source: SourceModel) -> None:
    claimed = claim_compile("compile@here")
    if claimed is None:
        return
    row, lease = claimed
    if isinstance(row, Conversion):
        lifecycle.settle(lease, WorkState.DONE, dlc=keep(source.team, b"a DLC"))
        return
    moment = random.random()
    if moment < 0.2:
        lifecycle.crashed(lease, "It crashed.")
    elif moment < 0.4:
        lifecycle.hand_back(lease)
    else:
        lifecycle.settle(lease, random.choice([WorkState.DONE, WorkState.FAILED]), reason="Over.")


class Person:
    """Does what people do to the sweeps of one model, one thing after the other."""

    def __init__(self, source: SourceModel) -> None:
        self.spec = SweepSpec(
            team=source.team, owner=source.owner, source_model=source, soc=SOC, p_values="0-3", parallel_compiles=3
        )

    def launches(self) -> None:
        actions.start_sweep(self.spec)

    def cancels(self) -> None:
        for sweep in Sweep.objects.order_by("?")[:2]:
            actions.cancel_sweep(sweep)

    def cancels_a_trial(self) -> None:
        for trial in Trial.objects.order_by("?").select_related("sweep")[:1]:
            actions.cancel_trial(trial)

    def retries(self) -> None:
        for sweep in Sweep.objects.order_by("?")[:2]:
            actions.retry_failed(sweep)


@pytest.mark.parametrize("file_format", ["dlc", "onnx"])
def test_everything_at_once_ends_well(file_format: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_toolchain(monkeypatch)
    monkeypatch.setattr(lifecycle, "headline_of", lambda _sweep: "Over.")
    monkeypatch.setattr(hints, "push", lambda _queue: None)
    source = a_model(file_format)
    person, crowd = Person(source), Crowd()
    crowd.work(
        *(person.launches, person.launches, person.cancels, person.cancels_a_trial, person.retries),
        workers=[lambda: worker(source)] * 3 + [rescuing.reconcile],
    )
    assert crowd.errors == []
    while claim_and_end(source):
        pass
    rescuing.reconcile()
    assert not Compilation.objects.filter(state__in=LIVE).exists()
    assert not Sweep.objects.unfinished().exists()


def claim_and_end(source: SourceModel) -> bool:
    claimed = claim_compile("compile@here")
    if claimed is None:
        return False
    row, lease = claimed
    made = {"dlc": keep(source.team, b"a DLC")} if isinstance(row, Conversion) else {}
    return lifecycle.settle(lease, WorkState.DONE, **made)
