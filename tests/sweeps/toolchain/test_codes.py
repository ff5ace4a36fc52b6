from __future__ import annotations

import pytest

from sweeps.toolchain.codes import CODES, explain_code


def test_a_code_is_shown_in_both_notations_with_its_name_and_the_step() -> None:
    sentence = explain_code(1002, "compiling the graph")
    assert sentence.startswith("1002 = 0x3EA (memory allocation), while compiling the graph: ")
    assert sentence.endswith(".")


def test_the_same_code_has_another_sense_in_another_step() -> None:
    assert explain_code(1002, "compiling the graph") != explain_code(1002, "loading the DLC").replace(
        "loading the DLC", "compiling the graph"
    )


def test_a_code_is_known_by_its_low_half() -> None:
    assert "(memory allocation)" in explain_code(0x1_03EA)


def test_a_fastrpc_code_is_not_cut_to_its_low_half() -> None:
    assert "Skel" in explain_code(0x80000406)


def test_an_unknown_code_is_said_to_have_no_public_meaning() -> None:
    assert explain_code(77).startswith("77 = 0x4D: no public document")


@pytest.mark.parametrize("code", sorted(CODES))
def test_every_code_is_explained_in_one_sentence(code: int) -> None:
    sentence = explain_code(code)
    assert sentence.count(".") == 1
    assert "\n" not in sentence
