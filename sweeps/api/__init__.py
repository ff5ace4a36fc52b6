"""The JSON API for programs: upload a model, save a config, launch a sweep, follow it, fetch what came out.

A personal token lets a program in, for one team; sessions do not count here.
"""

from __future__ import annotations

from ninja import NinjaAPI

from sweeps.api import configs, devices, files, models, sweeps, uploads
from sweeps.api.refusals import handle_refusals
from tunerweb.accounts.tokens import TokenAuth

__all__ = ["api"]

DESCRIPTION = (
    "Make a token on the account page and send it as `Authorization: Bearer tw_…`. Every id is the one in the "
    "addresses of the pages. What cannot be done is answered with a sentence in `detail`."
)

api = NinjaAPI(title="Tunerweb", version="1", description=DESCRIPTION, urls_namespace="api", auth=TokenAuth())
handle_refusals(api)
for part in (models, uploads, configs, sweeps, files, devices):
    api.add_router("", part.router)
