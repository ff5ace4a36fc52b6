"""Guessing a password gets slower and slower. Nobody is ever locked out: the longest wait is a minute.

Counted for an account together with an address, so that a stranger cannot make its owner wait; and for an address,
so that trying many names helps nobody.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import timedelta

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from tunerweb.accounts.models import LoginDelay, keyed_hash

LONGEST_S = 60
FREE_TRIES_ACCOUNT = 5
FREE_TRIES_ADDRESS = 30
FORGOTTEN_AFTER = timedelta(hours=1)


def wait_before_try(username: str, address: str) -> int:
    """Counts one try before its password is looked at. Too early: the seconds to wait, and nothing is counted."""
    keys = _keys(username, address)
    # Most of a flood ends at the first look, which locks nothing.
    return _seconds_early(LoginDelay.objects.filter(key__in=keys)) or _count(keys)


def _count(keys: dict[str, int]) -> int:
    now = timezone.now()
    with transaction.atomic():
        LoginDelay.objects.filter(last_at__lt=now - FORGOTTEN_AFTER).delete()
        for key in keys:
            LoginDelay.objects.get_or_create(key=key, defaults={"open_at": now, "last_at": now})
        rows = list(LoginDelay.objects.select_for_update().filter(key__in=keys).order_by("key"))
        if early := _seconds_early(rows):
            return early
        for row in rows:
            wait = timedelta(seconds=delay_s(row.tries + 1, keys[row.key]))
            LoginDelay.objects.filter(pk=row.pk).update(tries=F("tries") + 1, open_at=now + wait, last_at=now)
    return 0


def _seconds_early(rows: Iterable[LoginDelay]) -> int:
    now = timezone.now()
    return max((math.ceil((row.open_at - now).total_seconds()) for row in rows if row.open_at > now), default=0)


def delay_s(tries: int, free: int) -> int:
    """After the last free try 1 s, then twice as long each time, up to the longest."""
    return min(LONGEST_S, 2 ** min(tries - free, 10)) if tries >= free else 0


def forget_tries(username: str, address: str) -> None:
    """After a right password. The address keeps what it tried on other accounts."""
    account, of_address = _keys(username, address)
    LoginDelay.objects.filter(key=account).delete()
    LoginDelay.objects.filter(key=of_address, tries__gt=0).update(tries=F("tries") - 1, open_at=timezone.now())


def _keys(username: str, address: str) -> dict[str, int]:
    """Hashed: what people type into the name field by mistake may be a password."""
    return {
        keyed_hash(f"account {username.casefold()} {address}"): FREE_TRIES_ACCOUNT,
        keyed_hash(f"address {address}"): FREE_TRIES_ADDRESS,
    }
