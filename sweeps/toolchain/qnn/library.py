"""Load the QNN libraries, check their versions before anything else, call their functions by slot.

Standard library only: this runs in the compile child.
"""

from __future__ import annotations

import collections
import contextlib
import ctypes
import os
from collections.abc import Callable
from typing import Any

from sweeps.toolchain.qnn.abi import (
    BACKEND_FUNCTIONS,
    BACKEND_SLOTS_OFFSET,
    ERROR_CODE_MASK,
    HTP_BACKEND_ID,
    LAYOUTS,
    SYSTEM_FUNCTIONS,
    SYSTEM_SLOTS_OFFSET,
    Layout,
    View,
)

LOG_LEVEL_INFO = 3
LOG_LETTERS = {1: b"E", 2: b"W", 3: b"I", 4: b"V", 5: b"D"}
LOG_LEVEL_WARN = 2
LINE_BYTES = 4096
KEPT_MESSAGES = 20_000

LogCallback = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_int, ctypes.c_uint64, ctypes.c_void_p)


class UnsupportedVersion(Exception):
    """The libraries' interface is not one that `abi` knows."""


class LibraryMissing(Exception):
    """A library, or something that it needs, cannot be loaded."""


class CallFailed(Exception):
    """A QNN function returned an error; `step` names the function."""

    def __init__(self, step: str, error: int) -> None:
        super().__init__(f"{step} returned {error & ERROR_CODE_MASK}")
        self.step = step
        self.code = error & ERROR_CODE_MASK


class NativeLog:
    """Prints each message at once, so that the last lines survive a crash, and keeps those that are read afterwards:
    errors, warnings and traffic counters, the newest ones.
    """

    def __init__(self) -> None:
        self._kept: collections.deque[bytes] = collections.deque(maxlen=KEPT_MESSAGES)
        libc = ctypes.CDLL(None)
        self._format = libc.vsnprintf
        self._format.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_void_p]
        self.callback = LogCallback(self._receive)

    def _receive(self, pattern: bytes, level: int, _timestamp: int, arguments: int) -> None:
        line = ctypes.create_string_buffer(LINE_BYTES)
        self._format(line, LINE_BYTES, pattern, arguments)
        text = line.value.strip()
        if not text.startswith(b"<"):
            text = b"<%s> %s" % (LOG_LETTERS.get(level, b"?"), text)
        # On a full disk what counts is the result, whose own failure to be written is told.
        with contextlib.suppress(OSError):
            os.write(1, text + b"\n")
        if level <= LOG_LEVEL_WARN or b"DDR bandwidth" in text or b"_bytes=" in text:
            self._kept.append(text)

    @property
    def messages(self) -> list[str]:
        return [text.decode("utf-8", "replace") for text in self._kept]


class Functions:
    """The functions of one provider struct. Calling one raises `CallFailed` unless it returns success."""

    def __init__(self, provider: View, slots_offset: int, slots: dict[str, int], prefix: str) -> None:
        self.provider = provider
        self._addresses = {name: provider.u64(slots_offset + 8 * slot) for name, slot in slots.items()}
        self._prefix = prefix

    def call(self, name: str, *arguments: Any) -> None:
        types = [type(argument) for argument in arguments]
        function: Callable[..., int] = ctypes.CFUNCTYPE(ctypes.c_uint64, *types)(self._addresses[name])
        error = function(*arguments)
        if error:
            raise CallFailed(self._prefix + name, error)

    def create(self, name: str, *arguments: Any) -> ctypes.c_void_p:
        """Call a function whose last argument receives a handle."""
        handle = ctypes.c_void_p()
        self.call(name, *arguments, ctypes.pointer(handle))
        return handle


class Libraries:
    """libQnnHtp and libQnnSystem of one folder, version-checked. Raises `LibraryMissing`, `UnsupportedVersion`."""

    def __init__(self, folder: str) -> None:
        backend, system = (_provider(folder, *names) for names in LIBRARIES)
        self.core_version = backend.version(16)
        self.backend_version = backend.version(28)
        self.system_version = system.version(16)
        self.layout = supported_layout(self.core_version, self.system_version)
        if backend.u32(0) != HTP_BACKEND_ID:
            raise UnsupportedVersion(
                f"libQnnHtp.so presents itself as backend {backend.u32(0)}, not as the HTP backend."
            )
        self.backend = Functions(backend, BACKEND_SLOTS_OFFSET, BACKEND_FUNCTIONS, "")
        self.system = Functions(system, SYSTEM_SLOTS_OFFSET, SYSTEM_FUNCTIONS, "system ")

    @property
    def build_id(self) -> str:
        text = ctypes.c_char_p()
        self.backend.call("backendGetBuildId", ctypes.pointer(text))
        return (text.value or b"").decode()

    def interface_by_value(self) -> ctypes.Structure:
        """A copy of the provider struct. With a wrong size the library crashes, hence the version check."""
        size = self.layout.interface_bytes

        class Interface(ctypes.Structure):
            _fields_ = (("words", ctypes.c_uint64 * (size // 8)),)

        return Interface.from_buffer_copy(ctypes.string_at(self.backend.provider.address, size))


LIBRARIES = (("libQnnHtp.so", "QnnInterface_getProviders"), ("libQnnSystem.so", "QnnSystemInterface_getProviders"))


def supported_layout(core: tuple[int, int, int], system: tuple[int, int, int]) -> Layout:
    layout = LAYOUTS.get(core[:2])
    if layout and system[:2] == (1, layout.system_minor):
        return layout
    known = ", ".join(
        f"{major}.{minor} with system 1.{known.system_minor} (onnxruntime-qnn {known.wheel})"
        for (major, minor), known in LAYOUTS.items()
    )
    raise UnsupportedVersion(
        f"These QNN libraries have core API {_dotted(core)} and system API {_dotted(system)}, which this release does "
        f"not know. Supported are core {known}. Install one of these onnxruntime-qnn versions."
    )


def _dotted(version: tuple[int, int, int]) -> str:
    return ".".join(map(str, version))


def _provider(folder: str, file_name: str, symbol: str) -> View:
    path = os.path.join(folder, file_name)
    try:
        library = ctypes.CDLL(path, mode=os.RTLD_NOW | os.RTLD_LOCAL)
        get_providers = getattr(library, symbol)
    except (OSError, AttributeError) as error:
        raise LibraryMissing(f"{file_name} cannot be loaded: {error}") from None
    providers, count = ctypes.c_void_p(), ctypes.c_uint32()
    code = get_providers(ctypes.byref(providers), ctypes.byref(count))
    if code or not count.value or not providers.value:
        raise LibraryMissing(f"{file_name} offers no interface (error {code}).")
    return View(providers.value).follow(0)
