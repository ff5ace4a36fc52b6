from __future__ import annotations

from django.apps import AppConfig


class WorkConfig(AppConfig):
    name = "tunerweb.work"
    label = "work"
