"""Sweeps in the test database, made of what a real compiler said once (`tests/data/sample_sweep.json`)."""

from __future__ import annotations

import hashlib
import json
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

from django.utils import timezone

from sweeps.configs import HtpConfig
from sweeps.headlines import headline_of
from sweeps.keys import compilation_key
from sweeps.models import Compilation, CompileConfig, ConfigVersion, SourceModel, Sweep, Toolchain, Trial, TrialKind
from sweeps.toolchain.base import CompileResult
from tunerweb.accounts.models import Team, User, new_public_id
from tunerweb.work.artifacts import server_store
from tunerweb.work.leases import WorkState
from tunerweb.work.models import Artifact

RECORD = Path(__file__).parents[1] / "data" / "sample_sweep.json"
METRICS = ("rom_bytes", "ram_bytes", "dram_bytes", "simulated_cycles")
NO_RESULT: dict[str, Any] = dict.fromkeys(("result", "binary", "log", "finished_at", "wall_us", *METRICS))


@cache
def sample() -> dict[str, Any]:
    recorded: dict[str, Any] = json.loads(RECORD.read_text(encoding="utf-8"))
    return recorded


def stored_toolchain() -> Toolchain:
    row, _ = Toolchain.objects.get_or_create(converter="onnxruntime 1.23", **sample()["identity"])
    return row


def stored_model(owner: User, name: str = "sample_detector", sha256: str = "5a" * 32) -> SourceModel:
    graphs = [{"name": graph["graph_name"]} for graph in sample()["points"][0]["result"]["graphs"]]
    row, _ = SourceModel.objects.get_or_create(
        team=owner.team,
        sha256=sha256,
        defaults={
            "owner": owner,
            "name": name,
            "format": "dlc",
            "size_bytes": 780_712,
            "precision": "INT8",
            "description": {"format": "dlc", "graphs": graphs, "free_dimensions": []},
        },
    )
    return row


def stored_config(owner: User, name: str = "default 8 MB") -> ConfigVersion:
    config = CompileConfig.objects.create(team=owner.team, owner=owner, name=name)
    text = json.dumps(sample()["config"], indent=2)
    return ConfigVersion.objects.create(
        config=config, number=1, text=text, soc_model=sample()["soc_model"], created_by=owner
    )


def stored_sweep(owner: User, most_trials: int | None = None, **fields: Any) -> Sweep:
    """Finished: P=0, the config as given and every P value of the record, or the first of them."""
    now = timezone.now()
    sweep = Sweep.objects.create(
        **{
            "team": owner.team,
            "owner": owner,
            "name": "sample_detector on SM8650",
            "source_model": stored_model(owner),
            "config_version": stored_config(owner),
            "soc_model": sample()["soc_model"],
            "toolchain": stored_toolchain(),
            "left_out": sample()["left_out"],
            "parallel_compiles": 2,
            "created_at": now - timedelta(hours=2),
            "finished_at": now - timedelta(hours=2) + timedelta(seconds=9.1),
            **fields,
        }
    )
    _add_trials(sweep, most_trials)
    Sweep.objects.filter(pk=sweep.pk).update(headline=headline_of(sweep))
    sweep.refresh_from_db()
    return sweep


def trial_of(sweep: Sweep, label: str) -> Trial:
    """By its label: `P=3`, `as given`."""
    found: Trial = next(trial for trial in sweep.trials.with_work() if trial.label == label)
    return found


def change(trial: Trial, state: WorkState, **fields: Any) -> None:
    """Another end, or another state on the way: without a result unless it is done."""
    without = {} if state == WorkState.DONE else NO_RESULT
    started = {"started_at": None} if state == WorkState.QUEUED else {}
    Compilation.objects.filter(pk=trial.compilation_id).update(**{**without, **started, "state": state, **fields})


def reopened(sweep: Sweep, *queued: str) -> Sweep:
    """Not finished yet; the trials of these labels still wait."""
    for label in queued:
        change(trial_of(sweep, label), WorkState.QUEUED)
    Sweep.objects.filter(pk=sweep.pk).update(finished_at=None, headline="")
    sweep.refresh_from_db()
    return sweep


def _add_trials(sweep: Sweep, most: int | None) -> None:
    points = {_key(sweep, row["point"]): row for row in sample()["points"][:most]}
    known = {row.key: row for row in Compilation.objects.filter(team=sweep.team, key__in=points, state=WorkState.DONE)}
    new = {key: row for key, row in points.items() if key not in known}
    files = _kept(sweep.team, [content for key, row in new.items() for content in (_binary(key), _log(row))])
    made = Compilation.objects.bulk_create(_compilation(sweep, key, row, files) for key, row in new.items())
    there = known | {row.key: row for row in made}
    Trial.objects.bulk_create(
        Trial(
            team=sweep.team,
            owner=sweep.owner,
            sweep=sweep,
            position=position,
            kind=_kind(row["point"]),
            p_value=row["point"].get("p_value"),
            compilation=there[key],
            from_store=key in known,
            created_at=sweep.created_at,
        )
        for position, (key, row) in enumerate(points.items())
    )


def _key(sweep: Sweep, point: dict[str, Any]) -> str:
    config = HtpConfig.from_json(point["config"])
    return compilation_key(sweep.source_model.sha256, None, config, sweep.target, str(sweep.toolchain))


def _kind(point: dict[str, Any]) -> TrialKind:
    if point["as_given"]:
        return TrialKind.AS_GIVEN
    return TrialKind.P_VALUE if point["p_value"] else TrialKind.BASELINE


def _binary(key: str) -> bytes:
    return f"the context binary of {key}".encode()


def _log(row: dict[str, Any]) -> bytes:
    return "\n".join([*row["log_tail"], f"P={row['point'].get('p_value')}"]).encode()


def _kept(team: Team, contents: list[bytes]) -> dict[bytes, Artifact]:
    """Written once in a test run: syncing to the disk is slow."""
    names = {content: hashlib.sha256(content).hexdigest() for content in contents}
    for content, sha256 in names.items():
        if not _is_whole(server_store().path(sha256), content):
            server_store().put(content)
    new = [Artifact(team=team, sha256=sha256, size_bytes=len(content)) for content, sha256 in names.items()]
    Artifact.objects.bulk_create(new, ignore_conflicts=True)
    there = {row.sha256: row for row in Artifact.objects.filter(team=team, sha256__in=names.values())}
    return {content: there[sha256] for content, sha256 in names.items()}


def _is_whole(path: Path, content: bytes) -> bool:
    """Another test may have damaged it."""
    return path.is_file() and path.read_bytes() == content


def _compilation(sweep: Sweep, key: str, row: dict[str, Any], files: dict[bytes, Artifact]) -> Compilation:
    point, started_at, binary = row["point"], sweep.created_at + timedelta(seconds=0.1), files[_binary(key)]
    said = row["result"] | {"sha256": binary.sha256}
    result = CompileResult.model_validate_json(json.dumps({**said, "binary": "", "log": ""}))
    return Compilation(
        team=sweep.team,
        owner=sweep.owner,
        key=key,
        source_model=sweep.source_model,
        soc_model=sweep.soc_model,
        toolchain=sweep.toolchain,
        state=WorkState.DONE,
        config=point["config"],
        p_value=point.get("p_value"),
        as_given=point["as_given"],
        result={"config": point["config"], "compile": said},
        binary=binary,
        log=files[_log(row)],
        attempts=1,
        started_at=started_at,
        finished_at=started_at + timedelta(microseconds=result.wall_us),
        rom_bytes=result.rom_bytes,
        ram_bytes=result.footprint.ram_bytes if result.footprint else None,
        dram_bytes=result.traffic.total_bytes if result.traffic else None,
        simulated_cycles=result.simulated_cycles,
        wall_us=result.wall_us,
        cpu_us=result.cpu_us,
        peak_memory_bytes=result.peak_memory_bytes,
    )


def large_sweep(owner: User, count: int, **fields: Any) -> Sweep:
    """Finished, with so many trials of the sample's results: more than there are P values, as other knobs will give."""
    sweep = stored_sweep(owner, **fields)
    trials = list(sweep.trials.with_work())
    done = [trial.compilation for trial in trials if trial.p_value is not None]
    copies = [_copy(done[number % len(done)], number) for number in range(count - len(trials))]
    made = Compilation.objects.bulk_create(copies)
    Trial.objects.bulk_create(
        Trial(
            team=sweep.team,
            owner=owner,
            sweep=sweep,
            position=len(trials) + number,
            kind=TrialKind.P_VALUE,
            p_value=24 + number,
            compilation=compilation,
        )
        for number, compilation in enumerate(made)
    )
    return sweep


def _copy(compilation: Compilation, number: int) -> Compilation:
    """Another point, a little larger than the last."""
    values = {field.attname: getattr(compilation, field.attname) for field in Compilation._meta.concrete_fields}
    rom_bytes = values["rom_bytes"] + number
    result = values["result"] | {"compile": values["result"]["compile"] | {"rom_bytes": rom_bytes}}
    names = {"id": None, "public_id": new_public_id(), "key": f"{compilation.pk:032x}{number:032x}"}
    return Compilation(**{**values, **names, "rom_bytes": rom_bytes, "result": result})
