"""Repairs what others left: every two seconds, one process at a time, from what the database says."""

from __future__ import annotations

import logging
import os
import secrets
import signal
import threading
import time

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tunerweb.settings")
django.setup()

from django.conf import settings  # noqa: E402
from django.db import DatabaseError, IntegrityError, connection, transaction  # noqa: E402
from django.db.models import Q  # noqa: E402
from django.utils.module_loading import import_string  # noqa: E402

from tunerweb.work import clock, hints  # noqa: E402
from tunerweb.work.inside import die_with_parent  # noqa: E402
from tunerweb.work.models import Duty  # noqa: E402

DUTY = "reconcile"
log = logging.getLogger(__name__)


class Reconciler:
    def __init__(self) -> None:
        self.name = f"{os.getpid()}-{secrets.token_hex(4)}"
        self.stop = threading.Event()
        self._rests_until = 0.0

    def run(self) -> None:
        while not self.stop.is_set():
            self.one_round()
            self.stop.wait(interval_s())

    def one_round(self) -> None:
        """After a database outage leases get the time to be renewed before anybody is rescued."""
        try:
            if time.monotonic() >= self._rests_until and self.is_on_duty():
                reconcile_once()
        except DatabaseError as error:
            log.warning("the database does not answer: %s", error)
            connection.close()
            self._rests_until = time.monotonic() + settings.LEASE_S

    def is_on_duty(self) -> bool:
        """True while this process holds the duty: one reconciler is enough, the others stand by."""
        lease = {
            "holder": self.name,
            "lease_until": clock.now() + max(settings.LEASE_S, 3 * interval_s()),
            "lease_clock": clock.clock_id(),
        }
        mine = Duty.objects.filter(Q(holder=self.name) | clock.expired(), name=DUTY)
        return bool(mine.update(**lease)) or _takes_first(lease)

    def leave(self) -> None:
        """The next reconciler need not wait for the lease to run out."""
        Duty.objects.filter(name=DUTY, holder=self.name).delete()


def interval_s() -> float:
    return min(2.0, settings.LEASE_S / 2)


def _takes_first(lease: dict[str, object]) -> bool:
    if Duty.objects.filter(name=DUTY).exists():
        return False
    try:
        with transaction.atomic():
            Duty.objects.create(name=DUTY, **lease)
    except IntegrityError:
        return False
    return True


def reconcile_once() -> None:
    """Each step alone: one that fails must not keep the others from their work."""
    for step in settings.RECONCILER_STEPS:
        try:
            import_string(step)()
        except DatabaseError:
            raise
        except Exception:
            log.exception("%s failed", step)
    hints.push_where_work_waits()


def main() -> None:
    die_with_parent(os.getppid())
    reconciler = Reconciler()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda _signal, _frame: reconciler.stop.set())
    reconciler.run()
    reconciler.leave()


if __name__ == "__main__":
    main()
