"""Every P of our models gives exactly the sizes, the traffic, the cycles and the bytes that were recorded."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from devices.targets import find_target
from sweeps.measurements import CycleOrigin
from sweeps.toolchain.base import CompileResult
from sweeps.toolchain.errors import ConfigRejected
from sweeps.toolchain.qnn.compiler import BundledSession, BundledToolchain
from tests.conftest import DATA
from tests.sweeps.toolchain.points import point

GOLDEN = json.loads((DATA / "golden_sizes.json").read_text())
BY_HAND = {"det"}


def cases(models: set[str]) -> list[Any]:
    return [
        pytest.param(model, int(soc), int(p_value), id=f"{model}-{soc}-P{p_value}")
        for model in sorted(models)
        for soc, rows in GOLDEN["models"][model].items()
        for p_value in rows
        if p_value != "unset"
    ]


class Sessions:
    """One open session per model and target: opening one costs as much as a compile."""

    def __init__(self, model_option: Path | None) -> None:
        self.toolchain = BundledToolchain()
        self.model_option = model_option
        self.open = cache(self._open)
        self._closing = ExitStack()
        self.close = self._closing.close

    def _open(self, model: str, soc: int) -> BundledSession:
        path = self.model_option if model in BY_HAND else DATA / f"{model}.dlc"
        assert path is not None
        return self._closing.enter_context(self.toolchain.open(path, find_target(soc)))


@pytest.fixture(scope="module")
def sessions(request: pytest.FixtureRequest) -> Iterator[Sessions]:
    opened = Sessions(request.config.getoption("--model"))
    assert opened.toolchain.identity.build_id == GOLDEN["build_id"]
    yield opened
    opened.close()


def compared(result: CompileResult) -> dict[str, Any]:
    (graph,) = result.graphs
    assert graph.footprint is not None
    assert graph.traffic is not None
    found: dict[str, Any] = {
        "rom_bytes": result.rom_bytes,
        "file_bytes": result.file_bytes,
        **graph.footprint.model_dump(),
        "ram_bytes": graph.footprint.ram_bytes,
        "shared_weights_bytes": result.shared_weights_bytes,
        **graph.traffic.model_dump(),
        "dsp_arch": result.dsp_arch,
        "sha256_prefix": result.sha256[:16],
    }
    if graph.cycles and graph.cycles.origin is CycleOrigin.ESTIMATE:
        found |= {
            "estimated_cycles": graph.cycles.cycles,
            "lower_cycles": graph.cycles.lower_cycles,
            "upper_cycles": graph.cycles.upper_cycles,
            "simulated_us": graph.cycles.simulated_us,
        }
    elif graph.cycles:
        found["schedule_cycles"] = graph.cycles.cycles
    return found


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Our own models; with `--model det.dlc`, which is not ours to ship, that one too."""
    given = BY_HAND if metafunc.config.getoption("--model") else set()
    metafunc.parametrize(("model", "soc", "p_value"), cases(set(GOLDEN["models"]) - BY_HAND | given))


def test_a_p_value_gives_its_golden_numbers(sessions: Sessions, model: str, soc: int, p_value: int) -> None:
    expected = GOLDEN["models"][model][str(soc)][str(p_value)]
    session = sessions.open(model, soc)
    if expected is None:
        with pytest.raises(ConfigRejected, match=rf"P={p_value} needs at least two cores"):
            session.compile(point(p_value, session.graph_names))
        return
    found = compared(session.compile(point(p_value, session.graph_names)))
    assert {key: found.get(key) for key in expected} == expected
