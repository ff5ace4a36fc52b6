"""What a sweep hands out to keep: the report, a table, the bundle, and the files of each trial.

Nothing is read from the store unverified: a damaged file is told before the first byte, or ends the download early.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.db.models import QuerySet
from django.utils.text import slugify
from zipstream import ZipStream

from sweeps.models import Conversion, Sweep, Trial, TrialKind, TrialState
from sweeps.outcomes import outcome_of, outcomes_of
from sweeps.planning import is_onnx
from sweeps.ranking import TrialOutcome
from sweeps.reports import BundleFile, about_sweep, bundle_files, csv_rows, size_report
from sweeps.reports.bundle import DLC_FILE, trial_files
from sweeps.toolchain.base import ToolchainIdentity
from tunerweb.work.artifacts import server_store
from tunerweb.work.models import Artifact
from tunerweb.work.store import MIB, StoreDamaged

# What is read twice, so that damage is told in a sentence and not by a broken download.
CHECKED_BEFORE_BYTES = 64 * MIB
LONGEST_STEM = 80
JSON_TYPE, CSV_TYPE, ZIP_TYPE = "application/json", "text/csv; charset=utf-8", "application/zip"
BINARY_TYPE, TEXT_TYPE = "application/octet-stream", "text/plain; charset=utf-8"
LOG_FILE = "log.txt"


@dataclass(frozen=True)
class Download:
    name: str
    content_type: str
    size_bytes: int
    chunks: Iterable[bytes]


class NotThere(Exception):
    """There is nothing to hand out. The parts are sentences for the person who asked."""

    def __init__(self, what: str, why: str, next_step: str) -> None:
        super().__init__(f"{what} {why} {next_step}")
        self.what, self.why, self.next_step = what, why, next_step


class NotFinished(NotThere):
    def __init__(self) -> None:
        super().__init__(
            "This sweep is not finished.",
            "Which binary is the best is known when all its trials have ended.",
            "Come back then, or download the trials as CSV, or the files of one trial that is done.",
        )


class FileLost(NotThere):
    def __init__(self, name: str, how: str) -> None:
        super().__init__(
            f"{name} cannot be downloaded.",
            how,
            "Check the server's disk. Then delete the sweeps that use this result and launch again: "
            "it is compiled anew.",
        )


MISSING = "Its file is not in the server's store any more."
DAMAGED = "Its file in the server's store is damaged: the content is not what was stored."


def size_report_download(sweep: Sweep) -> Download:
    """As the bundle has it, and as the command line writes it."""
    report = _bundle_of(sweep)[-1]
    return _of_bytes(report.name, JSON_TYPE, _bytes_of(report))


def csv_download(sweep: Sweep) -> Download:
    """At any time: a trial that has not ended says so."""
    text = io.StringIO()
    csv.writer(text).writerows(csv_rows(outcomes_of(sweep), sweep.target))
    return _of_bytes(f"{stem_of(sweep)}_trials.csv", CSV_TYPE, text.getvalue().encode())


def bundle_download(sweep: Sweep) -> Download:
    """A zip of stored files, so that its size is known before it is made."""
    files = _bundle_of(sweep)
    _check([file.source for file in files if isinstance(file.source, Path)])
    zipped = ZipStream(sized=True)
    for file in files:
        if isinstance(file.source, bytes):
            zipped.add(file.source, file.name)
        else:
            sha256 = file.source.name
            zipped.add(server_store().stream(sha256), file.name, size=server_store().size_bytes(sha256))
    return Download(f"{stem_of(sweep)}.zip", ZIP_TYPE, len(zipped), zipped)


def bundle_names(sweep: Sweep) -> list[str]:
    return [file.name for file in _bundle_of(sweep)]


def bundle_file_download(sweep: Sweep, name: str) -> Download | None:
    """One file of the bundle; None when it has no file of that name."""
    file = next((file for file in _bundle_of(sweep) if file.name == name), None)
    return _of_file(file, name) if file else None


def trials_with_files() -> QuerySet[Trial]:
    rows: QuerySet[Trial] = Trial.objects.with_work().select_related("compilation__log", "compilation__conversion__dlc")
    return rows


def trial_file_names(trial: Trial) -> list[str]:
    names = list(_trial_files(trial))
    names += [LOG_FILE] if trial.compilation.log_id else []
    return names + ([DLC_FILE] if _dlc_of(trial.compilation.conversion) else [])


def trial_download(trial: Trial, name: str) -> Download | None:
    """None when the trial has no such file. The name that it is saved under tells the trials apart."""
    stem = stem_of_trial(trial)
    if file := _trial_files(trial).get(name):
        return _of_file(file, file.name)
    if name == LOG_FILE and trial.compilation.log:
        return _of_artifact(trial.compilation.log, f"{stem}_log.txt", TEXT_TYPE)
    dlc = _dlc_of(trial.compilation.conversion)
    return _of_artifact(dlc, DLC_FILE, BINARY_TYPE) if name == DLC_FILE and dlc else None


def report_of(sweep: Sweep, trials: Sequence[TrialOutcome]) -> dict[str, Any]:
    invalid = {int(p_value): reason for p_value, reason in sweep.left_out.items()}
    return size_report(trials, sweep.top_k, sweep.target, invalid=invalid, about=_about(sweep, trials))


def stem_of(sweep: Sweep) -> str:
    """A file name of letters, digits and underscores."""
    return slugify(sweep.name)[:LONGEST_STEM].replace("-", "_").strip("_") or f"sweep_{sweep.public_id}"


def stem_of_trial(trial: Trial) -> str:
    return "as_given" if trial.kind == TrialKind.AS_GIVEN else f"p{trial.p_value}"


def _bundle_of(sweep: Sweep) -> tuple[BundleFile, ...]:
    if sweep.finished_at is None:
        raise NotFinished
    trials = outcomes_of(sweep)
    dlc = _converted(sweep)
    path = server_store().path(dlc.sha256) if dlc else None
    return bundle_files(trials, sweep.top_k, report_of(sweep, trials), sweep.target, converted_dlc=path)


def _about(sweep: Sweep, trials: Sequence[TrialOutcome]) -> Mapping[str, Any]:
    source, toolchain = sweep.source_model, sweep.toolchain
    converted = is_onnx(source)
    graphs = source.description.get("graphs") or [{"name": ""}]
    return about_sweep(
        model_sha256=source.sha256,
        model_name=graphs[0]["name"] if converted else None,
        converter=toolchain.converter if converted else None,
        target=sweep.target,
        identity=ToolchainIdentity(
            name=toolchain.name, package_version=toolchain.package_version, build_id=toolchain.build_id
        ),
        trials=trials,
    )


def _converted(sweep: Sweep) -> Artifact | None:
    """The DLC that the sweep's binaries were made of, when the model had to be converted."""
    made = Conversion.objects.filter(compilations__trials__sweep=sweep, dlc__isnull=False).select_related("dlc")
    return _dlc_of(made.order_by("-pk").first())


def _dlc_of(conversion: Conversion | None) -> Artifact | None:
    dlc: Artifact | None = conversion.dlc if conversion else None
    return dlc


def _trial_files(trial: Trial) -> dict[str, BundleFile]:
    """By the name in the address: without the stem that tells trials apart."""
    if trial.state != TrialState.DONE:
        return {}
    stem = stem_of_trial(trial)
    return {file.name.removeprefix(f"{stem}_"): file for file in trial_files(stem, outcome_of(trial))}


def _of_file(file: BundleFile, name: str) -> Download:
    if isinstance(file.source, bytes):
        return _of_bytes(name, JSON_TYPE, file.source)
    _check([file.source])
    return _of_store(file.source.name, name, BINARY_TYPE)


def _of_artifact(artifact: Artifact, name: str, content_type: str) -> Download:
    _check([server_store().path(artifact.sha256)])
    return _of_store(artifact.sha256, name, content_type)


def _of_store(sha256: str, name: str, content_type: str) -> Download:
    store = server_store()
    return Download(name, content_type, store.size_bytes(sha256), store.stream(sha256))


def _of_bytes(name: str, content_type: str, content: bytes) -> Download:
    return Download(name, content_type, len(content), [content])


def _bytes_of(file: BundleFile) -> bytes:
    if not isinstance(file.source, bytes):
        raise TypeError(f"{file.name} is a file in the store.")
    return file.source


def _check(paths: Sequence[Path]) -> None:
    """Raise `FileLost`. What is small is read once before; of the rest it is known at least that it is there."""
    known_bytes = dict(
        Artifact.objects.filter(sha256__in=[path.name for path in paths]).values_list("sha256", "size_bytes")
    )
    for path in paths:
        try:
            size_bytes = path.stat().st_size
        except FileNotFoundError:
            raise FileLost(_shown(path), MISSING) from None
        if size_bytes != known_bytes.get(path.name, size_bytes):
            raise FileLost(_shown(path), DAMAGED)
    if sum(known_bytes.values()) <= CHECKED_BEFORE_BYTES:
        for path in paths:
            _read_through(path)


def _read_through(path: Path) -> None:
    chunks: Iterator[bytes] = server_store().stream(path.name)
    try:
        for _ in chunks:
            pass
    except StoreDamaged:
        raise FileLost(_shown(path), DAMAGED) from None


def _shown(path: Path) -> str:
    return f"The stored file {path.name[:12]}…"
