"""Where in a text the path of a finding is written."""

from __future__ import annotations

import json

import pytest

from sweeps.configs.findings import path_text
from sweeps.configs.positions import lines_of_paths


def line_of(text: str, path: str) -> int:
    return lines_of_paths(text, {path})[path]


def test_a_key_is_on_the_line_that_it_is_written_on() -> None:
    assert line_of('{"graphs": [\n{"O": 3,\n"vtcm_mb": 4}]}', "graphs[0].vtcm_mb") == 3


def test_each_entry_of_a_list_is_counted() -> None:
    text = '{"graphs": [\n{"O": 3},\n{"O": 2},\n{"O": 1}]}'
    assert [line_of(text, f"graphs[{index}].O") for index in range(3)] == [2, 3, 4]


def test_an_entry_itself_has_a_line() -> None:
    assert line_of('{"graphs": [\n1,\n"two"]}', "graphs[1]") == 3


def test_an_object_in_place_of_a_list_is_its_entry_0() -> None:
    assert line_of('{"devices":\n{"cores":\n{"core_id": 0}}}', "devices[0].cores[0].core_id") == 3


def test_a_list_in_place_of_an_object_has_no_number() -> None:
    assert line_of('{"context": [{},\n{"extended_udma": true}]}', "context.extended_udma") == 2


def test_what_is_not_written_is_where_it_would_stand() -> None:
    assert line_of('{"graphs": [\n{"finalize_config": {"P": 6}}]}', "graphs[0].O") == 2


def test_what_nothing_holds_is_on_the_first_line() -> None:
    assert line_of('{\n"graphs": []}', "devices[0].soc_model") == 1


@pytest.mark.parametrize("key", ["a key", "a.b", "a[0]", 'a"b', "über", "x" * 100])
def test_a_key_can_have_any_name(key: str) -> None:
    assert line_of('{"graphs": [{\n' + json.dumps(key) + ": 1}]}", path_text(("graphs", 0, key))) == 2


def test_comments_and_strings_that_look_like_keys_are_passed_over() -> None:
    text = '{ // "O": 1\n"graphs": [{"graph_names": ["\\"O\\": {"], /* {"O":\n2 */\n"O": 3}]}'
    assert line_of(text, "graphs[0].O") == 4


def test_a_key_of_the_wrapper_is_found() -> None:
    text = '{"backend_extensions": {\n"shared_library_path": "x"}}'
    assert line_of(text, "backend_extensions.shared_library_path") == 2


def test_unreadable_text_has_lines_all_the_same() -> None:
    assert line_of('}]{"graphs": [\n{"O"', "graphs[0].O") >= 1
