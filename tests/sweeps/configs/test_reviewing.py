"""What an editor shows of the text of a config."""

from __future__ import annotations

import json

import pytest

from devices.targets import SocModel, all_socs, find_target
from sweeps.configs import ConfigUnreadable, check_config, read_config
from sweeps.configs.reviewing import Review, proposed, read_typed, review, text_of_file, with_fix
from sweeps.configs.starting import starting_text

READY = '{"graphs": [{"O": 3, "vtcm_mb": 8}], "devices": [{"soc_model": 57, "dsp_arch": "v75"}]}'
WRAPPER = '{"backend_extensions": {"shared_library_path": "other.so", "config_file_path": "inner.json"}}'


def fixed(text: str, label: str) -> str:
    checked = review(text)
    (finding,) = [one for one in checked.findings if one.fix_label == label]
    return with_fix(checked, proposed(checked, finding.fix_value))


def changed(checked: Review) -> list[str]:
    assert checked.changes
    return [row.sign + row.text.strip() for row in checked.changes.rows if row.sign]


def test_a_config_without_problems_is_ready_for_the_soc_that_it_names() -> None:
    assert review(READY).headline == "Ready to compile for SM8650."


def test_problems_are_counted_for_the_target() -> None:
    assert review(READY, target=find_target("SM8550")).headline == "1 problem for SM8550."


def test_of_very_many_problems_no_wrong_count_is_given() -> None:
    text = json.dumps({"graphs": [{}]} | {f"key {number}": 1 for number in range(500)})
    assert review(text).headline == "More than 100 problems."


def test_a_config_that_normalising_leaves_alone_has_no_changes() -> None:
    changes = review(READY).changes
    assert changes is not None
    assert changes.is_empty


def test_what_normalising_changes_is_shown_without_changes_of_order_and_layout() -> None:
    text = '{"devices": [{"dsp_arch": "75", "soc_model": 57}], "graphs": [{"vtcm_mb": 8, "O": 3}]}'
    assert changed(review(text)) == ['\N{MINUS SIGN}"dsp_arch": "75",', '+"dsp_arch": "v75",']


def test_while_there_are_problems_there_is_nothing_to_compare() -> None:
    assert review(READY.replace("8}", "80}")).changes is None


def test_a_finding_has_the_line_of_its_key() -> None:
    checked = review(READY.replace('"vtcm_mb": 8', '\n\n"vtcm_mb": 80'))
    assert [one.line for one in checked.findings if one.kind == "problem"] == [3]


def test_unreadable_text_has_the_line_of_its_mistake() -> None:
    (finding,) = review('{\n"graphs": [}').findings
    assert finding.line == 2


def test_a_fix_changes_the_text_and_nothing_else_in_it() -> None:
    text = '{"memory": {"mem_type": "shared_buffer"}, "graphs": [{"O": 2, "finalize_config": {"P": 6}}]}'
    assert json.loads(fixed(text, "Set graphs[0].O to 3")) == {
        "memory": {"mem_type": "shared_buffer"},
        "graphs": [{"O": 3, "finalize_config": {"P": 6}}],
    }


def test_a_fix_keeps_the_wrapper_that_stands_in_the_same_file() -> None:
    text = '{"backend_extensions": {"shared_library_path": "x.so"}, "graphs": [{"O": 9}]}'
    assert json.loads(fixed(text, "Set graphs[0].O to 3")) == json.loads(text.replace("9", "3"))


def test_a_fix_for_another_text_is_refused() -> None:
    wrong = next(one for one in review('{"graphs": [{"O": 9}]}').findings if one.fix)
    with pytest.raises(ValueError, match="has changed since"):
        proposed(review(READY), wrong.fix_value)


def test_a_wrapper_alone_names_the_file_that_has_the_settings() -> None:
    assert review(WRAPPER).named_file == "inner.json"


def test_of_a_wrapper_alone_nothing_is_said_about_settings() -> None:
    assert [one.sentence for one in review(WRAPPER, target=find_target("SM8650")).findings] == [
        'The settings are in "inner.json"; give that file as well.',
        '"other.so" was replaced by libQnnHtpNetRunExtensions.so: the library comes with the toolchain.',
    ]


@pytest.mark.parametrize("text", ["", "  \n", "{", WRAPPER, "[]", '{"a": 1, "a": 2}'])
def test_what_holds_no_settings_cannot_be_kept(text: str) -> None:
    assert review(text).refusal.endswith(".")


def test_a_config_with_problems_can_be_kept() -> None:
    checked = review(READY.replace("8}", "80}"))
    assert (checked.problems, checked.refusal) == (1, "")


def test_a_nul_is_named_with_its_line() -> None:
    with pytest.raises(ConfigUnreadable, match="NUL character at line 2"):
        read_typed("{\n\0}")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32"])
def test_a_file_is_read_in_any_unicode_encoding(encoding: str) -> None:
    assert text_of_file(READY.encode(encoding), "a.json") == READY


@pytest.mark.parametrize("data", [b"\x00\xff" * 50, b"\x89PNG\r\n\x1a\n\0\0\0", bytes(range(256)), b"\0" * 100])
def test_a_file_that_is_no_text_is_named(data: bytes) -> None:
    with pytest.raises(ConfigUnreadable, match=r"a\.bin is not a text file"):
        text_of_file(data, "a.bin")


@pytest.mark.parametrize("text", ["[" * 100_000, '{"graphs":' * 50_000, '"' + "a" * 5_000_000, "{" + " " * 5_000_000])
def test_a_hostile_text_has_one_short_sentence(text: str) -> None:
    (finding,) = review(text).findings
    assert len(finding.sentence) < 200


@pytest.mark.parametrize("with_wrapper", [False, True])
@pytest.mark.parametrize("soc", all_socs(), ids=lambda soc: soc.name)
def test_the_template_of_every_soc_compiles_without_a_warning(soc: SocModel, with_wrapper: bool) -> None:
    target = find_target(soc.soc_model)
    checked = review(starting_text(target, with_wrapper=with_wrapper))
    assert (checked.target, checked.loud) == (target, ())


def test_a_template_names_the_graphs_of_the_model() -> None:
    document = read_config(starting_text(find_target("SM8650"), ["left", "right"]).encode())
    config = check_config(document, graph_names=["left", "right"]).config
    assert config is not None
    assert config.graphs[0].graph_names == ("left", "right")
