"""Record a size sweep of the sample model with the bundled compiler, for pages and tests that need real numbers.

    python -m tests.data.record_sample_sweep

Writes `sample_sweep.json` beside this file; the name of the compiler's build is in it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from devices.targets import find_target
from sweeps.configs import check_config, read_config
from sweeps.search_space import invalid_p_values, size_sweep_points
from sweeps.toolchain.base import Point, Session
from sweeps.toolchain.errors import ToolchainError
from sweeps.toolchain.qnn.compiler import BundledToolchain

DATA = Path(__file__).parent
RECORD = DATA / "sample_sweep.json"
CONFIG = {"graphs": [{"vtcm_mb": 8, "hvx_threads": 4}], "devices": [{"soc_model": 57}]}


def main() -> None:
    target = find_target("SM8650")
    toolchain = BundledToolchain()
    document = read_config(json.dumps(CONFIG).encode(), name="config")
    with toolchain.open(DATA / "sample_detector.dlc", target) as session:
        checked = check_config(document, target=target, graph_names=session.graph_names)
        assert checked.config, checked.problems
        points = size_sweep_points(checked.config, target, session.graph_names, None)
        rows = [_compiled(session, point) for point in points]
    record = {
        "identity": toolchain.identity.model_dump(mode="json"),
        "model": "sample_detector.dlc",
        "soc_model": target.soc_model,
        "config": CONFIG,
        "left_out": invalid_p_values(None, target.num_cores),
        "points": rows,
    }
    RECORD.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def _compiled(session: Session, point: Point) -> dict[str, Any]:
    row: dict[str, Any] = {"point": point.model_dump(mode="json", exclude_none=True)}
    try:
        result = session.compile(point)
    except ToolchainError as error:
        known = error.diagnosis
        said = {"log_tail": list(known.log_tail), "native_errors": list(known.native_errors)}
        codes = {"exit_code": known.exit_code, "signal": known.signal, "error_code": known.error_code}
        return row | {"error": {"sentence": error.message, "kind": error.kind, **said, **codes}}
    result.binary.unlink()
    return row | {
        "result": result.model_dump(mode="json", exclude={"binary", "log"}),
        "log_tail": result.log.splitlines()[-5:],
    }


if __name__ == "__main__":
    main()
