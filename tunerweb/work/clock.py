"""The clock that leases are written and compared by.

On PostgreSQL it is the database's own, whatever the clocks of the workers say. SQLite serves one host: there it is the
time since boot, which nobody can set, with the id of the boot, since another boot starts from nothing.
"""

from __future__ import annotations

import time
from functools import cache
from pathlib import Path

from django.db import connection
from django.db.models import Expression, FloatField, Func, Q, Value

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
DATABASE = "database"


class _DatabaseSeconds(Func):
    template = "EXTRACT(EPOCH FROM CLOCK_TIMESTAMP())::double precision"
    output_field = FloatField()


def now() -> Expression:
    """Seconds, as something that a query can write and compare."""
    if connection.vendor == "postgresql":
        return _DatabaseSeconds()
    return Value(time.clock_gettime(time.CLOCK_BOOTTIME), output_field=FloatField())


def clock_id() -> str:
    return DATABASE if connection.vendor == "postgresql" else _boot_id()


def expired() -> Q:
    """Leases that have run out: by this clock, or those of an earlier boot."""
    return Q(lease_until__lt=now()) | ~Q(lease_clock=clock_id())


@cache
def _boot_id() -> str:
    return BOOT_ID.read_text().strip()
