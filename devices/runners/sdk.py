"""A QAIRT SDK that the operator supplies: which of its files a device needs, and its tools for this machine."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from devices.runners.base import RunnerMissing
from devices.runners.on_device import BUILD
from devices.targets import DspArch

ANDROID = "aarch64-android"
X86 = "x86_64-linux-clang"
# Of the builds for Linux on arm64, the newest that the SDK has; embedded Linux before Ubuntu.
ARM_LINUX = ("aarch64-oe-linux-gcc", "aarch64-ubuntu-gcc")
NUMBERS = re.compile(r"\d+")
NET_RUN = "qnn-net-run"
BACKEND = "libQnnHtp.so"
EXTENSIONS = "libQnnHtpNetRunExtensions.so"
# Pushed where the SDK has them: some versions' programs are linked to them.
OPTIONAL = ("libQnnSystem.so", "libc++_shared.so")


@dataclass(frozen=True)
class Sdk:
    root: Path

    def build_id(self, target: str) -> str:
        """Such as `v2.51.0.260929181845`; "" when the library does not name it."""
        found = BUILD.search((self.root / "lib" / target / BACKEND).read_bytes())
        return found[0].decode() if found else ""

    def target_for(self, machine: str, is_android: bool) -> str:
        """The SDK's folder of programs for a device. `machine` as `uname -m` says it. Raises `RunnerMissing`."""
        if machine in ("x86_64", "amd64"):
            return X86
        if machine not in ("aarch64", "arm64"):
            raise RunnerMissing(f"qnn-net-run is not made for {machine or 'an unknown machine'}: arm64 is needed.")
        if is_android:
            return ANDROID
        for prefix in ARM_LINUX:
            if folders := sorted((self.root / "bin").glob(f"{prefix}*"), key=lambda folder: _version(folder.name)):
                return folders[-1].name
        raise RunnerMissing(f"The QAIRT SDK at {self.root} has no programs for Linux on arm64. Install another SDK.")

    def files_for(self, target: str, dsp_arch: DspArch) -> dict[str, Path]:
        """Name on the device to file here, all of this one SDK: mixed versions do not work. Raises `RunnerMissing`."""
        library, number = self.root / "lib" / target, dsp_arch.removeprefix("v")
        files = {NET_RUN: self.root / "bin" / target / NET_RUN}
        files |= {name: library / name for name in (BACKEND, EXTENSIONS)}
        if target != X86:
            stub, skel = f"libQnnHtpV{number}Stub.so", f"libQnnHtpV{number}Skel.so"
            files |= {stub: library / stub, skel: self.root / "lib" / f"hexagon-v{number}" / "unsigned" / skel}
        missing = [str(path.relative_to(self.root)) for path in files.values() if not path.is_file()]
        if missing:
            raise RunnerMissing(
                f"The QAIRT SDK at {self.root} lacks {', '.join(missing)}, which a device with {dsp_arch} needs. "
                "Check QAIRT_SDK_ROOT, or install an SDK that supports the device."
            )
        return files | {name: library / name for name in OPTIONAL if (library / name).is_file()}

    def viewer(self) -> Path:
        """`qnn-profile-viewer` for this machine. Raises `RunnerMissing`."""
        return self._here(Path("bin") / X86 / "qnn-profile-viewer")

    def viewer_library(self, name: str) -> Path:
        """One of the viewer's readers. Raises `RunnerMissing`."""
        return self._here(Path("lib") / X86 / name)

    def _here(self, path: Path) -> Path:
        if not (self.root / path).is_file():
            raise RunnerMissing(
                f"The QAIRT SDK at {self.root} lacks {path}, which reads profiles. Install a whole SDK."
            )
        return self.root / path


def sdk_at(root: Path | None) -> Sdk:
    """Raises `RunnerMissing` where there is none."""
    if root is None:
        raise RunnerMissing(
            "Binaries run on this device by qnn-net-run of a QAIRT SDK, and this server has none. Install one and set "
            "QAIRT_SDK_ROOT to its folder."
        )
    if not (root / "bin").is_dir() or not (root / "lib").is_dir():
        raise RunnerMissing(f"{root} is no QAIRT SDK: bin and lib are not in it. Correct QAIRT_SDK_ROOT.")
    return Sdk(root.resolve())


def _version(name: str) -> tuple[int, ...]:
    return tuple(int(number) for number in NUMBERS.findall(name.rpartition("gcc")[2]))
