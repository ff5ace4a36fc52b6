"""What stands in `finalize_config` beside P, where the compiler itself checks names only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from devices.targets import find_target
from sweeps.configs import GraphConfig, HtpConfig
from sweeps.toolchain.base import CompileResult, Point
from sweeps.toolchain.qnn.compiler import BundledSession, BundledToolchain
from tests.conftest import DATA
from tests.sweeps.configs.checks import SM8650, accepted, check, graph, only_problem, sentences

PATH = "graphs[0].finalize_config"


def options(**settings: Any) -> dict[str, Any]:
    return graph(O=3, finalize_config=settings)


@pytest.mark.parametrize("key", ["p", " P", "P ", "p_value", "P_VALUE"])
def test_another_spelling_of_p_is_proposed_to_be_p(key: str) -> None:
    problem = only_problem(check(options(**{key: 6})))
    assert "did you mean P?" in problem.sentence
    assert str(problem.fix).endswith(f"to {PATH}.P")


def test_another_spelling_of_p_beside_p_is_proposed_to_be_removed() -> None:
    assert str(only_problem(check(options(P=6, p=5))).fix) == f"remove {PATH}.p"


@pytest.mark.parametrize("config", [{"P": 6}, {"p": 6}, {"graphs": [{"O": 3, "p": 6}]}])
def test_a_p_outside_of_finalize_config_is_proposed_to_be_moved_there(config: dict[str, Any]) -> None:
    assert str(only_problem(check(config)).fix).endswith(f"to {PATH}.P")


@pytest.mark.parametrize(
    ("key", "place"),
    [
        ("vtcm_mb", "graphs[0].vtcm_mb"),
        ("vtcm_size", "graphs[0].vtcm_size"),
        ("hvx_threads", "graphs[0].hvx_threads"),
        ("cached_weights", "graphs[0].cached_weights"),
        ("enable_dlbc", "graphs[0].dlbc"),
        ("dlbc_weight_compression", "graphs[0].dlbc_weights"),
        ("sparsity_weight_compression", "graphs[0].sparse_weights_compression"),
        ("slc_allocate", "graphs[0].slc_alloc_enable"),
        ("num_nsps", "graphs[0].num_cores"),
        ("num_cores", "graphs[0].num_cores"),
        ("extended_udma", "context.extended_udma"),
        ("weight_sharing_enabled", "context.weight_sharing_enabled"),
        ("soc_type", "devices[0].soc_model"),
    ],
)
def test_a_key_of_the_config_is_no_option(key: str, place: str) -> None:
    problem = only_problem(check(options(**{key: 1})))
    assert problem.path == f"{PATH}.{key}"
    assert "no setting of finalize_config" in problem.sentence
    assert str(problem.fix) == f"move {PATH}.{key} to {place}"


def test_an_optimization_level_that_the_graph_has_already_is_proposed_to_be_removed() -> None:
    assert str(only_problem(check(options(O=2))).fix) == f"remove {PATH}.O"


@pytest.mark.parametrize(
    "key", ["assume_same_quant", "enable_predication", "fp16_clamp_overflow", "share_io_buffer", "fold_relu_flag"]
)
def test_an_option_that_acts_is_passed_through(key: str) -> None:
    assert accepted(check(options(**{key: 1}))).graphs[0].finalize_config == {key: 1}


@pytest.mark.parametrize(
    "text", ["/tmp/x", "a/b", "a\\b", "..", "model.dlc", "context.bin", "a\0b", "~", "$HOME", "a;b", "a\nb", "a|b", "é"]
)
def test_a_text_that_may_name_a_file_is_refused(text: str) -> None:
    problem = only_problem(check(options(sim_trace_initial=text)))
    assert "words and numbers only" in problem.sentence
    assert str(problem.fix) == f"remove {PATH}.sim_trace_initial"


@pytest.mark.parametrize("text", ["", "heuristic", "0.15,0.15", "8hmx+8hvx", "used cost", "a-b:c"])
def test_a_text_of_words_and_numbers_is_passed_through(text: str) -> None:
    assert accepted(check(options(seq_x=text))).graphs[0].finalize_config == {"seq_x": text}


@pytest.mark.parametrize("key", ["", "P\0x", "a b", "a.b", "é", "1a"])
def test_a_name_that_no_option_has_is_refused(key: str) -> None:
    assert "no name of a compiler option" in only_problem(check(options(**{key: 24}))).sentence


@pytest.mark.parametrize("number", [2**31, -(2**31) - 1, 3.5e38, -1e300])
def test_a_number_above_32_bits_is_refused(number: float) -> None:
    assert only_problem(check(options(debug_level=number))).path == f"{PATH}.debug_level"


@pytest.mark.parametrize("number", [2**31 - 1, -(2**31), 3.4e38, 0.5])
def test_a_number_of_32_bits_is_passed_through(number: float) -> None:
    assert accepted(check(options(debug_level=number))).graphs[0].finalize_config == {"debug_level": number}


@pytest.mark.parametrize(
    ("settings", "key"),
    [({"hmx_op_bounding": 1}, "hmx_op_bounding"), ({"dynamic_partitioning": {}}, "dynamic_partitioning")],
)
def test_a_wrong_container_is_refused(settings: dict[str, Any], key: str) -> None:
    assert only_problem(check(graph(**settings))).path == f"graphs[0].{key}"


def test_a_key_that_the_compiler_never_gets_is_not_called_one_of_run_time() -> None:
    checked = check({**graph(hmx_op_bounding={"a": 1}), "context": {"reference_weight_sharing_enabled": True}})
    assert accepted(checked).graphs[0].hmx_op_bounding == {"a": 1}
    assert "not given to the compiler" in sentences(checked.warnings, "graphs[0].hmx_op_bounding")
    assert "not given" in sentences(checked.warnings, "context.reference_weight_sharing_enabled")
    assert sentences(checked.notes, "graphs[0]") + sentences(checked.notes, "context") == ""


@pytest.fixture(scope="module")
def plain(session: BundledSession) -> CompileResult:
    return compiled(session)


@pytest.fixture(scope="module")
def session() -> Iterator[BundledSession]:
    with BundledToolchain().open(DATA / "small.dlc", find_target(SM8650)) as opened:
        yield opened


def compiled(session: BundledSession, **settings: Any) -> CompileResult:
    one = GraphConfig(graph_names=session.graph_names, O=3, finalize_config=settings or None)
    return session.compile(Point(config=HtpConfig(graphs=(one,))))


@pytest.mark.parametrize("key", ["O", "vtcm_size", "hvx_threads", "enable_dlbc", "slc_allocate", "num_nsps"])
def test_the_compiler_ignores_here_what_keys_of_the_config_set(
    session: BundledSession, plain: CompileResult, key: str
) -> None:
    assert compiled(session, **{key: 1}).sha256 == plain.sha256


def test_the_compiler_takes_extended_udma_here_without_a_word(session: BundledSession, plain: CompileResult) -> None:
    assert compiled(session, extended_udma=1).sha256 != plain.sha256
