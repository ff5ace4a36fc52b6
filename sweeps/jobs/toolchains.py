"""Which toolchain this server's workers run. The web process knows it by its row."""

from __future__ import annotations

import importlib.metadata
import logging
from functools import cache

from django.conf import settings
from django.utils import timezone
from django.utils.module_loading import import_string

from sweeps import claiming
from sweeps.models import Toolchain as ToolchainRow
from sweeps.toolchain.base import Toolchain, ToolchainIdentity
from sweeps.toolchain.errors import ToolchainError

log = logging.getLogger(__name__)


@cache
def toolchain() -> Toolchain:
    made: Toolchain = import_string(settings.TOOLCHAIN)()
    return made


def register_toolchain() -> None:
    """At the start of a compile worker, which also asks what its horses will ask first. Without a usable toolchain the
    launch form says that there is none.
    """
    claiming.is_compile_waiting()
    try:
        row_of(toolchain().identity)
    except ToolchainError as error:
        log.error("the toolchain cannot be used: %s", error)


def row_of(identity: ToolchainIdentity) -> ToolchainRow:
    row, _ = ToolchainRow.objects.update_or_create(
        name=identity.name,
        package_version=identity.package_version,
        build_id=identity.build_id,
        converter=converter(),
        defaults={"seen_at": timezone.now()},
    )
    return row


@cache
def converter() -> str:
    versions = (f"{name} {importlib.metadata.version(name)}" for name in ("onnxruntime", "onnxruntime-qnn", "onnx"))
    return ", ".join(versions)
