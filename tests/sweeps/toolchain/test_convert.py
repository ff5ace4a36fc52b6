from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from devices.targets import Target, find_target
from sweeps.toolchain.convert import (
    FreeDimensionsMissing,
    NodesUnsupported,
    SourceRejected,
    convert_onnx,
    prepare_source,
)
from sweeps.toolchain.convert.provider_log import refused_nodes
from sweeps.toolchain.convert.session_errors import session_error
from sweeps.toolchain.errors import Cancelled, FailureKind, LimitReached, ModelRejected
from sweeps.toolchain.qnn.compiler import BundledToolchain
from tests.sweeps.toolchain import onnx_models
from tests.sweeps.toolchain.points import point
from tunerweb.work.child import ROOT, Limits

SM8650 = find_target("SM8650")
INTEGER_ONLY = find_target("QCS6490")


def graph_and_bytes(dlc: Path, target: Target = SM8650) -> tuple[str, str]:
    """The name of the only graph, and the hash of what the compiler makes of it."""
    with BundledToolchain().open(dlc, target) as session:
        (name,) = session.graph_names
        return name, session.compile(point(0, [name])).sha256


def test_the_same_model_in_two_folders_compiles_to_the_same_bytes(sample_onnx: Path, tmp_path: Path) -> None:
    results = []
    for name in ("one", "another folder"):
        folder = tmp_path / name
        folder.mkdir()
        model = folder / f"{name}'s model.onnx"
        model.write_bytes(sample_onnx.read_bytes())
        results.append(graph_and_bytes(convert_onnx(model, SM8650, work=folder).dlc))
    assert results[0] == results[1]


def test_a_conversion_knows_the_models_own_name_and_the_converters_build(sample_onnx: Path, tmp_path: Path) -> None:
    conversion = convert_onnx(sample_onnx, SM8650, work=tmp_path)
    assert conversion.model_name == "sample_detector"
    assert "onnxruntime-qnn" in conversion.identity
    assert "(v2." in conversion.identity


def test_only_the_dlc_stays_in_the_work_folder(tmp_path: Path) -> None:
    model = onnx_models.float_cnn(tmp_path / "m.onnx")
    work = tmp_path / "work"
    work.mkdir()
    conversion = convert_onnx(model, SM8650, work=work)
    assert list(work.iterdir()) == [conversion.dlc]


def test_a_free_dimension_is_asked_for_by_name(tmp_path: Path) -> None:
    model = onnx_models.free_batch(tmp_path / "m.onnx")
    with pytest.raises(FreeDimensionsMissing) as caught:
        convert_onnx(model, SM8650, work=tmp_path)
    assert str(caught.value) == 'Input "x" has the free dimension N: give it as --dim N=<number>.'


def test_a_free_dimension_takes_the_given_number(tmp_path: Path) -> None:
    model = onnx_models.free_batch(tmp_path / "m.onnx")
    conversion = convert_onnx(model, SM8650, free_dimensions={"N": 2}, work=tmp_path)
    with BundledToolchain().open(conversion.dlc, SM8650) as session:
        result = session.compile(point(0, session.graph_names))
    assert result.graphs[0].inputs[0].dimensions == (2, 3, 32, 32)
    assert "free dimension N = 2" in conversion.notes


def test_a_free_dimension_without_a_name_is_named_by_its_place(tmp_path: Path) -> None:
    model = onnx_models.free_batch(tmp_path / "m.onnx", batch=None)
    with pytest.raises(FreeDimensionsMissing, match=r"--dim 'x\[0\]'=<number>"):
        convert_onnx(model, SM8650, work=tmp_path)
    assert convert_onnx(model, SM8650, free_dimensions={"x[0]": 1}, work=tmp_path).dlc.is_file()


def test_an_unknown_dimension_is_refused_with_those_that_there_are(tmp_path: Path) -> None:
    model = onnx_models.free_batch(tmp_path / "m.onnx")
    with pytest.raises(FreeDimensionsMissing, match='no free dimension "M"; its free dimensions are N'):
        convert_onnx(model, SM8650, free_dimensions={"M": 1, "N": 1}, work=tmp_path)


@pytest.mark.parametrize("size", [0, -1, True, 2**31])
def test_an_impossible_dimension_is_refused(size: int, tmp_path: Path) -> None:
    model = onnx_models.free_batch(tmp_path / "m.onnx")
    with pytest.raises(FreeDimensionsMissing, match="give a whole number of 1 or more"):
        convert_onnx(model, SM8650, free_dimensions={"N": size}, work=tmp_path)


def test_a_model_with_external_data_converts(tmp_path: Path) -> None:
    source = tmp_path / "upload"
    source.mkdir()
    model = prepare_source([onnx_models.token_lookup(source / "tiny.onnx")], tmp_path)
    conversion = convert_onnx(model, SM8650, work=tmp_path)
    assert 'int64 becomes int32 on the device (input "input_ids").' in conversion.notes


def test_a_data_file_cannot_take_the_place_of_the_childs_own_files(tmp_path: Path) -> None:
    source = tmp_path / "upload"
    source.mkdir()
    model = onnx_models.token_lookup(source / "tiny.onnx", location="result.json")
    assert convert_onnx(prepare_source([model], tmp_path), SM8650, work=tmp_path).dlc.is_file()


def test_a_float_model_becomes_float16_with_a_note(tmp_path: Path) -> None:
    model = onnx_models.float_cnn(tmp_path / "m.onnx")
    assert "float model: compiled as float16." in convert_onnx(model, SM8650, work=tmp_path).notes


def test_a_float_model_is_refused_where_there_is_no_float16(tmp_path: Path) -> None:
    model = onnx_models.float_cnn(tmp_path / "m.onnx")
    with pytest.raises(ModelRejected, match="float model and QCS6490 computes in integers only; quantize it first"):
        convert_onnx(model, INTEGER_ONLY, work=tmp_path)


def test_dynamic_quantization_is_refused_with_the_advice_to_quantize_statically(tmp_path: Path) -> None:
    with pytest.raises(NodesUnsupported, match="quantize the model statically") as caught:
        convert_onnx(onnx_models.dynamic_quantization(tmp_path / "m.onnx"), SM8650, work=tmp_path)
    assert [node.label for node in caught.value.nodes] == ['Node "quantize_1"', 'Node "multiply_1"']


def test_a_computed_scale_is_refused_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(NodesUnsupported, match=r'Node "norm_1" \(BatchNormalization\): the scale must be a constant'):
        convert_onnx(onnx_models.computed_scale(tmp_path / "m.onnx"), SM8650, work=tmp_path)


@pytest.mark.parametrize("op_type", ["Sqrt", "Reciprocal"])
def test_a_quantized_root_converts_also_for_an_integer_only_target(op_type: str, tmp_path: Path) -> None:
    model = onnx_models.quantized_single(tmp_path / "m.onnx", op_type)
    assert convert_onnx(model, INTEGER_ONLY, work=tmp_path).dlc.is_file()


def test_all_unsupported_nodes_are_named_at_once(tmp_path: Path) -> None:
    with pytest.raises(NodesUnsupported) as caught:
        convert_onnx(onnx_models.several_unsupported(tmp_path / "m.onnx"), SM8650, work=tmp_path)
    labels = {node.label for node in caught.value.nodes}
    assert labels == {'Node "det_1"', 'The node that produces "y"'}
    assert str(caught.value).startswith("2 nodes of the model cannot run on SM8650.")


def test_operations_that_onnx_does_not_know_are_all_named(tmp_path: Path) -> None:
    with pytest.raises(NodesUnsupported) as caught:
        convert_onnx(onnx_models.custom_operations(tmp_path / "m.onnx"), SM8650, work=tmp_path)
    assert [node.label for node in caught.value.nodes] == ['Node "blur_1"', 'Node "sharpen_1"']


def test_a_model_of_which_nothing_is_left_is_refused(tmp_path: Path) -> None:
    model = onnx_models.write(tmp_path / "m.onnx", [], [onnx_models.floats("x", 1, 8)], [onnx_models.floats("x", 1, 8)])
    with pytest.raises(ModelRejected, match="Nothing is left of the model to compile"):
        convert_onnx(model, SM8650, work=tmp_path)


def test_a_shape_that_no_npu_can_address_is_refused_with_the_given_dimension(tmp_path: Path) -> None:
    model = onnx_models.free_batch(tmp_path / "m.onnx")
    with pytest.raises(ModelRejected, match="2147483647 x 3 x 32 x 32 elements large"):
        convert_onnx(model, SM8650, free_dimensions={"N": 2**31 - 1}, work=tmp_path)


@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        (
            "Load model from model.onnx failed:/src/core/graph/load.h:46 void validate(const Map&, bool, int) ONNX "
            "Runtime only *guarantees* support for released versions. Opset 99 is under development and support for "
            "this is limited. Current official support for domain ai.onnx is till opset 28.",
            "It uses opset 99 and the converter reads opsets up to 28; export it with an older opset.",
        ),
        (
            "Load model from model.onnx failed:Node (mm) Op (MatMul) [ShapeInferenceError] Incompatible dimensions",
            'Node "mm" (MatMul) does not fit what it is given: Incompatible dimensions.',
        ),
        (
            "Load model from model.onnx failed:This is an invalid model. Error: the graph is not acyclic.",
            "It is damaged: some of its nodes depend on their own results.",
        ),
        (
            "Load model from model.onnx failed:/src/core/graph/x.cc:12 Status f(int) Something new.",
            "The converter says: Something new.",
        ),
    ],
)
def test_what_the_runtime_says_becomes_a_sentence(message: str, sentence: str) -> None:
    assert session_error(message) == sentence


def test_a_refused_model_leaves_no_file(tmp_path: Path) -> None:
    model = onnx_models.several_unsupported(tmp_path / "m.onnx")
    with pytest.raises(NodesUnsupported):
        convert_onnx(model, SM8650, work=tmp_path)
    assert list(tmp_path.iterdir()) == [model]


def test_a_dlc_is_not_converted(small_dlc: Path, tmp_path: Path) -> None:
    with pytest.raises(SourceRejected, match="is a DLC, not an ONNX model"):
        convert_onnx(small_dlc, SM8650, work=tmp_path)


def test_a_conversion_past_its_time_is_a_hang(tmp_path: Path) -> None:
    model = onnx_models.float_cnn(tmp_path / "m.onnx")
    with pytest.raises(LimitReached, match="The conversion was stopped after its time limit") as caught:
        convert_onnx(model, SM8650, work=tmp_path, limits=Limits(wall_s=0.05))
    assert caught.value.kind is FailureKind.HANG


def test_a_conversion_can_be_cancelled(tmp_path: Path) -> None:
    model = onnx_models.float_cnn(tmp_path / "m.onnx")
    with pytest.raises(Cancelled):
        convert_onnx(model, SM8650, work=tmp_path, cancelled=lambda: True)


def test_the_parent_never_imports_the_converter() -> None:
    code = "import sys, json, sweeps.toolchain.convert; print(json.dumps(sorted(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, cwd=ROOT)
    assert not {"onnx", "onnxruntime", "sweeps.toolchain.qnn"} & set(json.loads(run.stdout))


def block(verdict: str, op_type: str, name: str, *reasons: str) -> list[str]:
    return [
        f"[V:onnxruntime:] Validation {verdict} for 1 nodes in OrtNodeUnit ({op_type}) :",
        f"\tOperator type: {op_type} Node name: {name} Node index: 0",
        *(f"\tREASON : {reason}" for reason in reasons),
    ]


def test_a_node_that_passes_after_the_layout_is_changed_is_not_refused() -> None:
    assert refused_nodes([*block("FAILED", "Conv", "c"), *block("PASSED", "Conv", "c_token_3")]) == []


def test_what_the_validator_says_belongs_to_the_node_that_follows() -> None:
    log = ["<E> The SocModel doesn't support FP16", *block("FAILED", "Conv", "c1", "Failed to add node.")]
    log += ["<E> [1] has incorrect Rank 6.", *block("FAILED", "Relu", "r1", "Failed to add node.")]
    first, second = refused_nodes(log)
    assert "no float16" in first.reason
    assert "rank 6" in second.reason


def test_a_reason_that_is_not_known_is_given_in_the_converters_words() -> None:
    (node,) = refused_nodes(block("FAILED", "Pad", "p", "Something quite new."))
    assert node.reason == "the converter says: Something quite new"
