"""Acts on a running server's database from a process of its own, told what to do by JSON lines; see `tests.server`.

It seeds people and models, launches sweeps as the pages do, waits for what the workers make of them, and checks that
nothing is lost, torn or left over.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import django

os.environ["DJANGO_SETTINGS_MODULE"] = "tunerweb.settings"
django.setup()

from django.conf import settings  # noqa: E402
from django.db import connection  # noqa: E402
from django.db.models import Count  # noqa: E402

from sweeps import actions  # noqa: E402
from sweeps.inspecting import describe  # noqa: E402
from sweeps.models import Compilation, SourceModel, Sweep, Toolchain, Trial  # noqa: E402
from sweeps.models.sources import SourceFile  # noqa: E402
from sweeps.specs import SweepSpec  # noqa: E402
from tests import device_commands  # noqa: E402
from tests.conftest import DATA  # noqa: E402
from tests.people import someone  # noqa: E402
from tunerweb.work import scratch  # noqa: E402
from tunerweb.work.artifacts import drop_unreferenced, keep, server_store  # noqa: E402
from tunerweb.work.child import Limits  # noqa: E402
from tunerweb.work.leases import LIVE, REUSABLE, WorkState  # noqa: E402
from tunerweb.work.models import Artifact  # noqa: E402
from tunerweb.work.store import sha256_of  # noqa: E402

STEP_S = 0.02
SOC = "SM8650"
GOLDEN = json.loads((DATA / "golden_sizes.json").read_text())["models"]
GOLDEN_TARGET = "57"
descriptions: dict[str, dict[str, Any]] = {}


def seed(file: str) -> int:
    """A person in a team of their own, which shares no results with others, and this model; its id."""
    path = DATA / file
    if file not in descriptions:
        descriptions[file] = describe([(file, path)], Limits(), lambda: False)
    description = descriptions[file]
    person = someone(f"person {os.getpid()} {time.monotonic_ns()}")
    artifact = keep(person.team, path)
    source: SourceModel = SourceModel.objects.create(
        team=person.team,
        owner=person,
        name=file,
        sha256=artifact.sha256,
        format=description["format"],
        size_bytes=artifact.size_bytes,
        description=description,
    )
    SourceFile.objects.create(source_model=source, name=file, artifact=artifact)
    return source.pk


def launch(model: int, **fields: Any) -> int:
    """As the form does; a toolchain may still be on its way to its row."""
    device_commands.until(Toolchain.objects.exists, 60.0, "no toolchain was reported")
    return int(actions.start_sweep(_spec(model, fields)).pk)


def _spec(model: int, fields: dict[str, Any]) -> SweepSpec:
    source = SourceModel.objects.get(pk=model)
    wanted = {"soc": SOC, "parallel_compiles": 8, **fields}
    return SweepSpec(team=source.team, owner=source.owner, source_model=source, **wanted)


def launch_at_once(model: int, count: int, **fields: Any) -> list[int]:
    """The same sweep from as many threads, all at the same moment."""
    barrier, made = threading.Barrier(count), []

    def one() -> None:
        spec = _spec(model, fields)
        barrier.wait()
        made.append(int(actions.start_sweep(spec).pk))
        connection.close()

    threads = [threading.Thread(target=one) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return made


def trials(sweep: int) -> list[dict[str, Any]]:
    return [_shown(each) for each in Sweep.objects.get(pk=sweep).trials.with_work()]


def _shown(trial: Trial) -> dict[str, Any]:
    names = ("attempts", "crashes", "rescues", "fence", "worker", "phase", "reason", "rom_bytes")
    work: Compilation = trial.compilation
    return {
        "label": trial.label,
        "state": str(trial.state),
        "compilation": work.pk,
        "log": server_store().read(work.log.sha256).decode() if work.log else "",
        **{name: getattr(work, name) for name in names},
    }


def until_running(sweep: int, phase: str = "", timeout_s: float = 60.0) -> list[list[int]]:
    """Its running rows with their fences; with `phase`, once a child says that it is there. Empty: it is over."""
    running = _rows(sweep).filter(state=WorkState.RUNNING, phase__startswith=phase)
    device_commands.until(lambda: running.exists() or is_finished(sweep), timeout_s, "nothing ran")
    return [list(row) for row in running.values_list("pk", "fence")]


def until_recovered(rows: list[list[int]], since: float, timeout_s: float) -> float:
    """Seconds from a moment of the monotonic clock until each row was claimed again, or ended. -1: some never were."""
    left: dict[int, int] = dict(rows)

    def is_recovered() -> bool:
        for pk, state, fence in Compilation.objects.filter(pk__in=left).values_list("pk", "state", "fence"):
            if state not in LIVE or fence > left[pk]:
                del left[pk]
        return not left

    try:
        device_commands.until(is_recovered, timeout_s, "")
    except TimeoutError:
        return -1.0
    return time.monotonic() - since


def until_finished(sweep: int, timeout_s: float = 60.0) -> bool:
    try:
        device_commands.until(lambda: is_finished(sweep), timeout_s, "")
    except TimeoutError:
        return False
    return True


def until_settled(sweep: int, timeout_s: float = 60.0) -> bool:
    """None of its work is queued or runs, which may take a moment longer than its own end."""
    live = _rows(sweep).filter(state__in=LIVE)
    try:
        device_commands.until(lambda: not live.exists(), timeout_s, "")
    except TimeoutError:
        return False
    return True


def is_finished(sweep: int) -> bool:
    return Sweep.objects.filter(pk=sweep, finished_at__isnull=False).exists()


def cancel(sweep: int) -> None:
    actions.cancel_sweep(Sweep.objects.get(pk=sweep))


def retry(sweep: int) -> int:
    return actions.retry_failed(Sweep.objects.get(pk=sweep))


def faults_of(sweep: int) -> list[str]:
    """What is wrong with a sweep that should have ended well, as sentences."""
    broken = [] if is_finished(sweep) else ["the sweep is not finished"]
    for trial in Sweep.objects.get(pk=sweep).trials.with_work():
        broken += [f"{trial.label} {what}" for what in _faults_of_trial(trial)]
    twice = Compilation.objects.filter(state__in=REUSABLE).order_by().values("team", "key")
    if twice.annotate(rows=Count("pk")).filter(rows__gt=1).exists():
        broken.append("the same work has two rows")
    return broken


def _faults_of_trial(trial: Trial) -> list[str]:
    row: Compilation = trial.compilation
    if trial.state != WorkState.DONE:
        return [f"is {trial.state}: {row.reason}"]
    broken = []
    if row.crashes:
        broken.append(f"has {row.crashes} crashes")
    if row.attempts < 1 or row.attempts > row.fence:
        broken.append(f"has {row.attempts} attempts with fence {row.fence}")
    if row.lease_until is not None or row.worker:
        broken.append("still has a lease")
    return broken + _faults_of_binary(row)


def _faults_of_binary(row: Compilation) -> list[str]:
    if row.binary is None:
        return ["has no binary"]
    path = server_store().path(row.binary.sha256)
    if not path.exists() or sha256_of(path) != row.binary.sha256:
        return ["has a torn binary"]
    golden = GOLDEN.get(Path(row.source_model.name).stem, {}).get(GOLDEN_TARGET, {}).get(str(row.p_value))
    if golden is None or row.as_given:
        return []
    same = row.binary.sha256.startswith(golden["sha256_prefix"]) and row.rom_bytes == golden["rom_bytes"]
    return [] if same else [f"is {row.rom_bytes} bytes of another program"]


def leftovers() -> list[str]:
    """What lies around once nobody works, after the tidying that the reconciler does now and then was done now."""
    drop_unreferenced(timedelta(0))
    scratch.UNNAMED_S = 0.0
    scratch.remove_abandoned(settings.ENVIRONMENT.scratch)
    broken = [f"{path} was left" for path in settings.ENVIRONMENT.scratch.iterdir()]
    store = server_store()
    broken += [f"{path} was left" for path in (store.root / "incoming").glob("*")]
    broken += [f"{sha256} is torn" for sha256 in store.hashes() if sha256_of(store.path(sha256)) != sha256]
    named = set(Artifact.objects.values_list("sha256", flat=True))
    broken += [f"{sha256} belongs to nobody" for sha256 in store.hashes() if sha256 not in named]
    broken += [f"{sha256} is lost" for sha256 in named if not store.contains(sha256)]
    running = Compilation.objects.filter(state=WorkState.RUNNING)
    return broken + [f"{row} runs without anybody" for row in running]


def held_by(worker: str) -> list[list[int]]:
    """The running rows, with their fences, of a worker that the supervisor knows by this name."""
    held = Compilation.objects.filter(state=WorkState.RUNNING, worker__startswith=f"{worker}-")
    return [list(row) for row in held.values_list("pk", "fence")]


def lease_s() -> float:
    return float(settings.LEASE_S)


def flush_broker() -> None:
    from tunerweb.work.hints import queue_named

    queue_named("compile").connection.flushall()


def _rows(sweep: int) -> Any:
    return Compilation.objects.filter(trials__sweep=sweep).distinct()


COMMANDS: dict[str, Callable[..., Any]] = {
    each.__name__: each
    for each in (
        *(seed, launch, launch_at_once, trials, until_running, until_recovered, until_finished, until_settled),
        *(is_finished, cancel, retry, faults_of, leftovers, held_by, lease_s, flush_broker),
        *device_commands.COMMANDS,
    )
}


def main() -> None:
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer: dict[str, Any] = {"value": COMMANDS[request.pop("do")](**request)}
        except Exception:
            answer = {"error": traceback.format_exc()}
        # The next request may come after the database was away.
        connection.close()
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
