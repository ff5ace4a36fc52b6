from __future__ import annotations

import pytest
from pydantic import ValidationError

from sweeps.measurements import DramTraffic, MemoryFootprint
from tests.sweeps.factories import golden, graph, result


def parts(first: int) -> MemoryFootprint:
    return MemoryFootprint(
        op_data_bytes=first,
        const_bytes=first * 10,
        io_tensor_bytes=first * 100,
        ddr_tensor_bytes=first * 1000,
        spill_fill_bytes=first * 10_000,
    )


def test_ram_is_the_sum_of_its_five_kinds() -> None:
    assert parts(1).ram_bytes == 11_111


def test_footprints_add_up_kind_by_kind() -> None:
    assert MemoryFootprint.sum([parts(1), parts(2)]) == parts(3)


def test_ram_is_what_the_recorded_sizes_say() -> None:
    row = golden()["models"]["det"]["57"]["4"]
    footprint = MemoryFootprint(**{name: row[name] for name in MemoryFootprint.model_fields})
    assert footprint.ram_bytes == row["ram_bytes"]


def test_traffic_is_read_and_written_bytes_with_spill_and_fill_inside() -> None:
    traffic = DramTraffic(read_total_bytes=10, write_total_bytes=4, spill_bytes=3, fill_bytes=5)
    assert traffic.total_bytes == 14


def test_traffic_adds_up() -> None:
    traffic = DramTraffic(read_total_bytes=10, write_total_bytes=4, spill_bytes=3, fill_bytes=5)
    assert DramTraffic.sum([traffic, traffic]).total_bytes == 28


def test_a_negative_size_is_refused() -> None:
    with pytest.raises(ValidationError):
        parts(-1)


def test_the_shared_weights_are_counted_once_for_the_context() -> None:
    assert result(graph(name="a", shared_weights=7), graph(name="b", shared_weights=7)).shared_weights_bytes == 7


def test_the_shared_weights_are_unknown_when_the_graphs_disagree() -> None:
    assert result(graph(name="a", shared_weights=7), graph(name="b", shared_weights=8)).shared_weights_bytes is None
