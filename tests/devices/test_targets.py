from __future__ import annotations

import json

import pytest
from pydantic import ValidationError

from devices.targets import (
    SOCS_FILE,
    DspArch,
    NoHtp,
    SocModel,
    Target,
    TargetError,
    UnknownSoc,
    all_socs,
    find_soc,
    find_target,
    is_kernel_soc_id,
    parse_dsp_arch,
)

# What the compiler of QNN v2.51 answered for one model compiled for every number.
BY_ARCH = {
    "v68": {30, 32, 34, 35, 37, 38, 39, 62, 63, 93},
    "v69": {36, 41, 42, 53, 54},
    "v73": {
        *(43, 45, 46, 50, 52, 58, 60, 61, 64, 66, 68, 70, 73, 74, 76, 77, 78),
        *(85, 86, 89, 91, 100, 101, 102, 119, 120),
    },
    "v75": {57, 67, 82, 90},
    "v79": {69, 75, 104, 105},
    "v81": {72, 87, 88, 92, 94, 95, 96, 97, 99, 108, 109, 110, 111, 115, 117, 123},
    "v85": {103, 112, 113, 114},
}
WITH_ESTIMATES = {52, 62, 63, 72, 77, 95, 114}
WITHOUT_COST_MODEL = {32, 34, 35, 37, 38, 41, 42, 45, 46, 50, 54, 58, 61, 76, 89, 91, 93, 99, 108}
WITHOUT_FLOAT16 = {
    *(32, 34, 35, 37, 38, 45, 46, 50, 54, 58, 61, 64, 68, 70, 73, 74, 76, 78, 85, 86),
    *(91, 93, 95, 96, 100, 101, 102, 108, 110, 111),
}
MULTI_CORE = {63, 72, 114}
VTCM_OTHER_THAN_8_MB = {
    2: {32, 35, 38, 41, 45, 46, 50, 58, 61, 64, 73, 74, 76, 78, 93, 100, 101, 115, 117},
    3: {108},
    4: {30, 34, 37, 54, 68, 70, 86, 91, 95, 96, 102, 110, 111, 123},
    12: {103},
    16: {72, 114},
}
HVX_THREADS_OTHER_THAN_4 = {
    0: {108},
    2: {32, 35, 41, 45, 46, 50, 58, 61, 64, 73, 74, 76, 78, 93, 100, 101, 112, 113, 115, 117},
    6: {69, 75, 92, 97, 103, 104, 105, 109, 114},
    8: {72, 87, 88, 94, 99},
}


def numbers(socs: list[SocModel]) -> set[int]:
    return {soc.soc_model for soc in socs}


def test_lists_the_69_socs_with_an_htp_in_order_of_number() -> None:
    listed = [soc.soc_model for soc in all_socs()]
    assert len(listed) == 69
    assert listed == sorted(set(listed))


@pytest.mark.parametrize("arch", list(DspArch))
def test_dsp_arch_is_the_measured_one(arch: DspArch) -> None:
    assert numbers([soc for soc in all_socs() if soc.dsp_arch is arch]) == BY_ARCH[arch]


def test_float16_is_where_a_float_model_compiled() -> None:
    assert numbers([soc for soc in all_socs() if not soc.float16]) == WITHOUT_FLOAT16


def test_estimates_are_where_the_compiler_gave_them() -> None:
    assert numbers([soc for soc in all_socs() if soc.estimates]) == WITH_ESTIMATES


def test_cost_model_is_where_a_schedule_was_simulated() -> None:
    assert numbers([soc for soc in all_socs() if not soc.cost_model]) == WITHOUT_COST_MODEL


def test_multi_core_is_where_two_cores_compiled() -> None:
    assert numbers([soc for soc in all_socs() if soc.multi_core]) == MULTI_CORE


@pytest.mark.parametrize("vtcm_mb", VTCM_OTHER_THAN_8_MB)
def test_vtcm_is_the_measured_one(vtcm_mb: int) -> None:
    assert numbers([soc for soc in all_socs() if soc.vtcm_mb == vtcm_mb]) == VTCM_OTHER_THAN_8_MB[vtcm_mb]


def test_vtcm_has_no_size_beyond_those_measured() -> None:
    assert {soc.vtcm_mb for soc in all_socs()} == {8, *VTCM_OTHER_THAN_8_MB}


@pytest.mark.parametrize("hvx_threads", HVX_THREADS_OTHER_THAN_4)
def test_hvx_threads_are_the_measured_ones(hvx_threads: int) -> None:
    found = numbers([soc for soc in all_socs() if soc.hvx_threads == hvx_threads])
    assert found == HVX_THREADS_OTHER_THAN_4[hvx_threads]


def test_hvx_threads_have_no_count_beyond_those_measured() -> None:
    assert {soc.hvx_threads for soc in all_socs()} == {4, *HVX_THREADS_OTHER_THAN_4}


def names_in_the_table(with_htp: bool) -> list[tuple[int, str]]:
    return [
        (row["soc_model"], name)
        for row in json.loads(SOCS_FILE.read_text())
        if (row["dsp_arch"] is not None) is with_htp
        for name in (row["name"], *row["marketing_names"], *row["part_numbers"], *row["kernel_soc_ids"].values())
    ]


def test_every_name_in_the_table_leads_back_to_its_own_row() -> None:
    named = names_in_the_table(with_htp=True)
    assert [(find_soc(name).soc_model, name) for _, name in named] == named


def test_every_name_of_a_soc_without_an_htp_is_refused_by_its_own_number() -> None:
    for number, name in names_in_the_table(with_htp=False):
        with pytest.raises(NoHtp, match=rf"soc_model {number}\)"):
            find_soc(name)


def test_a_kernel_soc_id_belongs_to_one_soc_only() -> None:
    kernel_ids = [number for row in json.loads(SOCS_FILE.read_text()) for number in row["kernel_soc_ids"]]
    assert len(kernel_ids) == len(set(kernel_ids))


@pytest.mark.parametrize("text", [57, "57", " 57 ", "SM8650", "sm8650", "Snapdragon 8 Gen 3", "8 gen 3"])
def test_finds_a_soc_by_number_and_by_name(text: str | int) -> None:
    assert find_soc(text).soc_model == 57


@pytest.mark.parametrize(
    "text", ["qualcomm-snapdragon-8gen3", "chipset:qualcomm-snapdragon-8gen3", "Snapdragon® 8 Gen 3 Mobile"]
)
def test_finds_a_soc_by_the_names_of_ai_hub(text: str) -> None:
    assert find_soc(text).soc_model == 57


@pytest.mark.parametrize(
    ("text", "soc_model"),
    [
        ("SM8650-AB", 57),
        ("SM8650-AC", 57),
        ("SM8750P", 69),
        ("SM8750-3-AB", 69),
        ("SA8295P", 39),
        ("Snapdragon 8 Elite for Galaxy", 69),
    ],
)
def test_finds_the_chip_of_a_variant(text: str, soc_model: int) -> None:
    assert find_soc(text).soc_model == soc_model


def test_a_name_with_a_suffix_of_its_own_is_not_taken_for_a_variant() -> None:
    assert (find_soc("SM8850L").soc_model, find_soc("SM8850").soc_model) == (92, 87)


@pytest.mark.parametrize("text", ["8+ Gen 1", "8 Plus Gen 1", "Snapdragon 8+ Gen 1"])
def test_tells_the_plus_generation_from_the_plain_one(text: str) -> None:
    assert (find_soc(text).name, find_soc("Snapdragon 8 Gen 1").name) == ("SM8475", "SM8450")


def test_qcm6490_and_qcs6490_are_one_soc_of_v68_without_float16() -> None:
    soc = find_soc("QCM6490")
    assert (soc, soc.dsp_arch, soc.float16) == (find_soc("QCS6490"), DspArch.V68, False)


@pytest.mark.parametrize(
    ("number", "sentence"),
    [
        (639, "639 is the kernel's soc_id of SM8750P; QNN's number is 69 (SM8750)."),
        (660, "660 is the kernel's soc_id of SM8850; QNN's number is 87."),
        (685, "685 is the kernel's soc_id of SM8845; QNN's number is 97."),
    ],
)
def test_answers_a_kernel_soc_id_with_the_right_number(number: int, sentence: str) -> None:
    with pytest.raises(UnknownSoc) as refused:
        find_soc(number)
    assert str(refused.value).startswith(sentence)


def test_a_kernel_soc_id_of_a_chip_without_an_htp_says_so() -> None:
    with pytest.raises(NoHtp, match="356 is the kernel's soc_id of SM8250, which has no HTP"):
        find_soc("356")


def test_a_number_of_both_spaces_is_qnns() -> None:
    # The kernel's 87 is MSM8960, QNN's is SM8850.
    assert find_soc(87).name == "SM8850"
    assert not is_kernel_soc_id(87)


@pytest.mark.parametrize(("number", "is_kernels"), [(685, True), (97, False), (9999, False)])
def test_recognises_a_kernel_soc_id(number: int, is_kernels: bool) -> None:
    assert is_kernel_soc_id(number) is is_kernels


@pytest.mark.parametrize("text", [21, "21", "SM8250", "Snapdragon 865", "SDM845", "SM6850"])
def test_refuses_a_soc_without_an_htp(text: str | int) -> None:
    with pytest.raises(NoHtp, match="has no HTP"):
        find_soc(text)


def test_refuses_the_soc_for_which_no_graph_can_be_composed() -> None:
    with pytest.raises(NoHtp, match=r"CPN3050 \(soc_model 122\)"):
        find_soc(122)


def test_its_simulator_is_a_target_without_hvx_threads() -> None:
    assert find_target(108).soc.hvx_threads == 0


@pytest.mark.parametrize(
    ("text", "name"),
    [("SM8651", "SM8650"), ("sm86550", "SM8650"), ("Snapdragon 8 Elitte", "SM8750"), ("QCS6940", "QCS6490")],
)
def test_suggests_the_soc_meant_by_a_near_miss(text: str, name: str) -> None:
    with pytest.raises(UnknownSoc, match=rf"Did you mean .*{name} \("):
        find_soc(text)


@pytest.mark.parametrize("text", ["", "toaster", "-5", "²", "v75", "9" * 5000, "x" * 5000, 44, 2**32])
def test_an_unknown_soc_gets_a_short_answer_with_an_example(text: str | int) -> None:
    with pytest.raises(UnknownSoc, match="such as") as refused:
        find_soc(text)
    assert len(str(refused.value)) < 200


def test_suggests_no_soc_without_an_htp() -> None:
    with pytest.raises(UnknownSoc) as refused:
        find_soc("SM8251")
    assert "SM8250" not in str(refused.value)


@pytest.mark.parametrize("value", ["v73", "V73", "73", 73, " v73 "])
def test_reads_every_spelling_of_a_dsp_arch(value: str | int) -> None:
    assert parse_dsp_arch(value) is DspArch.V73


@pytest.mark.parametrize("value", ["v65", 66, "V66"])
def test_refuses_a_dsp_arch_without_an_htp(value: str | int) -> None:
    with pytest.raises(ValueError, match="has no HTP"):
        parse_dsp_arch(value)


@pytest.mark.parametrize("value", ["", "v", "v99", "vv73", "7.3", 0, -73, True])
def test_refuses_an_unknown_dsp_arch_and_names_the_known_ones(value: str | int) -> None:
    with pytest.raises(ValueError, match="use one of v68, v69, v73, v75, v79, v81, v85"):
        parse_dsp_arch(value)


def test_labels_a_target_with_what_limits_it() -> None:
    assert find_target("SM8650").label == "SM8650 (v75, 8 MB VTCM)"


def test_labels_the_cores_of_a_multi_core_target() -> None:
    assert find_target("SA8797", num_cores=2).label == "SA8797 (v81, 16 MB VTCM, 2 cores)"


def test_a_target_answers_for_its_soc() -> None:
    target = find_target(93)
    assert (target.soc_model, target.name, target.dsp_arch, target.vtcm_mb) == (93, "QCS6490", DspArch.V68, 2)


def test_equal_targets_are_one_key() -> None:
    assert len({find_target(57), find_target("SM8650"), find_target(52)}) == 2


def test_a_target_cannot_be_changed() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        find_target(57).num_cores = 2  # type: ignore[misc]


def test_refuses_several_cores_where_the_compiler_makes_one() -> None:
    with pytest.raises(TargetError, match="SM8650 compiles for one core only"):
        find_target(57, num_cores=2)


@pytest.mark.parametrize("num_cores", [0, -1, 17])
def test_refuses_a_number_of_cores_that_no_soc_has(num_cores: int) -> None:
    with pytest.raises(TargetError, match=f"num_cores is {num_cores}"):
        find_target(72, num_cores=num_cores)


@pytest.mark.parametrize(("soc_model", "num_cores"), [(57, 2), (72, 17), (57, 0)])
def test_a_target_made_by_hand_is_checked_too(soc_model: int, num_cores: int) -> None:
    soc = find_soc(soc_model)
    with pytest.raises(ValidationError, match="num_cores"):
        Target(soc=soc, num_cores=num_cores)
