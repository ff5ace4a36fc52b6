"""What a form, the API or a clone asks for, and how it is refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from devices.models import Device
from sweeps.models import ConfigVersion, SourceModel, Sweep
from tunerweb.accounts.models import Team, User


@dataclass(frozen=True)
class Problem:
    """`field` is that of the spec which has to change; empty: the whole."""

    field: str
    sentence: str


class SpecRejected(ValueError):
    def __init__(self, *problems: Problem) -> None:
        super().__init__(" ".join(problem.sentence for problem in problems))
        self.problems = problems


@dataclass(frozen=True)
class Measurements:
    """What to find out by running the binaries. `rounds` and `runs`: None leaves it to the protocol."""

    verifies_outputs: bool = False
    devices: tuple[Device, ...] = ()
    perf_profile: str = "burst"
    rounds: int | None = None
    runs: int | None = None
    input_seed: int = 0


@dataclass(frozen=True)
class SweepSpec:
    """What a form, the API or a clone asks for. `submission` is the form's random id: twice the same is one sweep."""

    team: Team
    owner: User
    source_model: SourceModel
    config_version: ConfigVersion | None = None
    soc: str = ""
    p_values: str = "all"
    free_dimensions: Mapping[str, int] = field(default_factory=dict)
    name: str = ""
    top_k: int = 1
    parallel_compiles: int = 1
    timeout_s: int = 3600
    memory_bytes: int | None = None
    priority: int = 0
    measurements: Measurements = Measurements()
    submission: str | None = None
    cloned_from: Sweep | None = None
