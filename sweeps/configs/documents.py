"""A config file as it was read, before it is normalised, and the changes that people accept on it."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal

from devices.targets import TargetError, find_soc
from sweeps.configs.findings import Finding, Fix, Path, path_text

LIBRARY = "libQnnHtpNetRunExtensions.so"


@dataclass(frozen=True)
class ConfigDocument:
    """`tree` holds the inner settings as written. A wrapper that only names another file has an empty tree and its
    `config_file_path`, which is relative to the wrapper; read that file and give it to `with_settings`.

    `notes`: what reading changed. `warnings`: what the wrapper says that does not act.
    """

    tree: dict[str, Any]
    kind: Literal["inner", "wrapper", "combined"] = "inner"
    name: str = "config"
    config_file_path: str | None = None
    notes: tuple[Finding, ...] = ()
    warnings: tuple[Finding, ...] = ()

    def with_settings(self, inner: ConfigDocument) -> ConfigDocument:
        """The settings of the file that this wrapper names, with what was found in both files."""
        return replace(inner, notes=self.notes + inner.notes, warnings=self.warnings + inner.warnings)


def empty_document() -> ConfigDocument:
    return ConfigDocument(tree={})


def wrapper_json(inner_file_name: str) -> dict[str, Any]:
    """The outer file that Qualcomm's tools take with `--config_file`."""
    return {"backend_extensions": {"shared_library_path": LIBRARY, "config_file_path": inner_file_name}}


def target_number_of(document: ConfigDocument) -> int | None:
    """The number of the SoC that the config names, whether or not such a SoC exists; None when it names none."""
    devices = document.tree.get("devices")
    entries = [entry for entry in (devices if isinstance(devices, list) else [devices]) if isinstance(entry, dict)]
    numbers = (_soc_number(entry.get(key)) for entry in entries for key in ("soc_model", "soc_id"))
    return next((number for number in numbers if number is not None), None)


def _soc_number(value: object) -> int | None:
    """A SoC in a wrong type is a problem of its own; which one is meant is clear all the same."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    try:
        return value if isinstance(value, int) else find_soc(value).soc_model
    except TargetError:
        return None


def apply_fix(document: ConfigDocument, fix: Fix) -> ConfigDocument:
    """Raises ValueError with a sentence when the document is not the one that the fix was proposed for."""
    root = {"": copy.deepcopy(document.tree)}
    path = ("", *fix.path)
    try:
        if fix.op == "set":
            _put(root, path, copy.deepcopy(fix.value))
        elif fix.op == "remove":
            _take(root, path)
        else:
            _put(root, ("", *fix.value), _take(root, path))
    except (KeyError, IndexError, TypeError, AttributeError):
        raise ValueError(f"The fix of {path_text(fix.path)} does not fit this config; check it again.") from None
    return replace(document, tree=root[""])


def value_at(tree: dict[str, Any], path: Path) -> Any:
    """What a document has at a path of the normalised form. Raises KeyError, IndexError or TypeError."""
    node: Any = tree
    for part in path:
        node = _child(node, part)
    return node


def _child(node: Any, part: str | int) -> Any:
    if isinstance(part, int) and isinstance(node, dict):
        if part:
            raise IndexError(part)
        return node
    if isinstance(part, str) and isinstance(node, list):
        node = _holder(node, part)
    return node[part]


def _holder(entries: list[Any], key: str) -> Any:
    """Of a list that stands for one object, the entry that has the key, else the first."""
    return next((entry for entry in entries if isinstance(entry, dict) and key in entry), entries[0])


def _put(root: dict[str, Any], path: Path, value: Any) -> None:
    node: Any = root
    for part, following in pairwise(path):
        try:
            child = _child(node, part)
        except (KeyError, IndexError):
            child = None
        node = _created(node, part, [] if isinstance(following, int) else {}) if child is None else child
    last = path[-1]
    if isinstance(last, str):
        _created(node, last, value)
    elif isinstance(node, dict):
        node.clear()
        node.update(value)
    elif last == len(node):
        node.append(value)
    else:
        node[last] = value


def _created(node: Any, part: str | int, child: Any) -> Any:
    if isinstance(node, list) and isinstance(part, str):
        if not node:
            node.append({})
        _holder(node, part)[part] = child
    elif isinstance(node, list) and part == len(node):
        node.append(child)
    else:
        node[part] = child
    return child


def _take(root: dict[str, Any], path: Path) -> Any:
    parent = value_at(root, path[:-1])
    last = path[-1]
    if isinstance(last, int) and isinstance(parent, dict):
        # The only entry, written without its list: what goes is the key that holds it.
        return _take(root, path[:-1])
    if isinstance(last, str) and isinstance(parent, list):
        parent = _holder(parent, last)
    return parent.pop(last)


def can_put(tree: dict[str, Any], path: Path) -> bool:
    """Whether a value can be put there without taking the place of a value that is no container."""
    node: Any = tree
    for part in path[:-1]:
        if not isinstance(node, dict | list):
            return node is None
        try:
            node = _child(node, part)
        except (KeyError, IndexError):
            return True
        except TypeError:
            return False
    if isinstance(node, list) and node and isinstance(path[-1], str):
        return isinstance(_holder(node, path[-1]), dict)
    return node is None or isinstance(node, dict | list)
