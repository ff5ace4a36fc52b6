"""The files of a size sweep: the best binaries, each with the config that made it, and the report."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from devices.targets import Target
from sweeps.ranking import Metric, TrialOutcome, as_given_of, best_p_points
from tunerweb.work.files import publish, remove_partials

REPORT_FILE = "size_report.json"
DLC_FILE = "converted_model.dlc"
RUN_EXTENSIONS = "libQnnHtpNetRunExtensions.so"
# The report first: it stands for a complete bundle, also when the removal ends in the middle.
STALE = (REPORT_FILE, "rom_optimized*", "ram_optimized*", "as_given_*")


@dataclass(frozen=True)
class BundleFile:
    name: str
    source: Path | bytes


def bundle_files(
    trials: Sequence[TrialOutcome],
    k: int,
    report: Mapping[str, Any],
    target: Target,
    *,
    converted_dlc: Path | None = None,
) -> tuple[BundleFile, ...]:
    """The k best P points by ROM and by RAM, the config as given, the converted model, and the report as the last.

    The report gets one more key, `files`: all names of the bundle. Raises ValueError for k < 1.
    """
    files = [*_optimized(trials, Metric.ROM, k, target), *_optimized(trials, Metric.RAM, k, target)]
    if given := as_given_of(trials):
        files += trial_files("as_given", given)
    if converted_dlc:
        files.append(BundleFile(DLC_FILE, converted_dlc))
    names = [*(file.name for file in files), REPORT_FILE]
    return (*files, BundleFile(REPORT_FILE, _json_bytes({**report, "files": names})))


def write_bundle(folder: Path, files: Sequence[BundleFile]) -> None:
    """Each file whole or not at all, the report last: with it the bundle is complete.

    Raises OSError, and then leaves no new file: a part of a bundle would be taken for a result.
    """
    written: list[Path] = []
    try:
        for file in files:
            path = folder / file.name
            is_new = not path.exists()
            publish(path, file.source)
            written += [path] if is_new else []
    except BaseException:
        for path in written:
            path.unlink(missing_ok=True)
        raise


def remove_stale(folder: Path, *, keep: Collection[Path] = ()) -> None:
    """Remove what an earlier sweep left in the folder; a `converted_model.dlc` only if that sweep's report names it.

    `keep` holds what the new sweep reads: an exported model or config may be given back from this very folder.
    """
    kept = {path.resolve() for path in keep}
    ours = DLC_FILE in _names_in_report(folder / REPORT_FILE)
    stale = [path for pattern in STALE for path in folder.glob(pattern)]
    for path in [*stale, *([folder / DLC_FILE] if ours else [])]:
        if (path.is_file() or path.is_symlink()) and path.resolve() not in kept:
            path.unlink()
    remove_partials(folder)


def _optimized(trials: Sequence[TrialOutcome], metric: Metric, k: int, target: Target) -> Iterator[BundleFile]:
    for rank, trial in enumerate(best_p_points(trials, metric, k, target), start=1):
        stem = f"{metric}_optimized" if rank == 1 else f"{metric}_optimized_rank{rank}"
        yield from trial_files(stem, trial)


def trial_files(stem: str, trial: TrialOutcome) -> Iterator[BundleFile]:
    """The binary, the config that made it, and the wrapper that names the config; none without a result."""
    if trial.result is None:
        return
    config = f"{stem}_config.json"
    # One wrapper per config, naming it without a folder: any pair can be taken out of the bundle and moved. Qualcomm's
    # tools look for that name in their working directory, so they are started where the pair lies.
    extensions = {"shared_library_path": RUN_EXTENSIONS, "config_file_path": config}
    yield BundleFile(f"{stem}_context_binary.bin", trial.result.binary)
    yield BundleFile(config, _json_bytes(trial.point.config.to_json()))
    yield BundleFile(f"{stem}_wrapper.json", _json_bytes({"backend_extensions": extensions}))


def _json_bytes(value: Mapping[str, Any]) -> bytes:
    return (json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()


def _names_in_report(path: Path) -> list[Any]:
    """Empty for a report that another tool wrote, or that cannot be read."""
    try:
        names = json.loads(path.read_bytes())["files"]
    except (OSError, ValueError, KeyError, TypeError):
        return []
    return names if isinstance(names, list) else []
