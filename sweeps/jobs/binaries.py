"""Context binaries as runners take them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from devices.runners.base import BinaryInfo, RunnerMissing
from devices.targets import find_target
from sweeps.configs import HtpConfig
from sweeps.jobs.toolchains import toolchain
from sweeps.toolchain.base import Point
from sweeps.toolchain.binary_info import binary_info
from sweeps.toolchain.errors import ToolchainError
from sweeps.toolchain.qnn.probe import PROBE_DLC
from tunerweb.work.artifacts import server_store


@contextmanager
def tiny_binary(soc_model: int) -> Iterator[tuple[Path, BinaryInfo]]:
    """A graph of one operation, compiled for a SoC. Raises `RunnerMissing` when this server's compiler fails."""
    try:
        with toolchain().open(PROBE_DLC, find_target(soc_model)) as session:
            result = session.compile(Point(config=HtpConfig(), p_value=None, as_given=True))
            yield result.binary, binary_info(toolchain().read_context(result.binary))
    except ToolchainError as error:
        raise RunnerMissing(f"This server could not compile the tiny binary for the check: {error.message}") from None


def info_of(sha256: str) -> BinaryInfo:
    """Of a binary in the store. Raises `ToolchainError`, and `RunFailed` where no runner takes such a binary."""
    return binary_info(toolchain().read_context(server_store().path(sha256)))
