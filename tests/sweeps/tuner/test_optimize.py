"""`optimize` with the real compiler: on the simulated device, on this host's emulator, over ssh and adb."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy
import pytest

from sweeps.tuner import (
    BinaryMismatch,
    CompiledModel,
    EmulatedDevice,
    NotRankable,
    RunFailed,
    RunnerMissing,
    TransportError,
    TuningReport,
    get_context_size_info,
    optimize,
)
from sweeps.tuner.devices import SDK_ROOT
from tests.conftest import DATA
from tests.devices.adb_server import AdbServer, running_adb_server
from tests.devices.fake_adbd import running_fake_adbd
from tests.devices.openssh import OpenSsh, running_openssh, sshd
from tests.devices.runners.stand_ins.sdk import stand_in_sdk

MODEL = DATA / "small.dlc"
FEW: dict[str, Any] = {"soc": "SM8650", "p_values": [0, 2], "max_workers": 2}
QUICK = {"rounds": 5, "runs": 20}


class Tuned(NamedTuple):
    model: CompiledModel
    report: TuningReport


@pytest.fixture(scope="module")
def by_latency(tmp_path_factory: pytest.TempPathFactory) -> Tuned:
    out = tmp_path_factory.mktemp("latency") / "out"
    return Tuned(*optimize(MODEL, "latency", {**FEW, "output_path": out}, {"device": "simulated", **QUICK}))


@pytest.fixture(scope="module")
def by_bandwidth(tmp_path_factory: pytest.TempPathFactory) -> Tuned:
    out = tmp_path_factory.mktemp("bandwidth") / "out"
    return Tuned(*optimize(MODEL, "bandwidth", {**FEW, "output_path": out}, {"device": "host"}))


def test_the_best_is_a_context_binary_with_the_config_that_made_it(by_latency: Tuned) -> None:
    model, report = by_latency
    assert get_context_size_info(os.fspath(model))["rom"] == report.ranking[0].rom_bytes
    assert hashlib.sha256(model.path.read_bytes()).hexdigest() == report.ranking[0].sha256
    assert json.loads((model.path.parent / "latency_optimized_config.json").read_text()) == model.config
    assert model.p_value == report.best_p_value


def test_the_default_and_every_p_are_measured_in_rounds(by_latency: Tuned) -> None:
    report = by_latency.report
    assert {row.name for row in report.ranking} == {"P=0", "P=2", "as given"}
    assert {(row.rounds, row.runs) for row in report.ranking} == {(5, 100)}
    assert (report.rounds, report.criterion, report.unit, report.baseline) == (5, "latency", "us", "P=0")


def test_a_latency_has_an_interval_and_differences_have_one_too(by_latency: Tuned) -> None:
    for row in by_latency.report.ranking:
        assert row.low is not None
        assert row.high is not None
        assert row.low <= row.value <= row.high
    last = by_latency.report.ranking[-1]
    assert last.above_best_percent is not None
    assert last.above_best_percent > 0


def test_everything_of_the_simulated_device_says_so(by_latency: Tuned) -> None:
    report = by_latency.report
    assert (report.origin, report.event, report.device) == (
        "simulated",
        "simulated execute time",
        "the simulated device",
    )
    assert "(simulated)" in report.sentences[0]
    assert any("These times are simulated" in sentence for sentence in report.sentences)


def test_the_report_is_a_file_too(by_latency: Tuned) -> None:
    written = json.loads((by_latency.model.path.parent / "latency_report.json").read_text())
    assert written["per_candidate"] == by_latency.report.per_candidate
    assert written["files"] == [*written["files"][:-1], "latency_report.json"]
    assert all((by_latency.model.path.parent / name).is_file() for name in written["files"])


def test_the_same_seed_measures_the_same_binaries(by_latency: Tuned, tmp_path: Path) -> None:
    again = Tuned(*optimize(MODEL, "latency", {**FEW, "output_path": tmp_path}, {"device": "simulated", **QUICK}))
    assert {row.name: row.sha256 for row in again.report.ranking} == {
        row.name: row.sha256 for row in by_latency.report.ranking
    }


def test_bandwidth_comes_from_the_compiler_and_says_so(by_bandwidth: Tuned) -> None:
    report = by_bandwidth.report
    assert (report.origin, report.unit) == ("from the compiler, simulated", "bytes")
    assert report.value == report.ranking[0].dram_bytes == 1257472
    assert "from the compiler, simulated" in report.sentences[0]
    assert any("which emulates the NPU" in sentence for sentence in report.sentences)


def test_equal_traffic_is_a_tie_that_the_baseline_wins(by_bandwidth: Tuned) -> None:
    assert [(row.rank, row.is_tied) for row in by_bandwidth.report.ranking] == [(1, True)] * 3
    assert (by_bandwidth.report.best, by_bandwidth.model.p_value) == ("P=0", 0)


def test_latency_on_an_emulator_is_refused_before_anything_is_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sweeps.tuner.optimizing.compile_points", lambda *_: pytest.fail("it compiles"))
    with pytest.raises(EmulatedDevice, match="This machine only emulates the NPU") as told:
        optimize(MODEL, "latency", {**FEW, "output_path": tmp_path / "out"}, {"device": "host"})
    assert isinstance(told.value, NotRankable)
    assert not (tmp_path / "out").exists()


def test_an_earlier_result_is_taken_away_and_other_files_stay(tmp_path: Path) -> None:
    for name in ("bandwidth_report.json", "bandwidth_optimized_old.bin", "latency_report.json", "mine.txt"):
        (tmp_path / name).write_text("old")
    optimize(MODEL, "bandwidth", {**FEW, "p_values": "0", "output_path": tmp_path}, {"device": "simulated"})
    assert not (tmp_path / "bandwidth_optimized_old.bin").exists()
    assert (tmp_path / "latency_report.json").read_text() == (tmp_path / "mine.txt").read_text() == "old"


def test_the_config_may_be_given_as_it_stands_in_a_file(tmp_path: Path) -> None:
    config = {"graphs": [{"vtcm_mb": 4}], "devices": [{"soc_model": 57}]}
    arguments = {"config": config, "p_values": [0], "output_path": tmp_path}
    model, report = optimize(MODEL, "bandwidth", arguments, {"device": "simulated"})
    assert model.config["graphs"][0]["vtcm_mb"] == 4
    assert report.about["target"]["name"] == "SM8650"


def test_p_values_that_cannot_be_compiled_are_left_out_with_the_reason(tmp_path: Path) -> None:
    arguments = {**FEW, "p_values": [0, 7], "output_path": tmp_path}
    _, report = optimize(MODEL, "bandwidth", arguments, {"device": "simulated"})
    assert "needs at least two cores" in report.left_out["P=7"]
    assert report.per_candidate["P=7"] is None


def test_inputs_that_do_not_fit_are_told(tmp_path: Path) -> None:
    numpy.savez(tmp_path / "inputs.npz", other=numpy.zeros(1))
    arguments = {**FEW, "p_values": [0], "output_path": tmp_path / "out"}
    with pytest.raises(RunFailed, match=r"No candidate ran on this machine\. P=0: The inputs lack"):
        optimize(MODEL, "bandwidth", arguments, {"device": "host", "inputs": tmp_path / "inputs.npz"})
    assert list((tmp_path / "out").iterdir()) == []


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenSsh]:
    if sshd() is None:
        pytest.skip("needs openssh-server")
    with running_openssh(tmp_path_factory.mktemp("sshd")) as server:
        (server.folder / "key").write_text(server.private_key)
        yield server


def over_ssh(server: OpenSsh, **changes: Any) -> dict[str, Any]:
    access = {"private_key": server.folder / "key", "host_key": server.host_key, "python": sys.executable}
    return {"device": str(server.identifier), **access, **changes}


def test_bandwidth_over_ssh_runs_each_binary_there(server: OpenSsh, tmp_path: Path) -> None:
    _, report = optimize(MODEL, "bandwidth", {**FEW, "output_path": tmp_path}, over_ssh(server))
    assert report.device == str(server.identifier)
    assert {row.name for row in report.ranking} == {"P=0", "P=2", "as given"}
    assert any(f"on {server.identifier}, which emulates" in sentence for sentence in report.sentences)


def test_a_host_key_that_nobody_pinned_is_shown_and_not_trusted(server: OpenSsh, tmp_path: Path) -> None:
    with pytest.raises(TransportError, match=r"No host key of 127\.0\.0\.1 is pinned.* SHA256:"):
        optimize(MODEL, "bandwidth", {**FEW, "output_path": tmp_path / "out"}, over_ssh(server, host_key=None))


def test_a_host_key_that_is_accepted_is_printed(
    server: OpenSsh, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(EmulatedDevice):
        optimize(MODEL, "latency", {**FEW, "output_path": tmp_path / "out"}, over_ssh(server, host_key="accept"))
    assert "accepted without being compared: SHA256:" in capsys.readouterr().err


def test_a_host_key_that_is_none_is_told(server: OpenSsh) -> None:
    with pytest.raises(ValueError, match="host_key is no public key"):
        optimize(MODEL, "bandwidth", FEW, over_ssh(server, host_key="ssh-ed25519 nonsense"))


def test_nobody_answers(tmp_path: Path) -> None:
    access = {"device": "root@127.0.0.1:1", "host_key": "accept"}
    with pytest.raises(TransportError, match="refuses connections"):
        optimize(MODEL, "bandwidth", {**FEW, "output_path": tmp_path / "out"}, access)


@pytest.fixture(scope="module")
def adb_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AdbServer]:
    if shutil.which("adb") is None:
        pytest.skip("needs adb")
    with running_adb_server(tmp_path_factory.mktemp("adb")) as server:
        yield server


@pytest.fixture
def phone(adb_server: AdbServer, tmp_path: Path) -> Iterator[str]:
    """The identifier of a fake one, which says that it is an SM8650."""
    with running_fake_adbd(tmp_path / "phone") as device:
        identifier = adb_server.attach(device)
        try:
            yield f"adb:{identifier}"
        finally:
            adb_server.detach(identifier)


def test_without_an_sdk_a_phone_runs_nothing(phone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SDK_ROOT, raising=False)
    with pytest.raises(RunnerMissing, match="Install one and set QAIRT_SDK_ROOT"):
        optimize(MODEL, "latency", FEW, {"device": phone})


def test_latency_on_a_phone_with_an_sdk(phone: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tool is a stand-in with outputs of its own, and the phone a fake one: real is the way there and back."""
    monkeypatch.setattr("sweeps.tuner.measuring.Bench._wanted_outputs", lambda *_: None)
    monkeypatch.setenv(SDK_ROOT, str(stand_in_sdk(tmp_path / "sdk").root))
    arguments = {"p_values": [0], "soc": "SM8650", "output_path": tmp_path / "out"}
    _, report = optimize(MODEL, "latency", arguments, {"device": phone, "rounds": 5, "runs": 2})
    assert (report.origin, report.unit) == ("measured", "us")
    assert report.runtime.startswith("qnn-net-run")
    assert [row.is_tied for row in report.ranking] == [True, True]
    assert list((tmp_path / "phone" / "tmp").iterdir()) == []


def test_a_phone_with_another_soc_is_told_before_anything_is_compiled(
    phone: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SDK_ROOT, str(stand_in_sdk(tmp_path / "sdk").root))
    (tmp_path / "sdk/lib/hexagon-v73/unsigned").mkdir(parents=True)
    (tmp_path / "sdk/lib/hexagon-v73/unsigned/libQnnHtpV73Skel.so").write_text("a stand-in")
    (tmp_path / "sdk/lib/aarch64-android/libQnnHtpV73Stub.so").write_text("a stand-in")
    with pytest.raises(BinaryMismatch, match=r"compiled for SM8550 \(v73\)"):
        optimize(MODEL, "latency", {"soc": "SM8550", "output_path": tmp_path / "out"}, {"device": phone})
    assert not (tmp_path / "out").exists()
