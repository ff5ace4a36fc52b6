from __future__ import annotations

from django.urls import include, path

from sweeps.api import api
from tunerweb.health import health

urlpatterns = [
    path("healthz", health, name="health"),
    path("api/", api.urls),
    path("", include("tunerweb.accounts.urls")),
    path("", include("devices.urls")),
    path("", include("sweeps.urls")),
]

handler400 = "tunerweb.errors.bad_request"
handler404 = "tunerweb.errors.not_found"
handler403 = "tunerweb.errors.forbidden"
handler500 = "tunerweb.errors.broken"
