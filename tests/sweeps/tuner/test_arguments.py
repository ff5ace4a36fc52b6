"""What `optimize` is given: every mistake is told by its name before anything else happens."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sweeps.tuner import Access, BadInput, Criteria, Device, DeviceRequired, optimize
from sweeps.tuner.arguments import tune_request
from tests.conftest import DATA

MODEL = DATA / "small.dlc"
ON = {"device": "simulated"}


@pytest.mark.parametrize(
    ("compile_args", "execution_args", "sentence"),
    [
        ({"max_wokers": 2}, ON, "'max_wokers', which is not known. Did you mean max_workers"),
        ({"nonsense": 2}, ON, "'nonsense', which is not known. Known are config"),
        ({}, {**ON, "round": 5}, "execution_args has a key 'round', which is not known. Did you mean rounds"),
        ({}, {**ON, "rounds": 4}, "4 rounds are too few to rank: give 5 or more"),
        ({}, {**ON, "rounds": "9"}, "rounds is '9', and a whole number is needed"),
        ({}, {**ON, "runs": 0}, "0 runs measure nothing"),
        ({}, {**ON, "seed": True}, "seed is True"),
        ({}, {**ON, "perf_profile": "fast"}, "perf_profile is 'fast'; it is one of burst"),
        ({}, {**ON, "profiling_level": "optrace"}, "profiling_level is 'optrace'; it is one of basic, detailed"),
        ({}, {**ON, "inputs": "nowhere.npz"}, "no file of inputs nowhere.npz"),
        ({"max_workers": 0}, ON, "0 workers compile nothing"),
        ({"p_values": []}, ON, "p_values is"),
        ({"p_values": [99]}, ON, "99"),
        ({"backend": "GPU"}, ON, "only HTP and HTP_MCP"),
        ({"soc": "SM9999"}, ON, "no SoC 'SM9999'"),
        ({"config": 7}, ON, "config is 7, and the path of a file is needed"),
        ({"config": {"graphs": {1, 2}}}, ON, "cannot be written as JSON"),
        ({"config": {"nothing": 1}}, ON, "neither the wrapper"),
        ({}, ON, "names a SoC"),
        ({"free_dimensions": {"N": 0}}, ON, "a size is a whole number from 1"),
        ([], ON, "compile_args is list"),
        ({}, {"device": ""}, "'' is no device"),
        ({}, {"device": 7}, "7 is no device"),
        ({}, {"device": "-s"}, "no serial number"),
        ({}, {"device": "a b@c"}, "no user name"),
        ({}, {"device": "root@10.0.0.5", "private_key": "nowhere"}, "no private key nowhere"),
    ],
)
def test_a_mistake_is_named(
    compile_args: Any, execution_args: dict[str, Any], sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=sentence):
        optimize(MODEL, "latency", compile_args, execution_args)
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_criterion_is_named() -> None:
    with pytest.raises(BadInput, match="'speed' is no criterion: it is one of bandwidth and latency"):
        optimize(MODEL, "speed", {}, ON)


def test_a_model_that_is_not_there_is_named() -> None:
    with pytest.raises(BadInput, match=r"no model nowhere\.dlc"):
        optimize("nowhere.dlc", Criteria.LATENCY, {}, ON)


def test_without_a_device_there_is_nothing_to_measure_on() -> None:
    with pytest.raises(DeviceRequired):
        optimize(MODEL, "latency")


def test_what_is_given_arrives() -> None:
    compile_args = {"soc": 57, "p_values": range(3), "max_workers": 2, "free_dimensions": {"N": 1}, "backend": "htp"}
    request = tune_request([MODEL], "latency", compile_args, {**ON, "rounds": 9, "runs": 40, "seed": 3})
    sweep = request.sweep
    assert (sweep.models, sweep.soc, sweep.p_values, sweep.workers) == ((MODEL,), "57", "0,1,2", 2)
    assert (request.rounds, request.runs, request.seed, sweep.free_dimensions) == (9, 40, 3, {"N": 1})
    assert sweep.out == Path("latency_optimized")


@pytest.mark.parametrize(
    ("text", "way", "name"),
    [
        ("host", "host", "this machine"),
        ("local", "host", "this machine"),
        ("simulated", "simulated", "the simulated device"),
        ("root@10.0.0.5", "ssh", "root@10.0.0.5"),
        ("ubuntu@[fe80::1]:2222", "ssh", "ubuntu@[fe80::1]:2222"),
        ("ssh:root@board:5037", "ssh", "root@board:5037"),
        ("R5CT123ABC", "adb", "R5CT123ABC"),
        ("10.0.0.9:5555", "adb", "10.0.0.9:5555"),
        ("R5CT123ABC@lab-pc:5037", "adb", "R5CT123ABC@lab-pc:5037"),
        ("adb:R5CT123ABC@lab-pc", "adb", "R5CT123ABC@lab-pc"),
    ],
)
def test_a_device_is_told_from_its_identifier(text: str, way: str, name: str) -> None:
    device = tune_request(MODEL, "latency", {}, {"device": text}).device
    assert isinstance(device, Device)
    assert (device.way, device.name) == (way, name)


def test_a_device_of_the_published_platforms_is_taken() -> None:
    device = Device("aarch64-android", "R5CT123ABC@lab-pc")
    assert tune_request(MODEL, "latency", {}, {"device": device}).device == device


def test_a_platform_that_is_not_known_is_named() -> None:
    with pytest.raises(BadInput, match="'qnx' is no platform of a device"):
        Device("qnx", "root@10.0.0.5")


def test_a_host_key_may_be_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "key.pub").write_text("ssh-ed25519 AAAA\n")
    given = {"device": "root@10.0.0.5", "host_key": tmp_path / "key.pub"}
    device = tune_request(MODEL, "latency", {}, given).device
    assert isinstance(device, Device)
    assert device.access == Access(host_key="ssh-ed25519 AAAA")
