from __future__ import annotations

from sweeps.toolchain.log_reasons import DataTypeRow, explain

TOO_LARGE_FOR_VTCM = """
A single op, "q::Crouton", requires 0x2400000 bytes of TCM, which is greater than the TCM size of 0x800000!
<E> "norm_1" generated: Requires 0x2400000 bytes of TCM, which is greater than the TCM size of 0x800000!
<E> Failed to finalize graph (id: 1) with err 1002
<E> Failed to get context binary size with err 0x138b
"""
BOOL_GATHER = """
[ ERROR ] Unsupported input/output datatypes requested for the HTP Op 'Gather' in the node 'gather_1'. Mismatch.
[ ERROR ] Requested I/O datatype set:

in[0]:QNN_DATATYPE_BOOL_8
in[1]:QNN_DATATYPE_INT_32
out[0]:QNN_DATATYPE_BOOL_8

[ ERROR ] Supported I/O datatype sets for the configuration: INT8
1:
in[0]:QNN_DATATYPE_UFIXED_POINT_8
in[1]:QNN_DATATYPE_INT_32
out[0]:QNN_DATATYPE_UFIXED_POINT_8
2:
in[0]:QNN_DATATYPE_SFIXED_POINT_8
in[1]:QNN_DATATYPE_INT_32
out[0]:QNN_DATATYPE_SFIXED_POINT_8
"""


def test_vtcm_is_told_in_megabytes_with_the_node() -> None:
    reason = explain(TOO_LARGE_FOR_VTCM)[0]
    assert reason.node == "norm_1"
    assert "36 MB needed, 8 MB available" in reason.sentence


def test_the_same_shortage_is_told_once() -> None:
    assert len([reason for reason in explain(TOO_LARGE_FOR_VTCM) if not reason.consequence]) == 1


def test_an_operation_that_is_not_the_models_is_told_without_a_node() -> None:
    reason = explain(TOO_LARGE_FOR_VTCM.splitlines()[1])[0]
    assert reason.node is None
    assert "36 MB needed" in reason.sentence


def test_a_missing_binary_size_is_a_consequence_and_comes_last() -> None:
    reasons = explain(TOO_LARGE_FOR_VTCM)
    assert [reason.consequence for reason in reasons] == [False, True]
    assert "0x138B" in reasons[-1].sentence


def test_an_operation_that_could_not_be_built_is_named() -> None:
    reason = explain('"/n1" generated: could not create op')[0]
    assert reason.node == "/n1"
    assert reason.sentence.startswith('Node "/n1" could not be built.')


def test_the_graph_limit_is_told_in_gigabytes_and_that_memory_does_not_help() -> None:
    sentence = explain("requires estimated allocation of 2741569 KB, limit is 2097152 KB")[0].sentence
    assert "2.6 GB needed, 2 GB is the limit per graph, more host memory will not help" in sentence


def test_data_types_are_a_table_of_asked_and_supported() -> None:
    reason = explain(BOOL_GATHER)[0]
    assert reason.data_types == (
        DataTypeRow("in[0]", "BOOL_8", ("UFIXED_POINT_8", "SFIXED_POINT_8")),
        DataTypeRow("in[1]", "INT_32", ("INT_32",)),
        DataTypeRow("out[0]", "BOOL_8", ("UFIXED_POINT_8", "SFIXED_POINT_8")),
    )


def test_data_types_in_a_sentence_leave_out_what_fits() -> None:
    sentence = explain(BOOL_GATHER)[0].sentence
    assert "in[0], out[0]: asked BOOL_8, supported UFIXED_POINT_8, SFIXED_POINT_8" in sentence
    assert "in[1]" not in sentence


def test_two_operations_with_wrong_data_types_are_two_reasons() -> None:
    other = BOOL_GATHER.replace("gather_1", "gather_2")
    assert [reason.node for reason in explain(BOOL_GATHER + other)] == ["gather_1", "gather_2"]


def test_a_log_without_known_phrases_has_no_reason() -> None:
    assert explain("<I> all is well\n<E> something new") == ()
