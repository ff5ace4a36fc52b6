"""The runner of `qnn-net-run` with a stand-in for the tool, on this machine made to look like a phone.

Real: pushing, environment, arguments, files and how results are read. Not real: the tool, the DSP, Android.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy
import pytest

from devices.runners import viewer
from devices.runners.base import BinaryInfo, Job, RunFailed, RunnerMissing, RunSettings, TensorInfo, Timing
from devices.runners.net_run import NetRunRunner
from devices.runners.sdk import Sdk, sdk_at
from devices.targets import DspArch
from devices.transports.base import sweep_leftovers
from devices.transports.local import LocalTransport
from tests.devices.owners import new_owner
from tests.devices.runners.stand_ins.sdk import BUILD_ID, stand_in_sdk

INFO = BinaryInfo(
    graph_name="g",
    inputs=(TensorInfo("x", "UFIXED_POINT_8", (1, 2, 3)), TensorInfo("mask", "FLOAT_32", (4,))),
    outputs=(TensorInfo("/y.out", "UFIXED_POINT_16", (2, 1)),),
    soc_model=57,
    dsp_arch=75,
    build_id=BUILD_ID,
)
SETTINGS = RunSettings(runs=3, warmup_runs=2)


@pytest.fixture
def sdk(tmp_path: Path) -> Sdk:
    return stand_in_sdk(tmp_path / "sdk")


@pytest.fixture
def phone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LocalTransport:
    """This machine says that it is an arm64 one with Android."""
    programs, scratch = tmp_path / "programs", tmp_path / "phone"
    programs.mkdir()
    scratch.mkdir()
    for name, says in {"uname": "aarch64", "getprop": "15"}.items():
        (programs / name).write_text(f"#!/bin/sh\necho {says}\n")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(programs), prepend=":")
    return LocalTransport(scratch, owner=new_owner())


@pytest.fixture
def runner(sdk: Sdk, phone: LocalTransport) -> NetRunRunner:
    return NetRunRunner(phone, sdk, DspArch.V75)


@pytest.fixture
def job(tmp_path: Path) -> Job:
    binary = tmp_path / "g.bin"
    binary.write_bytes(b"a context binary")
    return Job(binary, INFO, SETTINGS)


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """How the stand-in was called, out of its log, once a run has been."""
    seen: dict[str, Any] = {}
    view = viewer._view

    def look(sdk: Sdk, log: Path, options: list[str]) -> None:
        seen.update(json.loads(log.read_text()))
        view(sdk, log, options)

    monkeypatch.setattr(viewer, "_view", look)
    return seen


def test_the_runtime_is_that_of_the_sdk(runner: NetRunRunner) -> None:
    runtime = runner.find()
    assert (runtime.name, runtime.version, runtime.build_id) == ("qnn-net-run", "2.51.0", BUILD_ID)


def test_times_of_a_phone_are_measured(runner: NetRunRunner, job: Job) -> None:
    assert runner.run(job, runner.find()).timing is Timing.MEASURED


def test_times_of_an_x86_machine_are_emulated(sdk: Sdk, tmp_path: Path) -> None:
    assert NetRunRunner(LocalTransport(tmp_path), sdk, DspArch.V75).find().timing is Timing.EMULATED


def test_each_inference_after_the_warm_up_is_a_sample(runner: NetRunRunner, job: Job) -> None:
    block = runner.run(job, runner.find())
    assert (block.event, block.samples_us) == ("QNN accelerator (execute) time", (1002.0, 1003.0, 1004.0))


def test_the_other_events_come_with_them(runner: NetRunRunner, job: Job) -> None:
    block = runner.run(job, runner.find())
    assert block.other_us == {"NetRun": (1402.0, 1403.0, 1404.0), "QNN (execute) time": (1202.0, 1203.0, 1204.0)}
    assert (block.counters, block.load_us) == ({"Number of HVX threads used": (4, 4, 4)}, 38500.0)


def test_the_files_of_the_arch_lie_beside_the_program(runner: NetRunRunner, job: Job, called: dict[str, Any]) -> None:
    runner.run(job, runner.find())
    assert called["beside"] == [
        "libQnnHtp.so",
        "libQnnHtpNetRunExtensions.so",
        "libQnnHtpV75Skel.so",
        "libQnnHtpV75Stub.so",
        "libQnnSystem.so",
        "qnn-net-run",
    ]


def test_our_libraries_are_found_before_the_vendors(runner: NetRunRunner, job: Job, called: dict[str, Any]) -> None:
    runner.run(job, runner.find())
    folder = called["options"]["backend"].rpartition("/")[0]
    assert called["environment"] == {
        "LD_LIBRARY_PATH": f"{folder}:/vendor/lib64",
        "ADSP_LIBRARY_PATH": f"{folder};/vendor/dsp/cdsp;/vendor/lib/rfsa/adsp;/system/lib/rfsa/adsp;/dsp",
    }


def test_the_tool_is_called_for_all_inferences_at_once(runner: NetRunRunner, job: Job, called: dict[str, Any]) -> None:
    runner.run(job, runner.find())
    options = called["options"]
    assert {name: options[name] for name in ("num_inferences", "profiling_level", "log_level", "keep_num_outputs")} == {
        "num_inferences": "5",
        "profiling_level": "basic",
        "log_level": "error",
        "keep_num_outputs": "1",
    }


def test_a_fast_profile_polls(runner: NetRunRunner, job: Job, called: dict[str, Any]) -> None:
    runner.run(job, runner.find())
    (core,) = called["inner"]["devices"][0]["cores"]
    assert core == {"core_id": 0, "perf_profile": "burst", "rpc_control_latency": 100, "rpc_polling_time": 9999}


def test_a_slow_profile_does_not_poll(runner: NetRunRunner, job: Job, called: dict[str, Any]) -> None:
    runner.run(replace(job, settings=replace(SETTINGS, perf_profile="balanced")), runner.find())
    assert called["inner"]["devices"][0]["cores"] == [{"core_id": 0, "perf_profile": "balanced"}]


def test_inputs_are_sent_as_the_graph_takes_them(runner: NetRunRunner, job: Job, called: dict[str, Any]) -> None:
    runner.run(job, runner.find())
    assert called["inputs"] == {"x": 6, "mask": 16}


def test_a_name_that_would_break_the_list_is_left_out_of_it(
    runner: NetRunRunner, job: Job, called: dict[str, Any]
) -> None:
    odd = replace(INFO, inputs=(replace(INFO.inputs[0], name="x 1"), INFO.inputs[1]))
    runner.run(replace(job, info=odd), runner.find())
    assert called["inputs"] == {"0": 6, "1": 16}


def test_outputs_come_back_with_shape_and_type(runner: NetRunRunner, job: Job, tmp_path: Path) -> None:
    runner.run(replace(job, outputs=tmp_path / "outputs.npz"), runner.find())
    with numpy.load(tmp_path / "outputs.npz") as outputs:
        assert (outputs["/y.out"].shape, outputs["/y.out"].dtype) == ((2, 1), numpy.uint16)


def test_an_output_of_another_size_is_refused(runner: NetRunRunner, job: Job, tmp_path: Path) -> None:
    larger = replace(INFO, outputs=(replace(INFO.outputs[0], shape=(3, 1)),))
    with pytest.raises(RunFailed, match="came back with 4 bytes"):
        runner.run(replace(job, info=larger, outputs=tmp_path / "outputs.npz"), runner.find())


def test_an_output_that_is_missing_is_named(runner: NetRunRunner, job: Job, tmp_path: Path) -> None:
    other = replace(INFO, outputs=(replace(INFO.outputs[0], name="z"),))
    with pytest.raises(RunFailed, match=r"wrote no output z; it wrote _y_out_native\.raw"):
        runner.run(replace(job, info=other, outputs=tmp_path / "outputs.npz"), runner.find())


def test_inputs_of_another_shape_are_refused_before_anything_runs(
    runner: NetRunRunner, job: Job, tmp_path: Path
) -> None:
    numpy.savez(tmp_path / "inputs.npz", x=numpy.zeros((1, 2), "uint8"), mask=numpy.zeros(4, "float32"))
    with pytest.raises(RunFailed, match=r"x is uint8 of shape \[1, 2\]; the binary takes uint8 of shape \[1, 2, 3\]"):
        runner.run(replace(job, inputs=tmp_path / "inputs.npz"), runner.find())


def test_the_libraries_are_sent_once(
    runner: NetRunRunner, phone: LocalTransport, job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner.run(job, runner.find())
    sent: list[str] = []
    copy = phone._copy

    def note(source: Path, target: Path, remote: str) -> None:
        sent.append(source.name)
        copy(source, target, remote)

    monkeypatch.setattr(phone, "_copy", note)
    runner.run(job, runner.find())
    assert [name for name in sent if name.endswith(".so")] == []


def test_the_next_holder_sweeps_everything(runner: NetRunRunner, phone: LocalTransport, job: Job) -> None:
    runner.run(job, runner.find())
    sweep_leftovers(phone)
    assert list(Path(phone.scratch_parent()).iterdir()) == []


def test_a_binary_newer_than_the_runtime_is_explained_with_both_versions(runner: NetRunRunner, job: Job) -> None:
    job.binary.write_bytes(b"older")
    with pytest.raises(RunFailed, match=rf"older than the binary.*SM8650 \(v75\) by QNN {BUILD_ID}; the device has"):
        runner.run(job, runner.find())


def test_an_empty_profile_is_a_failed_run(runner: NetRunRunner, job: Job) -> None:
    job.binary.write_bytes(b"silent")
    with pytest.raises(RunFailed, match="profile of the run is empty"):
        runner.run(job, runner.find())


def test_a_trace_gives_time_and_traffic(runner: NetRunRunner, job: Job, tmp_path: Path) -> None:
    (tmp_path / "g_schematic.bin").write_text("a stand-in")
    summary = runner.trace(job, runner.find(), tmp_path / "g_schematic.bin")
    assert (summary.time_us, summary.dram_bytes) == (1010.5, 1192960)


def test_a_trace_without_a_schematic_says_what_is_missing(runner: NetRunRunner, job: Job) -> None:
    with pytest.raises(RunFailed, match=r"needs the \*_schematic.bin that belongs to this binary"):
        runner.trace(job, runner.find(), None)


def test_an_arch_that_the_sdk_does_not_know_is_told(sdk: Sdk, phone: LocalTransport) -> None:
    with pytest.raises(RunnerMissing, match=r"libQnnHtpV81Stub.so.*a device with v81 needs"):
        NetRunRunner(phone, sdk, DspArch.V81).find()


def test_embedded_linux_takes_the_newest_of_its_builds(sdk: Sdk) -> None:
    assert sdk.target_for("aarch64", is_android=False) == "aarch64-oe-linux-gcc11.2"


def test_a_machine_that_the_tool_is_not_made_for_is_told(sdk: Sdk) -> None:
    with pytest.raises(RunnerMissing, match="not made for riscv64"):
        sdk.target_for("riscv64", is_android=False)


def test_no_sdk_says_where_to_name_one() -> None:
    with pytest.raises(RunnerMissing, match="set QAIRT_SDK_ROOT"):
        sdk_at(None)


def test_a_folder_that_is_no_sdk_is_told(tmp_path: Path) -> None:
    with pytest.raises(RunnerMissing, match="is no QAIRT SDK"):
        sdk_at(tmp_path)
