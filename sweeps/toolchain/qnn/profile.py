"""Read the profile events of a finalize: phases, estimates. Standard library only: this runs in the compile child."""

from __future__ import annotations

import ctypes
from typing import Any

from sweeps.toolchain.qnn.abi import View
from sweeps.toolchain.qnn.library import Functions

Event = dict[str, Any]


def finalize_events(functions: Functions, profile: ctypes.c_void_p) -> list[Event]:
    """The event tree as nested {type, unit, value, name, children}."""
    return [_event(functions, identifier) for identifier in _identifiers(functions, "profileGetEvents", profile)]


def _identifiers(functions: Functions, name: str, parent: Any) -> list[int]:
    first, count = ctypes.c_void_p(), ctypes.c_uint32()
    functions.call(name, parent, ctypes.pointer(first), ctypes.pointer(count))
    return [View(first.value + 8 * index).u64(0) for index in range(count.value)] if first.value else []


def _event(functions: Functions, identifier: int) -> Event:
    data = ctypes.create_string_buffer(24)
    functions.call("profileGetEventData", ctypes.c_uint64(identifier), ctypes.cast(data, ctypes.c_void_p))
    view = View(ctypes.addressof(data))
    children = _identifiers(functions, "profileGetSubEvents", ctypes.c_uint64(identifier))
    return {
        "type": view.u32(0),
        "unit": view.u32(4),
        "value": view.u64(8),
        "name": view.text(16),
        "children": [_event(functions, child) for child in children],
    }
