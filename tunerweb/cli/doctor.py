"""`tunerweb doctor`: can this machine do the main job, and what is missing if not."""

from __future__ import annotations

import ctypes.util
import json
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from devices.targets import find_target
from sweeps.configs import default_config, with_p_value
from sweeps.toolchain.base import Point
from sweeps.toolchain.errors import ToolchainError
from sweeps.toolchain.qnn.compiler import BundledToolchain
from sweeps.toolchain.qnn.probe import PROBE_DLC

MINIMAL_PYTHON = (3, 11)
MINIMAL_GLIBC = (2, 35)
SELF_TEST_TARGET = "SM8650"
DATABASE_ANSWER_S = 5


@dataclass(frozen=True)
class Check:
    name: str
    ok: bool
    found: str
    remedy: str = ""
    is_needed: bool = True

    @property
    def is_fine(self) -> bool:
        return self.ok or not self.is_needed


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON on stdout.")] = False,
) -> int:
    """Check that this machine can compile and run the dashboard; exit 1 if it cannot."""
    checks = [check() for check in CHECKS]
    if as_json:
        print(
            json.dumps(
                {"ok": all(check.is_fine for check in checks), "checks": [asdict(check) for check in checks]}, indent=2
            )
        )
    else:
        print_checks(checks)
    return 0 if all(check.is_fine for check in checks) else 1


def print_checks(checks: list[Check]) -> None:
    console = Console(highlight=False)
    for check in checks:
        colour, word = ("green", "ok") if check.ok else ("red", "missing") if check.is_needed else ("yellow", "absent")
        mark = f"[{colour}]{word:7}[/{colour}]"
        console.print(f"{mark} {check.name}: {escape(check.found)}")
        if not check.ok:
            console.print(f"        {escape(check.remedy)}")


def system() -> Check:
    found = f"{platform.system()} {platform.machine()}"
    return Check("system", found == "Linux x86_64", found, "Qualcomm's offline compiler runs on Linux x86-64 only.")


def python() -> Check:
    ok = sys.version_info >= MINIMAL_PYTHON
    return Check("python", ok, platform.python_version(), "Install Python 3.11 or newer and run `make setup` again.")


def glibc() -> Check:
    name, version = platform.libc_ver()
    numbers = tuple(int(part) for part in version.split(".") if part.isdigit())
    return Check("C library", numbers >= MINIMAL_GLIBC, f"{name} {version}", "The compiler needs glibc 2.35 or newer.")


def libatomic() -> Check:
    found = ctypes.util.find_library("atomic")
    return Check("libatomic", found is not None, found or "not found", "Install it: apt-get install libatomic1.")


def toolchain() -> Check:
    try:
        return Check("toolchain", True, str(BundledToolchain().identity))
    except ToolchainError as error:
        return Check("toolchain", False, str(error), "Run `make setup` again.")


def self_test() -> Check:
    """A real compile of a tiny graph."""
    target = find_target(SELF_TEST_TARGET)
    try:
        with BundledToolchain().open(PROBE_DLC, target) as session:
            names = session.graph_names
            point = Point(config=with_p_value(default_config(names), 0, names), p_value=0)
            result = session.compile(point)
    except ToolchainError as error:
        return Check("self-test compile", False, str(error), "The checks above say what is missing.")
    return Check(
        "self-test compile", True, f"{result.file_bytes:,} bytes for {target.label} in {result.wall_us / 1e6:.2f} s"
    )


def scratch_space() -> Check:
    folder = Path(tempfile.gettempdir())
    try:
        with tempfile.TemporaryFile(dir=folder):
            return Check("scratch folder", True, str(folder))
    except OSError as error:
        return Check("scratch folder", False, f"{folder}: {error.strerror}", "Set TMPDIR to a folder with free space.")


def broker() -> Check:
    # Imported where it is needed: the other commands start faster.
    from tunerweb.cli.environment import read_environment
    from tunerweb.supervisor.broker import require_answer, try_out
    from tunerweb.supervisor.errors import CannotStart

    url = read_environment().redis_url
    try:
        if url:
            require_answer(url)
            return Check("broker", True, "the one of REDIS_URL answers")
        return Check("broker", True, f"Valkey {try_out()}, embedded")
    except CannotStart as error:
        return Check("broker", False, "does not answer" if url else "does not start", str(error))


def database() -> Check:
    from tunerweb.cli.environment import read_environment

    environment = read_environment()
    url = environment.database_url
    return server_database(url) if url and not url.startswith("sqlite") else file_database(environment.data)


def server_database(url: str) -> Check:
    # Imported where it is needed: most machines have no database server.
    import psycopg

    try:
        with psycopg.connect(url, connect_timeout=DATABASE_ANSWER_S) as connection:
            version = connection.info.server_version // 10000
    except psycopg.Error as error:
        return Check("database", False, first_line(error), "Start it, or correct DATABASE_URL, or unset it for SQLite.")
    return Check("database", True, f"PostgreSQL {version}")


def file_database(data: Path) -> Check:
    """The data folder, or the nearest folder above it that is there, can be written to."""
    folder = next(path for path in (data, *data.parents) if path.exists())
    try:
        with tempfile.TemporaryFile(dir=folder):
            return Check("database", True, f"SQLite in {data}")
    except OSError as error:
        return Check("database", False, f"{folder}: {error.strerror}", "Set TUNERWEB_DATA to a folder of your own.")


def adb() -> Check:
    remedy = "Install it (apt-get install adb) to reach phones. Everything else works without."
    try:
        said = subprocess.run(["adb", "version"], capture_output=True, text=True, timeout=10, check=True).stdout
    except FileNotFoundError:
        return Check("adb", False, "not installed", remedy, is_needed=False)
    except (OSError, subprocess.SubprocessError) as error:
        return Check("adb", False, first_line(error), remedy, is_needed=False)
    return Check("adb", True, said.partition("\n")[0])


def first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0]


CHECKS: tuple[Callable[[], Check], ...] = (
    system,
    python,
    glibc,
    libatomic,
    scratch_space,
    broker,
    database,
    toolchain,
    self_test,
    adb,
)
