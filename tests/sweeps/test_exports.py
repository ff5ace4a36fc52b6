from __future__ import annotations

import csv
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from sweeps import exports
from sweeps.exports import Download, FileLost, NotFinished
from sweeps.inspecting import describe
from sweeps.jobs import register_toolchain
from sweeps.models import Conversion, SourceModel, Sweep
from sweeps.models.sources import SourceFile
from sweeps.reports import REPORT_FILE
from sweeps.tuner.size_sweep import Silent, SweepRequest, run_size_sweep
from tests.people import someone
from tests.sweeps.launching import launch, work
from tests.sweeps.stored import change, reopened, stored_sweep, trial_of
from tunerweb.accounts.models import User
from tunerweb.work.artifacts import keep, server_store
from tunerweb.work.child import Limits
from tunerweb.work.leases import WorkState
from tunerweb.work.store import StoreDamaged

DATA = Path(__file__).parents[1] / "data"
ENDS = ("context_binary.bin", "config.json", "wrapper.json")
BEST = "rom_optimized_context_binary.bin"

pytestmark = pytest.mark.django_db


@pytest.fixture
def sweep() -> Sweep:
    return stored_sweep(someone(), name="sample detector, release 3")


def content(download: Download) -> bytes:
    return b"".join(download.chunks)


def unzipped(sweep: Sweep) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content(exports.bundle_download(sweep)))) as bundle:
        assert bundle.testzip() is None
        return {name: bundle.read(name) for name in bundle.namelist()}


def best_binary(sweep: Sweep) -> Path:
    """The file in the store that comes first in the bundle."""
    report = json.loads(content(exports.size_report_download(sweep)))
    trial = trial_of(sweep, f"P={report['best_rom']['p_value']}")
    return server_store().path(trial.compilation.binary.sha256)


def test_the_bundle_has_the_documented_names(sweep: Sweep) -> None:
    pairs = [f"{stem}_{end}" for stem in ("rom_optimized", "ram_optimized", "as_given") for end in ENDS]
    assert list(unzipped(sweep)) == [*pairs, REPORT_FILE]


def test_further_ranks_are_in_the_bundle_as_the_sweep_asked(sweep: Sweep) -> None:
    sweep.top_k = 2
    assert "ram_optimized_rank2_context_binary.bin" in unzipped(sweep)


def test_the_size_of_the_bundle_is_known_before_it_is_made(sweep: Sweep) -> None:
    download = exports.bundle_download(sweep)
    assert len(content(download)) == download.size_bytes


def test_what_is_stored_in_the_bundle_is_not_compressed_again(sweep: Sweep) -> None:
    with zipfile.ZipFile(io.BytesIO(content(exports.bundle_download(sweep)))) as bundle:
        assert {info.compress_type for info in bundle.infolist()} == {zipfile.ZIP_STORED}


def test_a_binary_in_the_bundle_is_the_one_in_the_store(sweep: Sweep) -> None:
    assert unzipped(sweep)[BEST] == best_binary(sweep).read_bytes()


def test_the_report_alone_is_the_one_in_the_bundle(sweep: Sweep) -> None:
    assert content(exports.size_report_download(sweep)) == unzipped(sweep)[REPORT_FILE]


def test_the_report_says_what_was_left_out(sweep: Sweep) -> None:
    report = json.loads(content(exports.size_report_download(sweep)))
    assert "at least two cores" in report["per_p_errors"]["7"]


def test_the_table_has_a_line_for_each_trial(sweep: Sweep) -> None:
    rows = list(csv.reader(io.StringIO(content(exports.csv_download(sweep)).decode())))
    assert len(rows) == 1 + sweep.trials.count()


def test_the_table_is_there_while_the_sweep_runs(sweep: Sweep) -> None:
    running = reopened(sweep, "P=4")
    assert "It has not been compiled yet." in content(exports.csv_download(running)).decode()


@pytest.mark.parametrize("make", [exports.bundle_download, exports.size_report_download, exports.bundle_names])
def test_before_the_end_there_is_no_bundle(sweep: Sweep, make: Any) -> None:
    with pytest.raises(NotFinished, match="not finished"):
        make(reopened(sweep, "P=4"))


def test_a_sweep_in_which_nothing_compiled_has_a_report(sweep: Sweep) -> None:
    for trial in sweep.trials.with_work():
        change(trial, WorkState.FAILED, reason="The compiler crashed.")
    assert list(unzipped(sweep)) == [REPORT_FILE]


def test_a_model_that_was_converted_comes_as_it_was_compiled(sweep: Sweep) -> None:
    _converted(sweep)
    assert unzipped(sweep)["converted_model.dlc"] == b"a DLC"


def test_the_report_names_the_model_that_was_converted(sweep: Sweep) -> None:
    _converted(sweep)
    report = json.loads(content(exports.size_report_download(sweep)))
    assert report["model"]["converter"] == "onnxruntime 1.23"


def _converted(sweep: Sweep) -> None:
    SourceModel.objects.filter(pk=sweep.source_model_id).update(format="onnx")
    conversion = Conversion.objects.create(
        team=sweep.team,
        owner=sweep.owner,
        key="k",
        source_model=sweep.source_model,
        soc_model=sweep.soc_model,
        toolchain=sweep.toolchain,
        state=WorkState.DONE,
        dlc=keep(sweep.team, b"a DLC"),
    )
    for trial in sweep.trials.with_work():
        trial.compilation.conversion = conversion
        trial.compilation.save()
    sweep.refresh_from_db()


# What the disk lost


def test_a_file_that_is_gone_is_told(sweep: Sweep) -> None:
    best_binary(sweep).unlink()
    with pytest.raises(FileLost, match="not in the server's store any more"):
        exports.bundle_download(sweep)


def test_a_file_that_is_damaged_is_told(sweep: Sweep) -> None:
    path = best_binary(sweep)
    path.write_bytes(path.read_bytes()[::-1])
    with pytest.raises(FileLost, match="damaged"):
        exports.bundle_download(sweep)


def test_a_file_of_another_length_is_told_however_large(sweep: Sweep, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exports, "CHECKED_BEFORE_BYTES", 0)
    best_binary(sweep).write_bytes(b"short")
    with pytest.raises(FileLost, match="damaged"):
        exports.bundle_download(sweep)


def test_a_large_file_that_is_damaged_ends_the_download_early(sweep: Sweep, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exports, "CHECKED_BEFORE_BYTES", 0)
    path = best_binary(sweep)
    path.write_bytes(path.read_bytes()[::-1])
    with pytest.raises(StoreDamaged):
        content(exports.bundle_download(sweep))


# The files of one trial


def test_a_trial_hands_out_binary_config_wrapper_and_log(sweep: Sweep) -> None:
    trial = exports.trials_with_files().filter(sweep=sweep)[2]
    assert exports.trial_file_names(trial) == ["context_binary.bin", "config.json", "wrapper.json", "log.txt"]


def test_the_files_of_a_trial_are_saved_under_names_that_fit_together(sweep: Sweep) -> None:
    trial = exports.trials_with_files().filter(sweep=sweep).get(p_value=4)
    wrapper = exports.trial_download(trial, "wrapper.json")
    config = exports.trial_download(trial, "config.json")
    assert wrapper
    assert config
    assert json.loads(content(wrapper))["backend_extensions"]["config_file_path"] == config.name == "p4_config.json"


def test_the_config_as_given_is_saved_under_its_own_name(sweep: Sweep) -> None:
    trial = exports.trials_with_files().filter(sweep=sweep).get(kind="as_given")
    download = exports.trial_download(trial, "context_binary.bin")
    assert download
    assert download.name == "as_given_context_binary.bin"


def test_the_log_is_handed_out_whole(sweep: Sweep) -> None:
    trial = exports.trials_with_files().filter(sweep=sweep)[0]
    log = exports.trial_download(trial, "log.txt")
    assert log
    assert content(log) == server_store().read(trial.compilation.log.sha256)


def test_a_trial_without_a_result_has_no_binary(sweep: Sweep) -> None:
    change(trial_of(sweep, "P=4"), WorkState.FAILED)
    trial = exports.trials_with_files().filter(sweep=sweep).get(p_value=4)
    assert exports.trial_download(trial, "context_binary.bin") is None


def test_there_is_no_file_of_any_other_name(sweep: Sweep) -> None:
    trial = exports.trials_with_files().filter(sweep=sweep)[0]
    assert exports.trial_download(trial, "../secret.key") is None
    assert exports.bundle_file_download(sweep, "../secret.key") is None


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("Detector, release 3", "detector_release_3"),
        ("<script>", "script"),
        ('a"b\r\nc', "ab_c"),
        ("../../etc/passwd", "etcpasswd"),
        ("n" * 300, "n" * 80),
    ],
)
def test_files_are_named_after_the_sweep_in_plain_letters(sweep: Sweep, name: str, stem: str) -> None:
    sweep.name = name
    assert exports.stem_of(sweep) == stem


def test_a_name_without_plain_letters_is_replaced_by_the_id(sweep: Sweep) -> None:
    sweep.name = "検出器"
    assert exports.stem_of(sweep) == f"sweep_{sweep.public_id}"


# The same as the command line, with the real compiler


def _uploaded(person: User, file: Path) -> SourceModel:
    description = describe([(file.name, file)], Limits())
    artifact = keep(person.team, file)
    source = SourceModel.objects.create(
        team=person.team,
        owner=person,
        name=file.name,
        sha256=description["sha256"],
        format=description["format"],
        size_bytes=file.stat().st_size,
        description=description,
    )
    SourceFile.objects.create(source_model=source, name=file.name, artifact=artifact)
    return source


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("model", ["small.dlc", "small.qdq.onnx"])
def test_the_bundle_is_that_of_the_command_line(model: str, tmp_path: Path) -> None:
    register_toolchain()
    person = someone()
    sweep = launch(person, _uploaded(person, DATA / model), p_values="0-1")
    work()
    sweep.refresh_from_db()
    ours = unzipped(sweep)
    request = SweepRequest(models=(DATA / model,), soc="SM8650", p_values="0-1", out=tmp_path)
    run_size_sweep(request, Silent())
    theirs = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert set(ours) == set(theirs)
    different = {name for name in ours if ours[name] != theirs[name]}
    # A converted DLC carries the time of its conversion, and the command line names the build inside the converter.
    assert different <= ({"converted_model.dlc", REPORT_FILE} if model.endswith(".onnx") else set())
    reports = [json.loads(files[REPORT_FILE]) for files in (ours, theirs)]
    for report in reports:
        report["model"].pop("converter")
    assert reports[0] == reports[1]
