"""A folder of the shape of a QAIRT SDK: its programs are the stand-ins, its libraries hold a version at most."""

from __future__ import annotations

import shutil
from pathlib import Path

from devices.runners.sdk import Sdk
from tests.conftest import DATA

HERE = Path(__file__).parent
BUILD_ID = "v2.51.0.260929181845"
TARGETS = ("aarch64-android", "aarch64-oe-linux-gcc9.3", "aarch64-oe-linux-gcc11.2", "x86_64-linux-clang")
LIBRARIES = ("libQnnHtpV75Stub.so", "libQnnHtpNetRunExtensions.so", "libQnnSystem.so")


def stand_in_sdk(root: Path) -> Sdk:
    for target in TARGETS:
        programs, libraries = root / "bin" / target, root / "lib" / target
        programs.mkdir(parents=True)
        libraries.mkdir(parents=True)
        _program(HERE / "net_run.py", programs / "qnn-net-run")
        (libraries / "libQnnHtp.so").write_text(f"a stand-in \0{BUILD_ID}\0")
        for name in LIBRARIES:
            (libraries / name).write_text("a stand-in")
    host = root / "bin" / "x86_64-linux-clang"
    _program(HERE / "profile_viewer.py", host / "qnn-profile-viewer")
    shutil.copy(DATA / "profiles" / "qhas.json", host / "qhas.json")
    (root / "lib" / "x86_64-linux-clang" / "libQnnHtpOptraceProfilingReader.so").write_text("a stand-in")
    skel = root / "lib" / "hexagon-v75" / "unsigned" / "libQnnHtpV75Skel.so"
    skel.parent.mkdir(parents=True)
    skel.write_text("a stand-in")
    return Sdk(root)


def _program(source: Path, target: Path) -> None:
    shutil.copy(source, target)
    target.chmod(0o755)
