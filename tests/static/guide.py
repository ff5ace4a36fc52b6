"""A site of one page, the style guide, with what its scripts talk to: for looking at the parts in a real browser."""

from __future__ import annotations

import json
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from socketserver import ThreadingMixIn
from types import SimpleNamespace
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from django.core.paginator import Paginator
from django.core.wsgi import get_wsgi_application
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.test import override_settings
from django.urls import include, path
from django.utils import timezone

from sweeps.formats import byte_column

MIDDLEWARE = ["tunerweb.middleware.content_security_policy", "whitenoise.middleware.WhiteNoiseMiddleware"]
STATES = (
    "queued receiving inspecting converting compiling verifying profiling running done rejected failed cancelled paused"
)
CONFIG = {"graphs": [{"graph_names": ["sample_detector"], "vtcm_mb": 16, "O": 2}], "devices": [{"soc_model": 57}]}
FINDINGS = [
    {"kind": "problem", "path": "graphs[0].vtcm_mb", "line": None, "sentence": "SM8650 has 8 MB of VTCM."},
    {"kind": "warning", "path": "graphs[0].O", "line": None, "sentence": "P is read with O=3 only."},
    {"kind": "note", "path": "", "line": None, "sentence": "One graph, so no weights are shared."},
]
BASELINE = {"rom_bytes": 765_952, "ram_bytes": 2_264_924, "cycles": 314_922}
CHANGED = {
    22: {"rom_bytes": 761_856, "cycles": 459_000},
    23: {"rom_bytes": 778_240, "ram_bytes": 2_301_000, "cycles": 301_000},
    19: {"cycles": None},
}
MAX_BYTES = 40 * 2**20


@dataclass
class Uploads:
    """What a tus server has: id to bytes received and bytes promised."""

    received: dict[str, int] = field(default_factory=dict)
    promised: dict[str, int] = field(default_factory=dict)
    # No piece is taken while this is not set.
    open: threading.Event = field(default_factory=threading.Event)


UPLOADS = Uploads()


def values_of(p_value: int) -> dict[str, int | None]:
    return {**BASELINE, **CHANGED.get(p_value, {})}


def chart() -> dict[str, object]:
    names = {"op_data_bytes": "op data", "const_bytes": "constants", "spill_fill_bytes": "spill-fill"}
    points = []
    for p_value in (0, 1, 2, 3, 19, 22, 23):
        values = values_of(p_value)
        kinds = {
            "op_data_bytes": 400_000,
            "const_bytes": int(values["ram_bytes"] or 0) - 400_000,
            "spill_fill_bytes": 0,
        }
        point = {"id": f"t{p_value}", "label": f"P {p_value}", "baseline": p_value == 0, "as_given": False}
        points.append({**point, "excluded": False, "values": values, "kinds": kinds})
    metrics = [
        {"key": "rom_bytes", "label": "ROM", "unit": "bytes", "origin": "exact"},
        {"key": "ram_bytes", "label": "RAM", "unit": "bytes", "origin": "exact"},
        {"key": "cycles", "label": "Cycles", "unit": "cycles", "origin": "simulated"},
    ]
    return {"metrics": metrics, "kinds": [{"key": k, "label": v} for k, v in names.items()], "points": points}


def row(p_values: tuple[int, ...], rank: str, state: str = "done") -> dict[str, object]:
    values = values_of(p_values[0])
    deltas = {k: 100 * (v / BASELINE[k] - 1) if (v := values[k]) is not None else None for k in BASELINE}
    return {
        "id": " ".join(f"t{p}" for p in p_values),
        "label": "P " + " ".join(map(str, p_values)),
        "rank": rank,
        "rom": values["rom_bytes"],
        "ram": values["ram_bytes"],
        "rom_delta": deltas["rom_bytes"],
        "ram_delta": deltas["ram_bytes"],
        "cycles_delta": deltas["cycles"],
        "state": state,
        "baseline": 0 in p_values,
        "css": "is-baseline" if 0 in p_values else "",
    }


def context() -> dict[str, object]:
    rows = [row((22,), "1"), row((0,), "2="), row((1, 2, 3), "2="), row((19,), "2="), row((23,), "7", "verifying")]
    return {
        "user": SimpleNamespace(is_authenticated=True, get_username=lambda: "mira"),
        "verdict": ["Nothing worth shipping for ROM: the best (P 22) saves 0.5 %.", "P 23 has fewer simulated cycles."],
        "rows": rows,
        "rom_column": byte_column(values_of(p)["rom_bytes"] for p in (0, 22, 23)),
        "ram_column": byte_column(values_of(p)["ram_bytes"] for p in (0, 22, 23)),
        "chart": chart(),
        "states": STATES,
        "pips": [{"state": state, "label": f"P {number}"} for number, state in enumerate(STATES)],
        "tags": ["detector", "480p"],
        "log": "prepare graph 'sample_detector'\n" * 20,
        "config": json.dumps(CONFIG, indent=2),
        "findings": [{**finding, "fix_label": "Set to 8", "fix_value": "0"} for finding in FINDINGS],
        "finding_marks": FINDINGS,
        "moment": timezone.now() - timedelta(hours=2),
        "page": Paginator(range(312), 50).page(2),
        "max_bytes": MAX_BYTES,
    }


def guide(request: HttpRequest) -> HttpResponse:
    return render(request, "components/styleguide.html", context())


def tus(request: HttpRequest, public_id: str = "") -> HttpResponse:
    """As much of tus 1.0 as the browser's client uses."""
    headers = {"Tus-Resumable": "1.0.0", "Cache-Control": "no-store"}
    if request.method == "POST":
        public_id = uuid.uuid4().hex
        UPLOADS.received[public_id] = 0
        UPLOADS.promised[public_id] = int(request.headers["Upload-Length"])
        return HttpResponse(status=201, headers={**headers, "Location": f"/uploads/tus/{public_id}"})
    if public_id not in UPLOADS.received:
        return HttpResponse(status=404, headers=headers)
    if request.method == "PATCH":
        size = len(request.read())
        UPLOADS.open.wait(30)
        UPLOADS.received[public_id] += size
    headers["Upload-Offset"] = str(UPLOADS.received[public_id])
    headers["Upload-Length"] = str(UPLOADS.promised[public_id])
    return HttpResponse(status=204 if request.method == "PATCH" else 200, headers=headers)


def uploaded(request: HttpRequest) -> HttpResponse:
    return HttpResponseRedirect("/targets/?uploads=" + ",".join(request.POST.getlist("upload")))


SWEEPS = [path(f"{name}/", guide, name=f"{name[:-1]}_list") for name in ("sweeps", "models", "configs", "targets")]
ACCOUNTS = [path(f"{name}/", guide, name=name) for name in ("account", "team", "logout")]
urlpatterns = [
    path("", include(([path("", guide, name="overview"), *SWEEPS], "sweeps"))),
    path("", include(([path("devices/", guide, name="device_list")], "devices"))),
    path("", include((ACCOUNTS, "accounts"))),
    path("uploads/tus/", tus),
    path("uploads/tus/<str:public_id>", tus),
    path("models/upload/", uploaded),
]


class QuietHandler(WSGIRequestHandler):
    def log_message(self, *_: object) -> None:
        """A test's output is the test's."""


class Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


@contextmanager
def served() -> Iterator[str]:
    """The address of the site, for as long as it is served."""
    with override_settings(ROOT_URLCONF=__name__, MIDDLEWARE=MIDDLEWARE):
        server = make_server("127.0.0.1", 0, get_wsgi_application(), server_class=Server, handler_class=QuietHandler)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
            server.server_close()
