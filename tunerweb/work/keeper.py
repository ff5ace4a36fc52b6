"""Keeps the lease of the work at hand while a child does it, and hears when that work is to end."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Iterator
from typing import Self

from django.conf import settings
from django.db import DatabaseError, connection

from tunerweb.work import leases
from tunerweb.work.leases import Lease

LOOK_S = 0.5
log = logging.getLogger(__name__)

# Set by the worker's signal handler: the work at hand is handed back, no more is claimed.
stopping = threading.Event()


class Keeper:
    """One thread for all the work of a process, one piece at a time.

    `is_over` is what a child's supervisor asks: cancelled, lost or handed back, the child has to end. While the
    database does not answer the child goes on: its result counts only if the fence still holds.
    """

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._lease: Lease | None = None
        self._phase = ""
        self._over = threading.Event()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="keeper", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        with self._condition:
            self._closed = True
            self._condition.notify()
        self._thread.join()

    @contextlib.contextmanager
    def keeping(self, lease: Lease) -> Iterator[None]:
        self._over.clear()
        with self._condition:
            self._lease, self._phase = lease, ""
            self._condition.notify()
        try:
            yield
        finally:
            with self._condition:
                self._lease = None

    def is_over(self) -> bool:
        return self._over.is_set() or stopping.is_set()

    def wait(self, seconds: float) -> bool:
        """True as soon as the work is to end."""
        deadline = time.monotonic() + seconds
        while not self.is_over() and (left_s := deadline - time.monotonic()) > 0:
            self._over.wait(min(LOOK_S, left_s))
        return self.is_over()

    def hear_phase(self, phase: str) -> None:
        """What the child is doing now; written with the next look."""
        self._phase = phase

    def _run(self) -> None:
        try:
            while lease := self._next():
                self._keep(lease)
        finally:
            connection.close()

    def _next(self) -> Lease | None:
        with self._condition:
            self._condition.wait_for(lambda: self._lease or self._closed)
            return None if self._closed else self._lease

    def _keep(self, lease: Lease) -> None:
        """Until another lease takes the place of this one."""
        renewed_at = time.monotonic()
        written = ""
        while self._still(lease):
            try:
                if leases.cancel_requested(lease):
                    self._end(lease)
                if time.monotonic() - renewed_at >= settings.LEASE_S / 3:
                    leases.renew(lease)
                    renewed_at = time.monotonic()
                if self._phase != written:
                    written = self._phase
                    lease.held.update(phase=written)
            except DatabaseError as error:
                log.warning("the lease of %s %s was not renewed: %s", lease.model.__name__, lease.pk, error)
                connection.close()

    def _still(self, lease: Lease) -> bool:
        """Wait for the time of the next look; False when there is nothing to look at any more."""
        with self._condition:
            self._condition.wait_for(lambda: self._lease is not lease or self._closed, timeout=self._pause_s())
            return self._lease is lease and not self._closed

    def _pause_s(self) -> float:
        return min(LOOK_S, settings.LEASE_S / 3)

    def _end(self, lease: Lease) -> None:
        with self._condition:
            if self._lease is lease:
                self._over.set()
