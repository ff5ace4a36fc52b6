"""The binary interface of the QNN libraries: versions, function slots, struct layouts, enums.

All of it was measured on the builds in `LAYOUTS`; a library of any other version is refused before it is called.
Offsets are bytes, little endian, x86-64. Standard library only, and little of it:
the compile child pays for each import.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence
from typing import NamedTuple


class View:
    """Typed reads at offsets of a native struct."""

    def __init__(self, address: int) -> None:
        self.address = address

    def _read(self, code: str, offset: int) -> int:
        data = ctypes.string_at(self.address + offset, struct.calcsize(code))
        return int(struct.unpack("<" + code, data)[0])

    def u8(self, offset: int) -> int:
        return self._read("B", offset)

    def u32(self, offset: int) -> int:
        return self._read("I", offset)

    def i32(self, offset: int) -> int:
        return self._read("i", offset)

    def u64(self, offset: int) -> int:
        return self._read("Q", offset)

    def f32(self, offset: int) -> float:
        return float(struct.unpack("<f", ctypes.string_at(self.address + offset, 4))[0])

    def text(self, offset: int) -> str:
        pointer = self.u64(offset)
        return ctypes.string_at(pointer).decode("utf-8", "replace") if pointer else ""

    def version(self, offset: int) -> tuple[int, int, int]:
        return self.u32(offset), self.u32(offset + 4), self.u32(offset + 8)

    def follow(self, offset: int) -> View:
        return View(self.u64(offset))

    def array(self, offset: int, count: int, stride: int) -> list[View]:
        first = self.u64(offset)
        return [View(first + index * stride) for index in range(count)]


class Layout(NamedTuple):
    """What differs between library versions. Keyed by core API version, checked against the system library's."""

    wheel: str
    system_minor: int
    interface_slots: int
    device_union_offset: int

    @property
    def interface_bytes(self) -> int:
        return BACKEND_SLOTS_OFFSET + 8 * self.interface_slots


BACKEND_SLOTS_OFFSET = 40
SYSTEM_SLOTS_OFFSET = 32
HTP_BACKEND_ID = 6

LAYOUTS = {
    (2, 36): Layout("2.3.0", 11, 72, 8),
    (2, 37): Layout("2.4.0", 12, 72, 8),
    (2, 38): Layout("2.5.0", 13, 72, 4),
    (2, 39): Layout("2.6.0", 14, 75, 8),
    (2, 40): Layout("2.7.0", 15, 75, 8),
}

BACKEND_FUNCTIONS = {
    "backendCreate": 1,
    "backendGetBuildId": 4,
    "contextCreate": 9,
    "contextGetBinarySize": 11,
    "contextGetBinary": 12,
    "graphSetConfig": 17,
    "graphFinalize": 19,
    "graphRetrieve": 20,
    "logCreate": 25,
    "profileCreate": 28,
    "profileGetEvents": 30,
    "profileGetSubEvents": 31,
    "profileGetEventData": 32,
    "deviceCreate": 40,
}
SYSTEM_FUNCTIONS = {
    "contextCreate": 0,
    "contextGetMetaData": 2,
    "logCreate": 5,
    "dlcCreateFromFile": 8,
    "dlcComposeGraphs": 10,
}

GRAPH_INFO_BYTES = 88
TENSOR_BYTES = 144
BLOB_INFO_V1_BYTES = 40
BLOB_INFO_BYTES = 112

PROFILE_DETAILED = 2
EVENT_FINALIZE = 300
EVENT_PHASE = 0
EVENT_ESTIMATES = 2004
EVENT_CYCLES = 2006
EVENT_CYCLES_LOWER = 2007
EVENT_CYCLES_UPPER = 2008
EVENT_TIME_US = 2019

ERROR_CODE_MASK = 0xFFFF
SCALAR_INT32 = 0x032
SCALAR_FLOAT32 = 0x232
SCALAR_BOOL = 0x508
SCALAR_STRING = 0x608
OPTION_OPTIMIZATION = 1
OPTION_FINALIZE = 7

DATA_TYPES = {
    0x008: "QNN_DATATYPE_INT_8",
    0x016: "QNN_DATATYPE_INT_16",
    0x032: "QNN_DATATYPE_INT_32",
    0x064: "QNN_DATATYPE_INT_64",
    0x108: "QNN_DATATYPE_UINT_8",
    0x116: "QNN_DATATYPE_UINT_16",
    0x132: "QNN_DATATYPE_UINT_32",
    0x164: "QNN_DATATYPE_UINT_64",
    0x216: "QNN_DATATYPE_FLOAT_16",
    0x226: "QNN_DATATYPE_BFLOAT_16",
    0x232: "QNN_DATATYPE_FLOAT_32",
    0x264: "QNN_DATATYPE_FLOAT_64",
    0x304: "QNN_DATATYPE_SFIXED_POINT_4",
    0x308: "QNN_DATATYPE_SFIXED_POINT_8",
    0x316: "QNN_DATATYPE_SFIXED_POINT_16",
    0x332: "QNN_DATATYPE_SFIXED_POINT_32",
    0x404: "QNN_DATATYPE_UFIXED_POINT_4",
    0x408: "QNN_DATATYPE_UFIXED_POINT_8",
    0x416: "QNN_DATATYPE_UFIXED_POINT_16",
    0x432: "QNN_DATATYPE_UFIXED_POINT_32",
    0x508: "QNN_DATATYPE_BOOL_8",
    0x608: "QNN_DATATYPE_STRING",
}
TENSOR_TYPES = {
    0: "QNN_TENSOR_TYPE_APP_WRITE",
    1: "QNN_TENSOR_TYPE_APP_READ",
    2: "QNN_TENSOR_TYPE_APP_READWRITE",
    3: "QNN_TENSOR_TYPE_NATIVE",
    4: "QNN_TENSOR_TYPE_STATIC",
}
ENCODINGS = {
    0: "QNN_QUANTIZATION_ENCODING_SCALE_OFFSET",
    1: "QNN_QUANTIZATION_ENCODING_AXIS_SCALE_OFFSET",
    2: "QNN_QUANTIZATION_ENCODING_BW_SCALE_OFFSET",
    3: "QNN_QUANTIZATION_ENCODING_BW_AXIS_SCALE_OFFSET",
}
QUANTIZATION_DEFINED = 1

Kept = list[object]


def _buffer(data: bytes, kept: Kept) -> int:
    """A native copy of `data` that lives as long as `kept` does."""
    buffer = ctypes.create_string_buffer(data, len(data))
    kept.append(buffer)
    return ctypes.addressof(buffer)


def custom_option(option: int, payload: bytes, size: int, kept: Kept, union_offset: int = 8) -> int:
    """Address of a {option, pointer to custom struct} pair, the custom struct being {option u32, union}."""
    body = struct.pack("<I", option).ljust(union_offset, b"\0") + payload
    return _buffer(struct.pack("<IIQ", 0, 0, _buffer(body.ljust(size, b"\0"), kept)), kept)


def config_list(addresses: Sequence[int], kept: Kept) -> int:
    """Address of a NULL-terminated array of pointers."""
    return _buffer(struct.pack(f"<{len(addresses) + 1}Q", *addresses, 0), kept)


def finalize_payload(key: str, value: int | float | bool | str, kept: Kept) -> bytes:
    """The union of a finalize config: {key char*, {dataType u32, value}}."""
    name = _buffer(key.encode() + b"\0", kept)
    if isinstance(value, bool):
        return struct.pack("<QIxxxxB", name, SCALAR_BOOL, value)
    if isinstance(value, int):
        return struct.pack("<QIxxxxi", name, SCALAR_INT32, value)
    if isinstance(value, float):
        return struct.pack("<QIxxxxf", name, SCALAR_FLOAT32, value)
    return struct.pack("<QIxxxxQ", name, SCALAR_STRING, _buffer(value.encode() + b"\0", kept))
