"""`tunerweb sweep` from the shell, with the real compiler."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.conftest import DATA
from tests.tunerweb.cli.commands import TUNERWEB, complaint, tunerweb

GOLDEN = json.loads((DATA / "golden_sizes.json").read_text())["models"]["sample_detector"]["57"]
FAILING = {"7", "9", "10", "11", "12", "14", "18"}


class Swept(NamedTuple):
    done: subprocess.CompletedProcess[str]
    out: Path

    @property
    def report(self) -> dict[str, Any]:
        report: dict[str, Any] = json.loads((self.out / "size_report.json").read_text())
        return report


def sweep(model: str, folder: Path, *arguments: object) -> Swept:
    out = folder / "out"
    return Swept(tunerweb("sweep", DATA / model, "--out", out, *arguments), out)


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Swept:
    return sweep("sample_detector.dlc", tmp_path_factory.mktemp("dlc"), "--soc", "SM8650", "--top", 2)


@pytest.fixture(scope="module")
def swept_onnx(tmp_path_factory: pytest.TempPathFactory) -> Swept:
    return sweep("sample_detector.qdq.onnx", tmp_path_factory.mktemp("onnx"), "--soc", "57", "--p", "0,22")


def test_a_sweep_of_a_dlc_ends_well(swept: Swept) -> None:
    assert swept.done.returncode == 0, swept.done.stderr


def test_rom_and_ram_of_every_p_are_the_golden_ones(swept: Swept) -> None:
    golden = {p: row for p, row in GOLDEN.items() if p != "unset"}
    assert swept.report["per_p_rom_size_bytes"] == {p: row and row["rom_bytes"] for p, row in golden.items()}
    assert swept.report["per_p_ram_size_bytes"] == {p: row and row["ram_bytes"] for p, row in golden.items()}


def test_p_values_that_need_more_cores_are_listed_with_the_reason(swept: Swept) -> None:
    errors = swept.report["per_p_errors"]
    assert set(errors) == FAILING
    assert all("needs at least two cores" in reason for reason in errors.values())


def test_the_exported_binary_is_that_of_the_best_p(swept: Swept) -> None:
    best = swept.report["best_rom"]["p_value"]
    binary = (swept.out / "rom_optimized_context_binary.bin").read_bytes()
    assert best == 22
    assert hashlib.sha256(binary).hexdigest()[:16] == GOLDEN[str(best)]["sha256_prefix"]


def test_the_folder_holds_what_the_documentation_says(swept: Swept) -> None:
    documented = {"as_given_context_binary.bin", "as_given_config.json", "size_report.json"}
    for metric in ("rom", "ram"):
        for rank in ("", "_rank2"):
            documented |= {f"{metric}_optimized{rank}_context_binary.bin", f"{metric}_optimized{rank}_config.json"}
    assert documented <= {path.name for path in swept.out.iterdir()}


def test_the_table_has_ties_as_one_rank_and_the_verdict_below(swept: Swept) -> None:
    assert "ranked by ROM" in swept.done.stdout
    assert "2=" in swept.done.stdout
    assert swept.report["verdict"][:40] in " ".join(swept.done.stdout.split())


def test_without_a_terminal_progress_is_plain_lines(swept: Swept) -> None:
    lines = [line for line in swept.done.stderr.splitlines() if line.startswith("[")]
    assert len(lines) == 18
    assert "\x1b" not in swept.done.stderr


def test_the_rom_winner_recompiles_from_its_exported_config(swept: Swept, tmp_path: Path) -> None:
    config = swept.out / "rom_optimized_config.json"
    again = sweep("sample_detector.dlc", tmp_path, "--config", config, "--p", "0")
    assert again.done.returncode == 0, again.done.stderr
    expected = (swept.out / "rom_optimized_context_binary.bin").read_bytes()
    assert (again.out / "as_given_context_binary.bin").read_bytes() == expected


def test_an_onnx_model_sweeps_too(swept_onnx: Swept) -> None:
    assert swept_onnx.done.returncode == 0, swept_onnx.done.stderr
    assert set(swept_onnx.report["per_p_rom_size_bytes"]) == {"0", "22"}


def test_the_winner_of_an_onnx_recompiles_from_its_bundle(swept_onnx: Swept, tmp_path: Path) -> None:
    config = swept_onnx.out / "rom_optimized_config.json"
    done = tunerweb(
        "sweep", swept_onnx.out / "converted_model.dlc", "--config", config, "--p", 0, "--out", tmp_path / "again"
    )
    assert done.returncode == 0, done.stderr
    expected = (swept_onnx.out / "rom_optimized_context_binary.bin").read_bytes()
    assert (tmp_path / "again" / "as_given_context_binary.bin").read_bytes() == expected


def test_a_bundle_given_back_into_its_own_folder_is_swept_and_not_deleted(swept_onnx: Swept, tmp_path: Path) -> None:
    out = tmp_path / "out"
    shutil.copytree(swept_onnx.out, out)
    expected = (out / "rom_optimized_context_binary.bin").read_bytes()
    wrapper = out / "rom_optimized_wrapper.json"
    done = tunerweb("sweep", out / "converted_model.dlc", "--config", wrapper, "--p", 0, "--out", out)
    assert done.returncode == 0, done.stderr
    assert (out / "as_given_context_binary.bin").read_bytes() == expected


def test_json_output_is_the_report_and_nothing_else(tmp_path: Path) -> None:
    swept = sweep("small.dlc", tmp_path, "--soc", "SM8650", "--p", "0", "--json")
    assert json.loads(swept.done.stdout) == swept.report


def test_a_failed_baseline_leaves_percentages_absent_and_says_so(tmp_path: Path) -> None:
    """An option that the compiler refuses fails every point; with P in the way of O=2, the config as given compiles."""
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"graphs": [{"O": 2, "finalize_config": {"no_such_option": 1}}]}))
    swept = sweep("small.dlc", tmp_path, "--soc", "SM8650", "--p", "0", "--config", config)
    assert swept.done.returncode == 1
    assert swept.report["baseline_rom_size_bytes"] is None
    assert "no option named no_such_option" in swept.report["per_p_errors"]["0"]


def test_a_sweep_that_hangs_is_ended_by_its_timeout(tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = tunerweb(
        *("sweep", DATA / "small.dlc", "--soc", 57, "--p", 0, "--timeout", 1.5, "--out", out),
        env={"TUNERWEB_FAULT": "finalize:hang"},
    )
    assert done.returncode == 1
    assert "time limit of 1.5 s" in done.stdout


# Bad usage and bad input


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--soc", "SM8250"], "has no HTP"),
        (["--soc", "SM8651"], "Did you mean SM8650"),
        (["--soc", "639"], "QNN's number is 69"),
        (["--soc", "9999"], "9999"),
        ([], "neither --soc nor the config names a SoC"),
        (["--soc", "57", "--p", "24"], "24 is not a P value"),
        (["--soc", "57", "--p", "x"], "is not a list of P values"),
        (["--soc", "57", "--top", "0"], "at least the best binary"),
        (["--soc", "57", "--dim", "N=1"], "a DLC has none left"),
        (["--soc", "57", "--dim", "N"], "give a name and a whole number"),
        (["--soc", "57", "--dim", "N=0"], "give a name and a whole number"),
        (["--soc", "57", "--dim", "N=1", "--dim", "N=2"], "gives N twice"),
        (["--soc", "57", "--config", "missing.json"], "There is no config missing.json"),
        (["--soc", "57", "--config", "/"], "is a folder"),
        (["--soc", "57", "--out", "/dev/null/x"], "cannot be used: Not a directory"),
    ],
)
def test_bad_usage_is_one_line_and_exit_code_2(tmp_path: Path, arguments: list[str], sentence: str) -> None:
    swept = sweep("small.dlc", tmp_path, *arguments)
    assert swept.done.returncode == 2
    assert sentence in complaint(swept.done)
    assert not swept.out.exists()


@pytest.mark.parametrize("arguments", [["--nope"], ["--workers", "0"], ["--timeout", "x"], []])
def test_a_usage_error_is_one_line_and_exit_code_2(arguments: list[str]) -> None:
    done = tunerweb("sweep", *arguments)
    assert done.returncode == 2
    assert complaint(done).endswith("Try `tunerweb --help`.")


def test_a_missing_model_is_named(tmp_path: Path) -> None:
    done = tunerweb("sweep", tmp_path / "none.dlc", "--soc", "57", "--out", tmp_path / "out")
    assert (done.returncode, "There is no model" in complaint(done)) == (2, True)


@pytest.mark.parametrize("name", ["a 'quote\".dlc", "two\nlines.dlc", "x" * 250 + ".dlc", "-dash.dlc", "ü 中.dlc"])
def test_a_model_may_have_any_name(tmp_path: Path, name: str) -> None:
    model = tmp_path / name
    model.write_bytes((DATA / "small.dlc").read_bytes())
    done = tunerweb("sweep", "--soc", 57, "--p", 0, "--out", tmp_path / "out", "--", model)
    assert done.returncode == 0, done.stderr


def test_a_name_longer_than_the_system_takes_is_one_sentence(tmp_path: Path) -> None:
    done = tunerweb("sweep", tmp_path / ("x" * 300), "--soc", 57, "--out", tmp_path / "out")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_an_empty_model_is_refused(tmp_path: Path) -> None:
    model = tmp_path / "model.dlc"
    model.touch()
    done = tunerweb("sweep", model, "--soc", 57, "--out", tmp_path / "out")
    assert (done.returncode, "empty" in complaint(done) or "0 bytes" in complaint(done)) == (2, True)


def test_a_sparse_file_of_5_gb_is_refused_at_once(tmp_path: Path) -> None:
    model = tmp_path / "model.dlc"
    with model.open("wb") as file:
        file.truncate(5 * 10**9)
    done = tunerweb("sweep", model, "--soc", 57, "--out", tmp_path / "out")
    assert done.returncode == 2
    assert complaint(done)


def test_a_binary_that_does_not_fit_is_a_failed_point_and_leaves_no_half_file(tmp_path: Path) -> None:
    """A limit on file size stands for a full disk: the child cannot write its binary."""
    out = tmp_path / "out"
    script = 'ulimit -f 600; exec "$0" "$@"'
    command = ["bash", "-c", script, str(TUNERWEB), "sweep", str(DATA / "small.dlc"), "--soc", "57", "--p", "0"]
    done = subprocess.run([*command, "--out", str(out)], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "temporary files is full" in " ".join(done.stdout.split())
    assert [path.name for path in out.iterdir()] == ["size_report.json"]


def test_old_results_are_gone_before_the_sweep_and_kept_when_it_is_refused(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "rom_optimized_rank9_config.json").write_text("{}")
    assert sweep("small.dlc", tmp_path, "--soc", "SM8250").done.returncode == 2
    assert (out / "rom_optimized_rank9_config.json").exists()
    assert sweep("small.dlc", tmp_path, "--soc", "SM8650", "--p", "0").done.returncode == 0
    assert not (out / "rom_optimized_rank9_config.json").exists()
