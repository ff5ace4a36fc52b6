from __future__ import annotations

import json

import pytest

from sweeps.configs import ConfigUnreadable, empty_document, read_config, target_number_of, wrapper_json
from sweeps.configs.json_text import LARGEST_FILE_BYTES

SETTINGS = '{"graphs":[{"vtcm_mb":4}]}'


def refused(data: bytes | str) -> str:
    with pytest.raises(ConfigUnreadable) as refusal:
        read_config(data if isinstance(data, bytes) else data.encode(), name="mine.json")
    return str(refusal.value)


def test_strict_json_is_read_without_a_note() -> None:
    document = read_config(SETTINGS.encode())
    assert (document.tree, document.kind, document.notes) == (json.loads(SETTINGS), "inner", ())


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_other_encodings_are_read_with_a_note(encoding: str) -> None:
    document = read_config(SETTINGS.encode(encoding))
    assert document.tree == json.loads(SETTINGS)
    assert "UTF-8" in document.notes[0].sentence


def test_comments_are_removed_with_their_lines() -> None:
    document = read_config(b'{// one\n"graphs":[/* two\n */]}')
    assert document.tree == {"graphs": []}
    assert document.notes[0].sentence.startswith("Comments removed at lines 1 and 2;")


def test_a_trailing_comma_before_a_comment_is_removed() -> None:
    document = read_config(b'{"graphs":[],\n// end\n}')
    assert document.tree == {"graphs": []}
    assert document.notes[1].sentence.startswith("Trailing comma removed at line 1;")


def test_comment_signs_and_commas_inside_texts_stay() -> None:
    document = read_config(rb'{"context":{"contextKey":"a//b /* ,] \" ,}"},}')
    assert document.tree == {"context": {"contextKey": 'a//b /* ,] " ,}'}}


def test_an_error_after_a_comment_names_the_line_of_the_file() -> None:
    assert "line 3, column 11" in refused("/* a\n b */\n{'graphs':1}".replace("'graphs':", '"graphs" '))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "mine.json is empty"),
        (" \n", "mine.json is empty"),
        (" " * 5_000_000, "5,000,000 spaces and nothing else"),
        ("null", "holds null where an object is needed"),
        ('"graphs"', 'holds "graphs" where an object is needed'),
        ('{"graphs":NaN}', "has the number NaN"),
        ('{"graphs":-Infinity}', "has the number -Infinity"),
        ('{"graphs":1e999}', "has the number 1e999"),
        ('{"graphs":' + "9" * 5000 + "}", "which no tool can read"),
        ('{"graphs":"\\ud800"}', "half a character"),
        ('{"graphs":/* ', "comment at line 1 of mine.json never ends"),
        ('{"graphs":/*/ ', "comment at line 1 of mine.json never ends"),
        ("{'graphs':1}", "a key in double quotes is expected, at line 1, column 2"),
        ('{"graphs":[]', "is not JSON: expecting ',' delimiter, at line 1, column 13"),
        ('{"graphs":[]} {}', "there is more text after the end of the object"),
        ('{"graphs":[],,}', "is not JSON"),
        ("[" * 65, "nested more than 64 levels deep at line 1"),
        ('{"graphs":[1],"graphs":[1]}', "twice in one object, with [1] and [1]"),
        ('{"settings":1}', "neither the wrapper"),
        ('{"backend_extensions":"x"}', 'has "x" as backend_extensions'),
        ('{"backend_extensions":{"shared_library_path":"x"}}', "names no config_file_path"),
        ('{"backend_extensions":{"config_file_path":7}}', "has 7 as config_file_path"),
        ('{"backend_extensions":{"config_file_path":"a"},"graphs":[]}', "only one can count"),
    ],
)
def test_what_cannot_be_read_is_said_in_one_sentence(text: str, sentence: str) -> None:
    refusal = refused(text)
    assert sentence in refusal
    assert refusal.isprintable()


def test_bytes_that_are_no_text_are_refused() -> None:
    assert "not a text file: byte 1 is no UTF-8" in refused(b"a\xff\xfe")


def test_a_file_above_the_size_limit_is_refused_unread() -> None:
    assert "has 8.0 MB" in refused(b" " * (LARGEST_FILE_BYTES + 1))


@pytest.mark.parametrize("text", ['{"O":3}', '{"grahps":[]}', "{}", '{"devices":null}'])
def test_what_was_meant_as_settings_is_left_to_the_check(text: str) -> None:
    assert read_config(text.encode()).tree == json.loads(text)


def test_unknown_keys_beside_the_wrappers_own_are_warned_of() -> None:
    text = '{"backend_extensions":{"config_file_path":"a.json","htp":{"x":1}}}'
    assert [warning.path for warning in read_config(text.encode()).warnings] == ["backend_extensions.htp.x"]


def test_an_empty_document_has_no_settings() -> None:
    assert empty_document().tree == {}


@pytest.mark.parametrize(
    ("devices", "number"),
    [
        ('[{"soc_model":57}]', 57),
        ('[{"soc_id":57}]', 57),
        ('{"soc_model":57.0}', 57),
        ('[{"soc_model":"57"}]', 57),
        ('[{"soc_model":"SM8650"}]', 57),
        ('[{},{"soc_model":69}]', 69),
        ('[{"soc_model":685}]', 685),
        ('[{"soc_model":true}]', None),
        ('[{"soc_model":"no such chip"}]', None),
        ('"57"', None),
        ("[57]", None),
    ],
)
def test_the_number_of_the_target_is_read_from_devices(devices: str, number: int | None) -> None:
    assert target_number_of(read_config(f'{{"devices":{devices}}}'.encode())) == number


def test_our_wrapper_is_read_as_a_wrapper() -> None:
    document = read_config(json.dumps(wrapper_json("inner.json")).encode())
    assert (document.kind, document.config_file_path, document.notes) == ("wrapper", "inner.json", ())
