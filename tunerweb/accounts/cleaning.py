"""Throws away what lets nobody in any more. A step of the reconciler, which asks every two seconds."""

from __future__ import annotations

import time
from datetime import timedelta

from django.contrib.sessions.models import Session
from django.utils import timezone

from tunerweb.accounts.models import Link

EVERY_S = 3600.0
# Until then its page can say what became of a link.
LINKS_ARE_KEPT = timedelta(days=90)

_next_at = 0.0


def reconcile() -> None:
    global _next_at
    if time.monotonic() >= _next_at:
        _next_at = time.monotonic() + EVERY_S
        throw_away()


def throw_away() -> None:
    now = timezone.now()
    Link.objects.filter(expires_at__lt=now - LINKS_ARE_KEPT).delete()
    Session.objects.filter(expire_date__lt=now).delete()
