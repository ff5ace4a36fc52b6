"""Real context binaries on this host's emulator, and on the simulated device."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy
import pytest

from devices.runners.base import (
    BinaryMismatch,
    Job,
    RunFailed,
    RunnerMissing,
    RunSettings,
    Runtime,
    Timing,
    check_binary,
)
from devices.runners.failures import explained
from devices.runners.ort import OrtRunner
from devices.runners.simulated import SimulatedRunner
from devices.transports.local import LocalTransport
from devices.transports.simulated import SimulatedTransport
from sweeps.jobs.binaries import tiny_binary

ONCE = RunSettings(runs=1, warmup_runs=0)
OLD = Runtime("onnxruntime-qnn", "2.3.0", "v2.47.0.260000000000", Timing.MEASURED)
NEW = replace(OLD, build_id="v2.60.0.260000000000")


@pytest.fixture(scope="module")
def job() -> Iterator[Job]:
    with tiny_binary(57) as (binary, info):
        yield Job(binary, info, ONCE)


@pytest.fixture
def runner(tmp_path: Path) -> OrtRunner:
    return OrtRunner(LocalTransport(tmp_path), sys.executable)


def test_this_host_is_an_emulator(runner: OrtRunner) -> None:
    runtime = runner.find()
    assert (runtime.timing, runtime.build_id[:4]) == (Timing.EMULATED, "v2.5")


def test_times_of_the_emulator_say_that_they_are_emulated(runner: OrtRunner, job: Job) -> None:
    block = runner.run(job, runner.find())
    assert (block.timing, len(block.samples_us), block.event) == (Timing.EMULATED, 1, "Accelerator (execute) time")


def test_the_warm_up_is_cut(runner: OrtRunner, job: Job) -> None:
    block = runner.run(replace(job, settings=RunSettings(runs=2, warmup_runs=1)), runner.find())
    assert len(block.samples_us) == 2


def test_outputs_come_back(runner: OrtRunner, job: Job, tmp_path: Path) -> None:
    runner.run(replace(job, outputs=tmp_path / "outputs.npz"), runner.find())
    with numpy.load(tmp_path / "outputs.npz") as outputs:
        assert {name: outputs[name].shape for name in outputs} == {
            tensor.name: tensor.shape for tensor in job.info.outputs
        }


def test_the_same_seed_gives_the_same_outputs(runner: OrtRunner, job: Job, tmp_path: Path) -> None:
    runtime = runner.find()
    for name in ("a.npz", "b.npz"):
        runner.run(replace(job, outputs=tmp_path / name), runtime)
    with numpy.load(tmp_path / "a.npz") as one, numpy.load(tmp_path / "b.npz") as other:
        assert all((one[name] == other[name]).all() for name in one)


def test_a_damaged_binary_is_told_as_one(runner: OrtRunner, job: Job, tmp_path: Path) -> None:
    bad = tmp_path / "bad.bin"
    bad.write_bytes(bytes(512) + job.binary.read_bytes()[512:])
    with pytest.raises(RunFailed, match="damaged"):
        runner.run(replace(job, binary=bad), runner.find())


def test_a_python_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(RunnerMissing, match="there is no python9"):
        OrtRunner(LocalTransport(tmp_path), "python9").find()


def test_a_python_without_the_packages_is_told_what_to_install(tmp_path: Path) -> None:
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -S -E "$@"\n')
    bare.chmod(0o755)
    with pytest.raises(RunnerMissing, match="pip install onnxruntime"):
        OrtRunner(LocalTransport(tmp_path), str(bare)).find()


def test_nothing_is_left_on_the_device(runner: OrtRunner, job: Job, tmp_path: Path) -> None:
    runner.run(job, runner.find())
    assert list(tmp_path.iterdir()) == []


def test_times_of_the_simulated_device_say_so(job: Job, tmp_path: Path) -> None:
    simulated = SimulatedRunner(SimulatedTransport(tmp_path, seed=1))
    block = simulated.run(replace(job, settings=RunSettings(runs=20)), simulated.find())
    assert (block.timing, block.event, len(block.samples_us)) == (Timing.SIMULATED, "simulated execute time", 20)


def test_the_simulated_device_grows_warm_and_slow(job: Job, tmp_path: Path) -> None:
    simulated = SimulatedRunner(SimulatedTransport(tmp_path, seed=1))
    many = replace(job, settings=RunSettings(runs=600, warmup_runs=0))
    first = simulated.run(many, simulated.find())
    second = simulated.run(many, simulated.find())
    assert numpy.median(second.samples_us) > 1.01 * numpy.median(first.samples_us[:50])


def test_a_newer_binary_is_refused_before_it_is_sent(job: Job) -> None:
    with pytest.raises(BinaryMismatch, match="an older runtime cannot load it"):
        check_binary(job.info, 57, OLD)


def test_a_binary_for_another_arch_is_refused(job: Job) -> None:
    with pytest.raises(BinaryMismatch, match=r"compiled for SM8650 \(v75\), and the device is SM8550 \(v73\)"):
        check_binary(job.info, 43, NEW)


def test_a_binary_for_the_device_is_taken(job: Job) -> None:
    check_binary(job.info, 57, NEW)


def test_an_emulator_takes_binaries_of_every_soc(job: Job) -> None:
    check_binary(job.info, 43, replace(NEW, timing=Timing.EMULATED))


@pytest.mark.parametrize(
    ("log", "words"),
    [
        ("Stub lib id mismatch: expected (v2.28.0), detected (v2.25.0)", "v2.28.0 was expected and v2.25.0 was found"),
        ("Failed to create context from binary: error 5000", "older than the binary"),
        ("QNN error 5005", "VTCM"),
        ("device create failed: 14001", "does not match"),
        ("avc: denied { read } for name=x", ""),
        ("all is well", ""),
    ],
)
def test_codes_are_explained(log: str, words: str) -> None:
    assert words in explained(log)
    assert bool(words) == bool(explained(log))
