"""The bundled toolchain: what a compile says, and how each way of not delivering is told apart."""

from __future__ import annotations

import io
import random
import shutil
import signal
import struct
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from devices.targets import Target, find_target
from sweeps.configs import ContextConfig, GraphConfig, HtpConfig, default_config
from sweeps.measurements import CycleOrigin
from sweeps.toolchain.base import CompileResult, Point, ToolchainIdentity
from sweeps.toolchain.errors import (
    Cancelled,
    ConfigRejected,
    FailureKind,
    LimitReached,
    ModelRejected,
    ToolchainError,
    ToolFailed,
)
from sweeps.toolchain.qnn.abi import LAYOUTS
from sweeps.toolchain.qnn.compiler import BundledSession, BundledToolchain
from sweeps.toolchain.qnn.library import UnsupportedVersion, supported_layout
from tests.conftest import DATA
from tests.sweeps.toolchain.points import point
from tunerweb.work.child import Limits

SM8650 = find_target("SM8650")


@pytest.fixture(scope="module")
def toolchain() -> BundledToolchain:
    return BundledToolchain()


@pytest.fixture
def session(toolchain: BundledToolchain) -> Iterator[BundledSession]:
    with toolchain.open(DATA / "small.dlc", SM8650) as opened:
        yield opened


def compile_graph(session: BundledSession, **options: object) -> CompileResult:
    graph = GraphConfig.model_validate({"graph_names": session.graph_names, **options})
    return session.compile(Point(config=HtpConfig(graphs=(graph,))))


def test_identity_names_the_build(toolchain: BundledToolchain) -> None:
    assert toolchain.identity == ToolchainIdentity(
        name="bundled", package_version="2.7.0", build_id="v2.51.0.260929181845"
    )


def test_the_same_point_twice_gives_the_same_bytes(session: BundledSession) -> None:
    first, second = (session.compile(point(16, session.graph_names)) for _ in range(2))
    assert first.binary.read_bytes() == second.binary.read_bytes()


def test_granted_options_are_those_that_were_asked_for(session: BundledSession) -> None:
    granted = compile_graph(session, O=3, vtcm_mb=4, hvx_threads=2, dlbc=1, finalize_config={"P": 5}).graphs[0].granted
    assert granted.model_dump() == {
        "optimization_level": 3,
        "p_value": 5,
        "vtcm_bytes": 4 * 2**20,
        "hvx_threads": 2,
        "dlbc": True,
    }


def test_options_that_nobody_set_are_not_reported_as_granted(session: BundledSession) -> None:
    granted = session.compile(Point(config=default_config(session.graph_names))).graphs[0].granted
    assert (granted.optimization_level, granted.hvx_threads) == (None, None)


def test_finalize_phases_add_up_to_less_than_the_whole(session: BundledSession) -> None:
    graph = session.compile(point(0, session.graph_names)).graphs[0]
    assert len(graph.finalize_phases_us) == 8
    assert graph.finalize_us is not None
    assert 0 < sum(graph.finalize_phases_us.values()) <= graph.finalize_us


def test_cycles_come_from_the_schedule_where_the_compiler_gives_no_estimate(session: BundledSession) -> None:
    cycles = session.compile(point(0, session.graph_names)).graphs[0].cycles
    assert cycles is not None
    assert (cycles.origin, cycles.cycles, cycles.lower_cycles) == (CycleOrigin.SCHEDULE, 253435, None)


def test_cycles_are_absent_on_a_soc_without_a_cost_model(toolchain: BundledToolchain) -> None:
    with toolchain.open(DATA / "small.dlc", find_target("QCS6490")) as session:
        result = session.compile(point(0, session.graph_names))
    assert (result.simulated_cycles, result.rom_bytes) == (None, 655360)


def test_inputs_and_outputs_have_shapes_and_types(session: BundledSession) -> None:
    graph = session.compile(point(0, session.graph_names)).graphs[0]
    assert [(tensor.name, tensor.dimensions, tensor.data_type) for tensor in (*graph.inputs, *graph.outputs)] == [
        ("x", (1, 3, 224, 224), "FLOAT_32"),
        ("gap", (1, 256, 1, 1), "FLOAT_32"),
    ]


def test_several_cores_compile_a_multi_core_p(toolchain: BundledToolchain) -> None:
    """Measured on build v2.51.0.260929181845: P=7 on two cores of SA8797."""
    target = Target(soc=find_target("SA8797").soc, num_cores=2)
    with toolchain.open(DATA / "small.dlc", target) as session:
        result = compile_graph(session, O=3, num_cores=2, finalize_config={"P": 7})
    assert (result.rom_bytes, result.simulated_cycles) == (1249280, 213847)


def test_a_context_option_reaches_the_compiler(toolchain: BundledToolchain) -> None:
    """Measured on build v2.51.0.260929181845: extended_udma changes the ROM on v81 (SM8850)."""
    with toolchain.open(DATA / "small.dlc", find_target("SM8850")) as session:
        graphs = default_config(session.graph_names).graphs
        config = HtpConfig(graphs=graphs, context=ContextConfig(extended_udma=True))
        with_udma = session.compile(Point(config=config))
        without = session.compile(Point(config=default_config(session.graph_names)))
    assert with_udma.rom_bytes != without.rom_bytes


def test_the_session_folder_is_gone_afterwards(toolchain: BundledToolchain) -> None:
    with toolchain.open(DATA / "small.dlc", SM8650) as session:
        folder = session.folder
        assert folder.exists()
    assert not folder.exists()


def test_a_context_binary_reads_back_as_what_its_compile_said(
    toolchain: BundledToolchain, session: BundledSession
) -> None:
    result = session.compile(point(4, session.graph_names))
    context = toolchain.read_context(result.binary)
    info = context["info"]
    graph = info["graphs"][0]["info"]
    assert (context["version"], info["contextBlobSize"], info["socModel"]) == (3, result.rom_bytes, 57)
    assert info["contextMetadata"]["info"]["dspArch"] == 75
    assert graph["graphName"] == session.graph_names[0]
    assert graph["graphBlobInfoV2"]["constSize"] == 589824
    assert graph["graphBlobInfo"]["info"]["optimizationLevel"] == 3
    assert graph["graphInputs"][0]["info"]["dataType"] == "QNN_DATATYPE_FLOAT_32"


# How a compile fails


def failure(session: BundledSession, monkeypatch: pytest.MonkeyPatch, fault: str, limits: Limits) -> ToolchainError:
    names = session.graph_names
    monkeypatch.setenv("TUNERWEB_FAULT", f"finalize:{fault}")
    with pytest.raises(ToolchainError) as caught:
        session.compile(point(0, names), limits=limits)
    return caught.value


@pytest.mark.parametrize(
    ("fault", "limits", "error", "kind", "number"),
    [
        ("crash", Limits(), ToolFailed, FailureKind.CRASH, signal.SIGSEGV),
        ("abort", Limits(), ToolFailed, FailureKind.CRASH, signal.SIGABRT),
        ("kill", Limits(), ToolFailed, FailureKind.KILLED, signal.SIGKILL),
        ("hang", Limits(wall_s=1.5), LimitReached, FailureKind.HANG, signal.SIGKILL),
        ("spin", Limits(cpu_s=2), LimitReached, FailureKind.LIMIT, signal.SIGXCPU),
        ("grow", Limits(memory_bytes=300 * 2**20), LimitReached, FailureKind.LIMIT, signal.SIGKILL),
    ],
)
def test_each_bad_end_is_a_result_of_its_own(
    session: BundledSession,
    monkeypatch: pytest.MonkeyPatch,
    fault: str,
    limits: Limits,
    error: type[ToolchainError],
    kind: FailureKind,
    number: int,
) -> None:
    found = failure(session, monkeypatch, fault, limits)
    assert (type(found), found.kind, found.diagnosis.signal) == (error, kind, number)
    assert f"fault hook at finalize: {fault}" in found.diagnosis.log_tail
    assert found.diagnosis.peak_memory_bytes is not None
    assert found.diagnosis.peak_memory_bytes > 40 * 2**20


def test_a_cancel_is_heard_while_the_model_is_read(
    toolchain: BundledToolchain, small_dlc: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TUNERWEB_FAULT", "compose:hang")
    with pytest.raises(Cancelled), toolchain.open(small_dlc, SM8650, cancelled=lambda: True):
        pass


def test_reading_a_model_has_the_limits_of_a_compile(
    toolchain: BundledToolchain, small_dlc: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TUNERWEB_FAULT", "compose:hang")
    with pytest.raises(LimitReached), toolchain.open(small_dlc, SM8650, limits=Limits(wall_s=0.5)):
        pass


def test_a_model_that_really_crashes_the_compiler_is_a_result(toolchain: BundledToolchain) -> None:
    """A Relu of 2**60 elements, converted from ONNX: build v2.51.0.260929181845 divides by zero."""
    with toolchain.open(DATA / "crashing.dlc", SM8650) as session, pytest.raises(ToolFailed) as caught:
        session.compile(point(0, session.graph_names))
    assert (caught.value.kind, caught.value.diagnosis.signal) == (FailureKind.CRASH, signal.SIGFPE)


def test_a_refusal_is_a_result_of_its_own(session: BundledSession) -> None:
    with pytest.raises(ConfigRejected, match="no option named not_an_option") as caught:
        compile_graph(session, O=3, finalize_config={"not_an_option": 1})
    assert (caught.value.kind, caught.value.diagnosis.error_code) == (FailureKind.REFUSAL, 6000)


def test_a_p_without_the_highest_optimization_level_is_refused_with_the_reason(session: BundledSession) -> None:
    with pytest.raises(ConfigRejected, match="P needs O=3"):
        compile_graph(session, O=2, finalize_config={"P": 6})


def test_an_empty_finalize_key_is_refused(session: BundledSession) -> None:
    with pytest.raises(ConfigRejected, match=r"setting the graph options|no option named"):
        compile_graph(session, O=3, finalize_config={"": 1})


def test_a_cancelled_compile_is_a_result_of_its_own(session: BundledSession) -> None:
    with pytest.raises(Cancelled):
        session.compile(point(0, session.graph_names), cancelled=lambda: True)


def test_a_failed_compile_leaves_no_scratch_folder(session: BundledSession) -> None:
    with pytest.raises(ConfigRejected):
        compile_graph(session, finalize_config={"not_an_option": 1})
    assert [path.name for path in session.folder.iterdir()] == ["model.dlc"]


# Bad input


def zeroed(data: bytes, member: str) -> bytes:
    """The DLC with one member's bytes set to zero; its members are stored, so the container stays whole."""
    info = zipfile.ZipFile(io.BytesIO(data)).getinfo(member)
    name_bytes, extra_bytes = struct.unpack_from("<HH", data, info.header_offset + 26)
    start = info.header_offset + 30 + name_bytes + extra_bytes
    return data[:start] + bytes(info.file_size) + data[start + info.file_size :]


def damaged(name: str, folder: Path) -> Path:
    data = (DATA / "small.dlc").read_bytes()
    contents = {
        "empty": b"",
        "random": random.Random(7).randbytes(5000),
        "one byte short": data[:-1],
        "half": data[: len(data) // 2],
        "an ONNX": (DATA / "small.qdq.onnx").read_bytes(),
        "an empty zip": b"PK\5\6" + bytes(18),
        "a zeroed model": zeroed(data, "model"),
        "zeroed model.params": zeroed(data, "model.params"),
        "no model.params": data.replace(b"model.params", b"other.params"),
    }
    path = folder / "model.dlc"
    path.write_bytes(contents[name])
    return path


DAMAGES = ["empty", "random", "one byte short", "half", "an ONNX", "an empty zip", "a zeroed model"]
DAMAGES += ["zeroed model.params", "no model.params"]


@pytest.mark.parametrize("name", DAMAGES)
def test_what_is_no_dlc_is_refused_as_a_model(toolchain: BundledToolchain, tmp_path: Path, name: str) -> None:
    with (
        pytest.raises(ModelRejected, match=r"cannot be loaded as a DLC|while building the graph from the DLC"),
        toolchain.open(damaged(name, tmp_path), SM8650),
    ):
        pass


@pytest.mark.parametrize("content", [b"", b"\0" * 100, random.Random(3).randbytes(9000)])
def test_what_is_no_context_binary_is_refused(toolchain: BundledToolchain, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "context.bin"
    path.write_bytes(content)
    with pytest.raises(ModelRejected, match="not a context binary"):
        toolchain.read_context(path)


def test_a_context_binary_of_another_length_is_refused(toolchain: BundledToolchain, session: BundledSession) -> None:
    binary = session.compile(point(0, session.graph_names)).binary
    whole = binary.read_bytes()
    other = binary.with_suffix(".other")
    for content in (whole[:-100], whole[:-1], whole + bytes(100)):
        other.write_bytes(content)
        with pytest.raises(ModelRejected, match="not a context binary"):
            toolchain.read_context(other)


def test_an_unknown_version_is_refused_with_both_names() -> None:
    with pytest.raises(UnsupportedVersion, match=r"core API 2\.41\.0 .*Supported are core 2\.36"):
        supported_layout((2, 41, 0), (1, 16, 0))


def test_a_mixture_of_two_builds_is_refused() -> None:
    with pytest.raises(UnsupportedVersion):
        supported_layout((2, 40, 0), (1, 11, 0))


def test_every_known_version_has_a_layout() -> None:
    assert sorted(layout.wheel for layout in LAYOUTS.values()) == ["2.3.0", "2.4.0", "2.5.0", "2.6.0", "2.7.0"]


def test_missing_libraries_are_named(tmp_path: Path, toolchain: BundledToolchain) -> None:
    shutil.copy(toolchain.libraries / "libQnnSystem.so", tmp_path)
    with pytest.raises(ToolFailed, match=r"libQnnHtp\.so cannot be loaded"):
        _ = BundledToolchain(tmp_path, "0").identity
