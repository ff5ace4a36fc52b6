"""How tuning on a device can fail beside bad input and what the toolchain, the runners and the transports raise."""

from __future__ import annotations

from devices.transports.errors import TransportError
from sweeps.profiling.blocks import NotRankable
from sweeps.tuner.inputs import BadInput


class CompilationError(RuntimeError):
    """A model that was to be compiled, or was taken for a compiled one, is none."""


class DeviceRequired(BadInput):
    """Nothing says on which device the model is to be run."""


class EmulatedDevice(NotRankable):
    """Latency was asked for, and the device is an emulator: its times say nothing. Told before anything is compiled."""


class DeviceLost(TransportError):
    """The device went away in the middle. What was measured so far is not a ranking."""


class ReportUnreadable(ValueError):
    """A profile that is no QHAS summary, or does not hold what was asked for."""
