"""Runners through the real ssh server on loopback, and through the real adb with a fake phone."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy
import pytest

from devices.runners.base import BinaryInfo, Job, RunFailed, RunSettings, TensorInfo, Timing
from devices.runners.net_run import NetRunRunner
from devices.runners.ort import OrtRunner
from devices.targets import DspArch
from devices.transports.adb import AdbTransport
from devices.transports.base import sweep_leftovers
from devices.transports.local import LocalTransport
from sweeps.jobs.binaries import tiny_binary
from tests.devices.adb_server import AdbServer
from tests.devices.fake_adbd import running_fake_adbd
from tests.devices.openssh import running_openssh, sshd
from tests.devices.owners import new_owner
from tests.devices.runners.stand_ins.sdk import stand_in_sdk
from tests.devices.transports.conftest import NETWORKS, reach

INFO = BinaryInfo(
    graph_name="g",
    inputs=(TensorInfo("x", "UFIXED_POINT_8", (6,)),),
    outputs=(TensorInfo("y.out", "UFIXED_POINT_16", (2,)),),
    soc_model=57,
    dsp_arch=75,
    build_id="v2.51.0.260929181845",
)


def test_a_binary_runs_over_ssh_as_it_runs_here(tmp_path: Path) -> None:
    if sshd() is None:
        pytest.skip("needs openssh-server")
    (tmp_path / "sshd").mkdir()
    with running_openssh(tmp_path / "sshd") as server, tiny_binary(57) as (binary, info):
        job = Job(binary, info, RunSettings(runs=1, warmup_runs=0), outputs=tmp_path / "there.npz")
        with reach(server, owner=new_owner()) as transport:
            there = OrtRunner(transport, sys.executable)
            block = there.run(job, there.find())
        here = OrtRunner(LocalTransport(tmp_path), sys.executable)
        here.run(replace(job, outputs=tmp_path / "here.npz"), here.find())
    with numpy.load(tmp_path / "there.npz") as one, numpy.load(tmp_path / "here.npz") as other:
        assert all((one[name] == other[name]).all() for name in other)
    assert block.timing is Timing.EMULATED


@pytest.fixture
def phone(adb_server: AdbServer, tmp_path: Path) -> Iterator[AdbTransport]:
    with running_fake_adbd(tmp_path / "phone") as device:
        identifier = adb_server.attach(device)
        try:
            yield AdbTransport(identifier, networks=NETWORKS, owner=new_owner())
        finally:
            adb_server.detach(identifier)


def test_net_run_runs_over_adb(phone: AdbTransport, tmp_path: Path) -> None:
    """The tool is a stand-in, and the phone a fake one."""
    runner = NetRunRunner(phone, stand_in_sdk(tmp_path / "sdk"), DspArch.V75)
    (tmp_path / "g.bin").write_bytes(b"a context binary")
    job = Job(tmp_path / "g.bin", INFO, RunSettings(runs=2, warmup_runs=1), outputs=tmp_path / "outputs.npz")
    block = runner.run(job, runner.find())
    assert (block.timing, block.samples_us) == (Timing.MEASURED, (1001.0, 1002.0))
    with numpy.load(tmp_path / "outputs.npz") as outputs:
        assert outputs["y.out"].shape == (2,)


def test_a_failure_over_adb_is_explained(phone: AdbTransport, tmp_path: Path) -> None:
    runner = NetRunRunner(phone, stand_in_sdk(tmp_path / "sdk"), DspArch.V75)
    (tmp_path / "g.bin").write_bytes(b"older")
    with pytest.raises(RunFailed, match="older than the binary"):
        runner.run(Job(tmp_path / "g.bin", INFO, RunSettings(runs=1)), runner.find())


def test_a_phone_keeps_nothing_once_it_is_swept(phone: AdbTransport, tmp_path: Path) -> None:
    runner = NetRunRunner(phone, stand_in_sdk(tmp_path / "sdk"), DspArch.V75)
    (tmp_path / "g.bin").write_bytes(b"a context binary")
    runner.run(Job(tmp_path / "g.bin", INFO, RunSettings(runs=1)), runner.find())
    sweep_leftovers(phone)
    assert list((tmp_path / "phone" / "tmp").iterdir()) == []
