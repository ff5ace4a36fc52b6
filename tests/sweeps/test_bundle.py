from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from sweeps.ranking import TrialOutcome
from sweeps.reports import BundleFile, bundle_files, remove_stale, size_report, write_bundle
from tests.sweeps.factories import SM8650, failed_trial, given_trial, trial


@pytest.fixture
def binaries(tmp_path: Path) -> Path:
    (tmp_path / "binaries").mkdir()
    return tmp_path / "binaries"


@pytest.fixture
def out(tmp_path: Path) -> Path:
    (tmp_path / "out").mkdir()
    return tmp_path / "out"


def kept(outcome: TrialOutcome, folder: Path) -> TrialOutcome:
    """The same trial with a binary that is there; its content is the trial's label."""
    assert outcome.result
    binary = folder / f"{outcome.label}.bin"
    binary.write_text(outcome.label)
    return dataclasses.replace(outcome, result=outcome.result.model_copy(update={"binary": binary}))


def files_of(*trials: TrialOutcome, k: int = 1, **options: Any) -> dict[str, BundleFile]:
    report = size_report(trials, k, SM8650)
    return {file.name: file for file in bundle_files(trials, k, report, SM8650, **options)}


def json_of(file: BundleFile) -> Any:
    assert isinstance(file.source, bytes)
    return json.loads(file.source)


def test_a_bundle_holds_the_best_by_rom_and_ram_and_the_config_as_given() -> None:
    assert list(files_of(trial(0), given_trial())) == [
        "rom_optimized_context_binary.bin",
        "rom_optimized_config.json",
        "rom_optimized_wrapper.json",
        "ram_optimized_context_binary.bin",
        "ram_optimized_config.json",
        "ram_optimized_wrapper.json",
        "as_given_context_binary.bin",
        "as_given_config.json",
        "as_given_wrapper.json",
        "size_report.json",
    ]


def test_further_ranks_have_their_number_in_the_name() -> None:
    names = files_of(trial(0), trial(1), trial(2), k=2)
    assert "rom_optimized_rank2_context_binary.bin" in names
    assert "ram_optimized_rank2_config.json" in names
    assert not any("rank3" in name or "rank1" in name for name in names)


def test_the_config_in_the_bundle_is_the_one_that_was_compiled() -> None:
    best = trial(5, rom=1)
    files = files_of(trial(0), best)
    assert json_of(files["rom_optimized_config.json"]) == best.point.config.to_json()


def test_the_wrapper_points_to_the_config_beside_it() -> None:
    files = files_of(trial(0), trial(1), k=2)
    assert json_of(files["ram_optimized_rank2_wrapper.json"]) == {
        "backend_extensions": {
            "shared_library_path": "libQnnHtpNetRunExtensions.so",
            "config_file_path": "ram_optimized_rank2_config.json",
        }
    }


def test_a_config_as_given_that_failed_is_not_in_the_bundle() -> None:
    assert not any(name.startswith("as_given") for name in files_of(trial(0), failed_trial(None, as_given=True)))


def test_a_converted_model_is_in_the_bundle(tmp_path: Path) -> None:
    assert files_of(trial(0), converted_dlc=tmp_path / "x.dlc")["converted_model.dlc"].source == tmp_path / "x.dlc"


def test_the_report_is_last_and_names_the_files() -> None:
    files = files_of(trial(0))
    assert json_of(list(files.values())[-1])["files"] == list(files)


def test_nothing_compiled_leaves_the_report_alone() -> None:
    assert list(files_of(failed_trial(0))) == ["size_report.json"]


def test_refuses_k_below_one() -> None:
    with pytest.raises(ValueError, match="k is 0"):
        bundle_files([trial(0)], 0, {}, SM8650)


def test_a_written_bundle_holds_the_binaries_themselves(binaries: Path, out: Path) -> None:
    trials = kept(trial(0, rom=9, ram=1), binaries), kept(trial(5, rom=1, ram=9), binaries)
    write_bundle(out, list(files_of(*trials).values()))
    assert (out / "rom_optimized_context_binary.bin").read_text() == "P=5"
    assert (out / "ram_optimized_context_binary.bin").read_text() == "P=0"


def test_what_an_earlier_sweep_wrote_is_removed(binaries: Path, out: Path) -> None:
    trials = kept(trial(0), binaries), kept(trial(1), binaries), kept(given_trial(), binaries)
    dlc = binaries / "converted.dlc"
    dlc.write_bytes(b"dlc")
    write_bundle(out, list(files_of(*trials, k=2, converted_dlc=dlc).values()))
    remove_stale(out)
    assert list(out.iterdir()) == []


def test_what_the_new_sweep_reads_stays(binaries: Path, out: Path) -> None:
    dlc = binaries / "converted.dlc"
    dlc.write_bytes(b"dlc")
    write_bundle(out, list(files_of(kept(trial(0), binaries), converted_dlc=dlc).values()))
    inputs = [out / "converted_model.dlc", out / "sub" / ".." / "rom_optimized_config.json"]
    (out / "sub").mkdir()
    remove_stale(out, keep=inputs)
    assert sorted(path.name for path in out.iterdir()) == ["converted_model.dlc", "rom_optimized_config.json", "sub"]


def test_the_report_is_the_first_to_go(binaries: Path, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_bundle(out, list(files_of(kept(trial(0), binaries)).values()))
    removed: list[str] = []
    monkeypatch.setattr(Path, "unlink", lambda path, missing_ok=False: removed.append(path.name))
    remove_stale(out)
    assert removed[0] == "size_report.json"


def test_a_bundle_that_cannot_be_written_leaves_no_part_of_itself(out: Path) -> None:
    (out / "kept_config.json").write_text("old")
    missing = BundleFile("rom_optimized_context_binary.bin", out / "missing")
    files = [BundleFile("kept_config.json", b"new"), BundleFile("as_given_config.json", b"{}"), missing]
    with pytest.raises(FileNotFoundError):
        write_bundle(out, files)
    assert [path.name for path in out.iterdir()] == ["kept_config.json"]


def test_what_a_killed_process_left_is_removed(out: Path) -> None:
    (out / ".tunerweb-0011223344556677.partial").touch()
    remove_stale(out)
    assert list(out.iterdir()) == []


def test_other_files_stay(out: Path) -> None:
    names = ["model.onnx", "notes.txt", "my_rom_optimized_config.json", "as_given.txt"]
    for name in names:
        (out / name).touch()
    remove_stale(out)
    assert sorted(path.name for path in out.iterdir()) == sorted(names)


@pytest.mark.parametrize("report", [None, b"", b"[]", b"\xff", b'{"files": 3}', b'{"files": ["size_report.json"]}'])
def test_a_model_of_the_users_own_stays(out: Path, report: bytes | None) -> None:
    (out / "converted_model.dlc").touch()
    if report is not None:
        (out / "size_report.json").write_bytes(report)
    remove_stale(out)
    assert [path.name for path in out.iterdir()] == ["converted_model.dlc"]


def test_a_folder_of_a_stale_name_stays(out: Path) -> None:
    (out / "rom_optimized_runs").mkdir()
    remove_stale(out)
    assert (out / "rom_optimized_runs").is_dir()


def test_a_folder_that_is_not_there_has_nothing_stale(tmp_path: Path) -> None:
    remove_stale(tmp_path / "missing")
    assert not (tmp_path / "missing").exists()
