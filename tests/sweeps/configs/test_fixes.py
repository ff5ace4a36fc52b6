from __future__ import annotations

import json
from typing import Any

import pytest

from sweeps.configs import Fix, apply_fix, read_config


def fixed(config: dict[str, Any], fix: Fix) -> dict[str, Any]:
    return apply_fix(read_config(json.dumps(config).encode()), fix).tree


def test_a_value_is_set_in_the_object_form_of_a_list() -> None:
    assert fixed({"graphs": {"O": 2}}, Fix("set", ("graphs", 0, "O"), 3)) == {"graphs": {"O": 3}}


def test_a_value_is_set_in_the_list_form_of_an_object() -> None:
    config = {"context": [{"group_id": 1}, {"extended_udma": 1}]}
    assert fixed(config, Fix("set", ("context", "extended_udma"), True)) == {
        "context": [{"group_id": 1}, {"extended_udma": True}]
    }


@pytest.mark.parametrize("devices", [{}, {"devices": []}, {"devices": None}])
def test_what_is_missing_on_the_way_is_made(devices: dict[str, Any]) -> None:
    config = {"graphs": [], **devices}
    assert fixed(config, Fix("set", ("devices", 0, "soc_model"), 57)) == {"graphs": [], "devices": [{"soc_model": 57}]}


def test_a_key_is_moved() -> None:
    config = {"memory": {"extended_udma": True}}
    assert fixed(config, Fix("move", ("memory", "extended_udma"), ("context", "extended_udma"))) == {
        "memory": {},
        "context": {"extended_udma": True},
    }


def test_a_key_is_moved_into_an_empty_list() -> None:
    config = {"memory": {"group_id": 1}, "context": []}
    assert fixed(config, Fix("move", ("memory", "group_id"), ("context", "group_id")))["context"] == [{"group_id": 1}]


def test_the_only_entry_in_object_form_is_removed_with_its_key() -> None:
    assert fixed({"graphs": {"O": 2}, "context": {}}, Fix("remove", ("graphs", 0))) == {"context": {}}


def test_an_entry_in_object_form_is_set_as_a_whole() -> None:
    assert fixed({"devices": {"soc_id": 43}}, Fix("set", ("devices", 0), {"soc_model": 57})) == {
        "devices": {"soc_model": 57}
    }


def test_the_document_itself_stays() -> None:
    document = read_config(b'{"graphs":[{"O":2}]}')
    apply_fix(document, Fix("set", ("graphs", 0, "O"), 3))
    assert document.tree == {"graphs": [{"O": 2}]}


@pytest.mark.parametrize(
    "fix",
    [
        Fix("remove", ("graphs", 3)),
        Fix("remove", ("graphs", 0, "O")),
        Fix("remove", ("graphs", 0, "vtcm_mb", "x")),
        Fix("set", ("graphs", 5, "O"), 3),
        Fix("set", ("graphs", 0, "vtcm_mb", "x"), 3),
    ],
    ids=str,
)
def test_a_fix_of_another_config_is_refused(fix: Fix) -> None:
    with pytest.raises(ValueError, match="does not fit this config; check it again"):
        fixed({"graphs": [{"vtcm_mb": 4}]}, fix)
