from __future__ import annotations

from django.urls import include, path

app_name = "sweeps"

VIEWS = ("overview", "models", "uploads", "configs", "targets", "launch", "sweep_list", "sweeps", "trials", "downloads")
urlpatterns = [path("", include(f"sweeps.views.{name}")) for name in VIEWS]
