"""The values behind the plots, in the shape that `static/js/charts.js` reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sweeps.ranking import Metric
from sweeps.rows.judging import JudgedTrial

KEYS = {Metric.ROM: "rom_bytes", Metric.RAM: "ram_bytes", Metric.DRAM: "dram_bytes", Metric.CYCLES: "cycles"}
LABELS = {Metric.ROM: "ROM", Metric.RAM: "RAM", Metric.DRAM: "DRAM traffic", Metric.CYCLES: "Cycles"}
KINDS = {
    "op_data_bytes": "op data",
    "const_bytes": "constants",
    "io_tensor_bytes": "I/O tensors",
    "ddr_tensor_bytes": "DDR tensors",
    "spill_fill_bytes": "spill-fill",
}


def chart_data(trials: Sequence[JudgedTrial]) -> dict[str, Any]:
    """Of trials that have a result, in the order of the sweep."""
    reported = [metric for metric in Metric if any(trial.metrics[metric].value is not None for trial in trials)]
    return {
        "metrics": [
            {
                "key": KEYS[metric],
                "label": LABELS[metric],
                "unit": metric.unit,
                "origin": "simulated" if metric is Metric.CYCLES else "exact",
            }
            for metric in reported
        ],
        "kinds": [{"key": key, "label": label} for key, label in KINDS.items()],
        "points": [_point(trial, reported) for trial in trials],
    }


def _point(trial: JudgedTrial, reported: list[Metric]) -> dict[str, Any]:
    """A value that does not compare with the others is not drawn among them."""
    return {
        "id": trial.public_id,
        "label": trial.label,
        "baseline": trial.is_baseline,
        "as_given": trial.as_given,
        "excluded": bool(trial.differences),
        "values": {KEYS[metric]: _value(trial, metric) for metric in reported},
        "kinds": trial.ram_kinds or {},
    }


def _value(trial: JudgedTrial, metric: Metric) -> int | None:
    judged = trial.metrics[metric]
    return judged.value if judged.rank is not None or trial.differences else None
