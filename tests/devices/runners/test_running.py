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
from devices.runners.ort import OrtRunner
from devices.runners.simulated import SimulatedRunner
from devices.runners.tensors import seeded_inputs
from devices.transports.errors import CommandCancelled
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


def test_the_same_seed_gives_the_same_noise(job: Job, tmp_path: Path) -> None:
    """But for the heat, which goes with the clock of the wall."""
    blocks = []
    for name in ("one", "other"):
        device = SimulatedRunner(SimulatedTransport(tmp_path / name, seed=1))
        blocks.append(device.run(job, device.find()).samples_us)
    assert blocks[0] == pytest.approx(blocks[1], rel=1e-6)


def test_each_process_has_a_noise_of_its_own(job: Job, tmp_path: Path) -> None:
    simulated = SimulatedRunner(SimulatedTransport(tmp_path, seed=1))
    one, other = (simulated.run(job, simulated.find()).samples_us for _ in range(2))
    assert one != pytest.approx(other, rel=1e-3)


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


def test_a_binary_that_names_its_arch_only_is_compared_by_that(job: Job) -> None:
    with pytest.raises(BinaryMismatch, match=r"a SoC that it does not name \(v75\), and the device is SM8550 \(v73\)"):
        check_binary(replace(job.info, soc_model=0), 43, NEW)


def test_a_binary_that_names_nothing_is_taken(job: Job) -> None:
    check_binary(replace(job.info, soc_model=0, dsp_arch=0, build_id=""), 43, NEW)


def test_a_binary_for_another_soc_of_the_arch_is_taken(job: Job) -> None:
    check_binary(replace(job.info, soc_model=93, dsp_arch=68), 35, NEW)


def test_the_runner_chooses_how_many_inferences_a_block_has(runner: OrtRunner, job: Job) -> None:
    """The tiny binary takes a few milliseconds on an emulator, so that twenty to two hundred fit into half a second."""
    block = runner.run(replace(job, settings=RunSettings(warmup_s=0.05)), runner.find())
    assert 20 <= len(block.samples_us) <= 200


def test_the_block_is_a_fresh_process_with_its_load_time(runner: OrtRunner, job: Job) -> None:
    block = runner.run(job, runner.find())
    assert block.load_us is not None
    assert 0 < block.load_us < block.wall_us


def test_the_detailed_level_gives_the_same_event(runner: OrtRunner, job: Job) -> None:
    block = runner.run(replace(job, settings=replace(ONCE, profiling_level="detailed")), runner.find())
    assert (block.event, "Num times yield occured" in block.counters) == ("Accelerator (execute) time", True)


def test_inputs_are_taken_from_a_file(runner: OrtRunner, job: Job, tmp_path: Path) -> None:
    numpy.savez(tmp_path / "inputs.npz", allow_pickle=False, **seeded_inputs(job.info, seed=0))
    runtime = runner.find()
    runner.run(replace(job, inputs=tmp_path / "inputs.npz", outputs=tmp_path / "given.npz"), runtime)
    runner.run(replace(job, outputs=tmp_path / "seeded.npz"), runtime)
    with numpy.load(tmp_path / "given.npz") as given, numpy.load(tmp_path / "seeded.npz") as seeded:
        assert all((given[name] == seeded[name]).all() for name in given)


def test_an_input_that_is_missing_is_named(runner: OrtRunner, job: Job, tmp_path: Path) -> None:
    numpy.savez(tmp_path / "inputs.npz", other=numpy.zeros(1))
    with pytest.raises(RunFailed, match=r"The inputs lack .*; they hold other"):
        runner.run(replace(job, inputs=tmp_path / "inputs.npz"), runner.find())


def test_a_file_that_holds_no_arrays_is_told(runner: OrtRunner, job: Job, tmp_path: Path) -> None:
    (tmp_path / "inputs.npz").write_bytes(b"PK\x03\x04 nothing")
    with pytest.raises(RunFailed, match=r"inputs\.npz cannot be read as \.npz"):
        runner.run(replace(job, inputs=tmp_path / "inputs.npz"), runner.find())


def test_an_array_without_a_name_is_told(runner: OrtRunner, job: Job, tmp_path: Path) -> None:
    with (tmp_path / "inputs.npz").open("wb") as file:
        numpy.save(file, numpy.zeros(1))
    with pytest.raises(RunFailed, match="one array without a name"):
        runner.run(replace(job, inputs=tmp_path / "inputs.npz"), runner.find())


def test_a_runtime_that_crashes_is_told_as_a_crash(job: Job, tmp_path: Path) -> None:
    crashing = tmp_path / "python"
    crashing.write_text("#!/bin/sh\nkill -SEGV $$\n")
    crashing.chmod(0o755)
    with pytest.raises(RunFailed, match=r"crashed \(SIGSEGV\).*SM8650 \(v75\) by QNN v2"):
        OrtRunner(LocalTransport(tmp_path), str(crashing)).run(job, NEW)


def test_a_cancelled_run_ends(runner: OrtRunner, job: Job) -> None:
    with pytest.raises(CommandCancelled):
        runner.run(replace(job, cancelled=lambda: True), NEW)
