"""Whatever is sent: a checked config or ConfigUnreadable, and never another exception."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from devices.targets import find_target
from sweeps.configs import CheckedConfig, ConfigUnreadable, apply_fix, check_config, read_config
from sweeps.configs.key_names import ALIASES, SECTIONS

KEYS = sorted({key for section in SECTIONS for key in section.model_fields} | set(ALIASES) | {"P", "soc_id", "x"})
ANY_VALUE = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
MOST_FIXES = 10
SHORT = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def containers(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(values, max_size=3) | st.dictionaries(st.sampled_from(KEYS), values, max_size=5)


JSON_VALUE = st.recursive(ANY_VALUE | st.sampled_from(["v75", "73", 57, 0, 1, 3, "tiny_a"]), containers, max_leaves=25)
SETTINGS = st.dictionaries(st.sampled_from(KEYS), JSON_VALUE, max_size=6)
SECTION_SHAPED = st.fixed_dictionaries(
    {"graphs": st.lists(SETTINGS, max_size=3), "devices": st.lists(SETTINGS, max_size=2)}
)

GRAPH = st.fixed_dictionaries(
    {},
    optional={
        "O": st.sampled_from([3, 3.0]),
        "vtcm_mb": st.integers(0, 8),
        "dlbc": st.sampled_from([0, 1, True, False, 1.0, None]),
        "weights_packing": st.sampled_from([0, 1, True, False, None]),
        "finalize_config": st.dictionaries(
            st.from_regex(r"sim_[A-Za-z0-9_]*", fullmatch=True),
            st.booleans() | st.from_regex(r"[a-z0-9+, ]*", fullmatch=True) | st.integers(-9, 9),
        ),
        "hmx_op_bounding": st.dictionaries(st.text(), JSON_VALUE),
        "dynamic_partitioning": st.lists(JSON_VALUE),
    },
)
DEVICE = st.fixed_dictionaries(
    {},
    optional={
        "soc_id": st.just(57),
        "soc_model": st.sampled_from([57, 57.0]),
        "dsp_arch": st.sampled_from(["v75", "V75", 75, "75"]),
        "cores": st.lists(st.dictionaries(st.just("core_id"), st.integers(0, 3)), max_size=2),
        "pd_session": st.text(),
    },
)
CONTEXT = st.dictionaries(st.sampled_from(["weight_sharing_enabled", "prepare_only"]), st.booleans())
ACCEPTABLE = st.fixed_dictionaries(
    {},
    optional={
        "graphs": GRAPH | GRAPH.map(lambda graph: [graph]) | st.just([]),
        "devices": DEVICE | DEVICE.map(lambda device: [device]) | st.none(),
        "context": CONTEXT | CONTEXT.map(lambda context: [context]),
    },
)


def checked_or_unreadable(data: bytes) -> CheckedConfig | None:
    try:
        document = read_config(data)
    except ConfigUnreadable:
        return None
    checked = check_config(document, target=find_target(57), graph_names=("tiny_a", "tiny_b"), rebind=True)
    assert (checked.config is None) == bool(checked.problems)
    for problem in checked.problems[:MOST_FIXES]:
        if problem.fix:
            apply_fix(document, problem.fix)
    return checked


@SHORT
@given(JSON_VALUE | SETTINGS | SECTION_SHAPED)
def test_any_json_value_is_checked_or_unreadable(value: Any) -> None:
    checked_or_unreadable(json.dumps(value).encode())


@SHORT
@given(st.binary(max_size=200) | st.text(alphabet='{}[]",:/*\\ \n01aO').map(str.encode))
def test_any_bytes_are_checked_or_unreadable(data: bytes) -> None:
    checked_or_unreadable(data)


@SHORT
@given(ACCEPTABLE)
def test_what_was_accepted_is_accepted_again_unchanged(value: Any) -> None:
    checked = checked_or_unreadable(json.dumps(value).encode())
    assert checked is not None
    assert checked.problems == ()
    assert checked.config is not None
    again = checked_or_unreadable(json.dumps(checked.config.to_json()).encode())
    assert again is not None
    assert again.config == checked.config


@pytest.mark.parametrize(
    "text",
    [
        '"' + '\\"' * 1_000_000,
        "{" + ",".join(f'"key{number}":1' for number in range(50_000)) + "}",
        '{"graphs":[{' + ",".join(f'"vtcm{number}":1' for number in range(50_000)) + "}]}",
        json.dumps({"graphs": [{"graph_names": [str(number) for number in range(20_000)]}] * 2}),
        json.dumps({"graphs": [{f"vtcm_{number}": 1 for number in range(50)}] * 1000}),
        "/*" * 500_000,
    ],
    ids=["quotes", "unknown keys", "similar keys", "graph names", "entries", "comments"],
)
def test_a_large_nonsense_file_is_answered_soon(text: str) -> None:
    started = time.perf_counter()
    checked_or_unreadable(text.encode())
    assert time.perf_counter() - started < 10
