"""A simulated device: a folder of this machine that stands in for one, with a heat of its own (see runners/simulated).

It serves tests, teaching and the demo. Everything that comes of it says that it is simulated.
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from devices.transports.base import NOBODY
from devices.transports.local import LocalTransport


class SimulatedTransport(LocalTransport):
    kind: ClassVar[str] = "simulated"
    place: ClassVar[str] = "the simulated device"

    def __init__(self, folder: Path, seed: int, *, owner: str = NOBODY) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        super().__init__(folder, owner=owner)
        self.folder = folder
        self.seed = seed
