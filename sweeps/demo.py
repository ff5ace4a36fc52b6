"""The sample model, swept through the running server: what `tunerweb demo` asks for.

`import` prints a link that signs the demo user in at the sweep, and the sweep's id; `wait` prints its ranking.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tunerweb.settings")
django.setup()

from django.db import transaction  # noqa: E402
from rich.console import Console  # noqa: E402

from sweeps.actions import start_sweep  # noqa: E402
from sweeps.models import Inspection, SourceModel, Sweep, Toolchain, Upload, UploadState  # noqa: E402
from sweeps.outcomes import outcomes_of  # noqa: E402
from sweeps.planning import worker_count  # noqa: E402
from sweeps.reports.text_table import SweepText  # noqa: E402
from sweeps.specs import SweepSpec  # noqa: E402
from sweeps.uploads import keep_model, known_model, start_inspection  # noqa: E402
from tunerweb.accounts.links import new_enter_link  # noqa: E402
from tunerweb.accounts.models import Membership, Team, User  # noqa: E402
from tunerweb.environment import load_environment  # noqa: E402
from tunerweb.work.artifacts import keep  # noqa: E402
from tunerweb.work.leases import WorkState  # noqa: E402

NAME = "demo"
SOC = "SM8650"
PATIENCE_S = 120.0
STEP_S = 0.1
Found = TypeVar("Found")


def demo_user() -> User:
    """Without a password: only a link from this machine lets anybody in as this user."""
    user = User.objects.filter(username=NAME).first()
    if user:
        return user
    with transaction.atomic():
        user = User.objects.create_user(NAME)
        Membership.objects.create(user=user, team=Team.objects.create(name="Demo"))
    return user


def sample() -> Path:
    return load_environment().root / "tests" / "data" / "sample_detector.dlc"


def sample_model(user: User) -> SourceModel:
    """Inspected by a worker, as an upload would be."""
    artifact = keep(user.team, sample())
    known: SourceModel | None = SourceModel.objects.filter(team=user.team, sha256=artifact.sha256).first()
    if known:
        return known
    upload = Upload.objects.create(
        team=user.team,
        owner=user,
        tus_id=secrets.token_hex(16),
        name=sample().name,
        size_bytes=artifact.size_bytes,
        state=UploadState.COMPLETE,
        artifact=artifact,
    )
    inspection = _awaited(_ended(start_inspection([upload], user)), "the inspection of the sample model")
    return known_model(inspection) or keep_model(inspection, "sample_detector", "", ["sample"], user)


def _ended(inspection: Inspection) -> Callable[[], Inspection | None]:
    def look() -> Inspection | None:
        inspection.refresh_from_db()
        if inspection.state in (WorkState.FAILED, WorkState.REJECTED):
            sys.exit(inspection.reason)
        return inspection if inspection.state == WorkState.DONE else None

    return look


def _awaited(look: Callable[[], Found | None], what: str) -> Found:
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if found := look():
            return found
        time.sleep(STEP_S)
    sys.exit(f"{what} did not come about within {PATIENCE_S:.0f} s; the logs of the workers say why.")


def import_sample() -> None:
    user = demo_user()
    model = sample_model(user)
    _awaited(Toolchain.objects.first, "a worker's report of its toolchain")
    sweep = start_sweep(
        SweepSpec(team=user.team, owner=user, source_model=model, soc=SOC, parallel_compiles=worker_count(), top_k=3)
    )
    path = f"{new_enter_link(user)}?next={sweep.get_absolute_url()}"
    print(json.dumps({"path": path, "sweep": sweep.public_id}))


def wait(public_id: str) -> None:
    sweep = Sweep.objects.get(public_id=public_id)

    def look() -> Sweep | None:
        sweep.refresh_from_db()
        return sweep if sweep.finished_at else None

    _awaited(look, "the end of the sweep")
    invalid = {int(p_value): reason for p_value, reason in sweep.left_out.items()}
    SweepText(outcomes_of(sweep), sweep.target, invalid).print(Console(highlight=False, width=100))


def main() -> None:
    parser = argparse.ArgumentParser(description="Sweep the sample model.")
    parser.add_argument("command", choices=["import", "wait"])
    parser.add_argument("sweep", nargs="?", default="")
    options = parser.parse_args()
    if options.command == "import":
        import_sample()
    else:
        wait(options.sweep)


if __name__ == "__main__":
    main()
