"""Read a config file: say which of the two levels it is, and hand out the inner settings as they were written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sweeps.configs.documents import LIBRARY, ConfigDocument
from sweeps.configs.findings import ConfigUnreadable, Finding, Path, path_text, shown
from sweeps.configs.json_text import parse_json
from sweeps.configs.key_names import is_inner
from sweeps.configs.schema import HtpConfig

WRAPPER = "backend_extensions"
WRAPPER_KEYS = ("shared_library_path", "config_file_path")
# The roots of the configs that Genie, Qualcomm's LLM runtime, reads.
GENIE = ("dialog", "text-encoder", "image-encoder", "embedding")
MOST_WARNINGS = 50
NO_KEY_OF_A_WRAPPER = "This key belongs neither to a wrapper nor to the HTP settings: it is not used and not written."
NEITHER = (
    "{name} is neither the wrapper (needs shared_library_path and config_file_path) nor HTP settings "
    "(graphs/devices/context); choose the file with the HTP settings."
)


def read_config(data: bytes, *, name: str = "config") -> ConfigDocument:
    """Raises ConfigUnreadable."""
    value, notes = parse_json(data, name)
    if not isinstance(value, dict):
        raise ConfigUnreadable(
            f"{name} holds {shown(value)} where an object is needed; write the HTP settings as "
            '{"graphs": [...], "devices": [...]}.'
        )
    if WRAPPER in value:
        return _wrapper(value, name, notes)
    _refuse_dialog(value, name)
    if value and not is_inner(value):
        raise ConfigUnreadable(NEITHER.format(name=name))
    return ConfigDocument(tree=value, name=name, notes=notes)


def _wrapper(value: dict[str, Any], name: str, notes: tuple[Finding, ...]) -> ConfigDocument:
    extensions = value[WRAPPER]
    rest = {key: part for key, part in value.items() if key != WRAPPER}
    if not isinstance(extensions, dict):
        raise ConfigUnreadable(
            f"{name} has {shown(extensions)} as {WRAPPER}, and an object is needed there; correct it."
        )
    has_settings = has_sections(rest)
    if not has_settings and not any(key in extensions for key in WRAPPER_KEYS):
        raise ConfigUnreadable(NEITHER.format(name=name))
    named = extensions.get("config_file_path")
    _check_named(named, name, has_settings)
    notes += _library_note(extensions)
    others = {key: part for key, part in extensions.items() if key not in WRAPPER_KEYS}
    warnings = _unknown_keys({WRAPPER: others}) if others else ()
    if has_settings:
        return ConfigDocument(tree=rest, kind="combined", name=name, notes=notes, warnings=warnings)
    warnings += _unknown_keys(rest) if rest else ()
    return ConfigDocument({}, "wrapper", name, named, notes, warnings)


def has_sections(rest: dict[str, Any]) -> bool:
    """Beside the wrapper's own key only the sections count: the wrapper has keys that look like theirs."""
    return any(key in rest for key in HtpConfig.model_fields)


def _check_named(named: Any, name: str, has_settings: bool) -> None:
    if named is not None and (not isinstance(named, str) or not named.strip()):
        raise ConfigUnreadable(f"{name} has {shown(named)} as config_file_path; name the file of HTP settings there.")
    if named is None and not has_settings:
        raise ConfigUnreadable(f"{name} is a wrapper that names no config_file_path; choose the file of HTP settings.")
    if named is not None and has_settings:
        raise ConfigUnreadable(
            f"{name} holds HTP settings and also names {shown(named)} for them, and only one can count; "
            "remove config_file_path or the settings."
        )


def _library_note(extensions: dict[str, Any]) -> tuple[Finding, ...]:
    library = extensions.get("shared_library_path", LIBRARY)
    if library == LIBRARY:
        return ()
    path = f"{WRAPPER}.shared_library_path"
    return (Finding(path, f"{shown(library)} was replaced by {LIBRARY}: the library comes with the toolchain."),)


def _unknown_keys(part: dict[str, Any]) -> tuple[Finding, ...]:
    paths = list(_ends(part, ()))
    found = [Finding(path_text(path), NO_KEY_OF_A_WRAPPER) for path in paths[:MOST_WARNINGS]]
    if len(paths) > MOST_WARNINGS:
        found.append(Finding("", f"{len(paths) - MOST_WARNINGS:,} more keys of the wrapper are not used either."))
    return tuple(found)


def _ends(node: Any, path: Path) -> Iterator[Path]:
    """The paths of all values that hold no others, but never the names by which a wrapper addresses a graph."""
    if isinstance(node, dict) and node:
        for key, part in node.items():
            if not (key == "graph_name" and len(node) > 1):
                yield from _ends(part, (*path, key))
    elif isinstance(node, list) and node:
        for index, part in enumerate(node):
            yield from _ends(part, (*path, index))
    else:
        yield path


def _refuse_dialog(value: dict[str, Any], name: str) -> None:
    root = next((key for key in GENIE if isinstance(value.get(key), dict)), None)
    if root is None or has_sections(value):
        return
    file = next((end for key, end in _texts(value) if key == "extensions"), None)
    what = f"upload the file it mentions, {shown(file)}" if file else "upload the file of HTP settings"
    raise ConfigUnreadable(f"{name} is a Genie {root} config, which holds no HTP settings; {what}.")


def _texts(node: Any) -> Iterator[tuple[str, str]]:
    if isinstance(node, dict):
        for key, part in node.items():
            if isinstance(part, str):
                yield key, part
            else:
                yield from _texts(part)
    elif isinstance(node, list):
        for part in node:
            yield from _texts(part)
