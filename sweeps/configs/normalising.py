"""From a document as written to the one form: lists and objects, key names, types. Each change leaves a note.

A value that cannot be read is left out of the draft and is a problem, so that checking can go on with the rest.
"""

from __future__ import annotations

from typing import Any

from sweeps.configs.documents import can_put, value_at
from sweeps.configs.finalize_options import place_of_stray, reader_of_option
from sweeps.configs.findings import Findings, Fix, Path, listed, path_text, shown
from sweeps.configs.key_names import intended_key, right_place
from sweeps.configs.schema import CoreConfig, DeviceConfig, GraphConfig, HtpConfig, Section, section_of
from sweeps.configs.values import Read, reader_of

MOST_ENTRIES = 1000
EXAMPLES = {"graphs": '{"graph_names": ["graph"]}', "devices": '{"soc_model": 57}', "cores": '{"core_id": 0}'}


def normalise(tree: dict[str, Any], findings: Findings) -> dict[str, Any]:
    """JSON values that `HtpConfig` takes as they are."""
    return _Normaliser(tree, findings).draft()


class _Normaliser:
    def __init__(self, tree: dict[str, Any], findings: Findings) -> None:
        self.tree = tree
        self.findings = findings

    def draft(self) -> dict[str, Any]:
        return self._keys(HtpConfig, (), self.tree)

    def _keys(self, section: type[Section], path: Path, raw: dict[str, Any]) -> dict[str, Any]:
        draft: dict[str, Any] = {}
        for key, value in raw.items():
            at = (*path, key)
            known = key in section.model_fields or (section is DeviceConfig and key == "soc_id")
            if not known:
                self._unknown(section, path, key)
            elif value is None:
                self.findings.note(at, f"{key} is null, which says nothing; it was left out.")
            else:
                self._known(section, at, value, draft)
        return _one_soc(self.findings, path, draft) if section is DeviceConfig else draft

    def _known(self, section: type[Section], at: Path, value: Any, draft: dict[str, Any]) -> None:
        key = str(at[-1])
        field = "soc_model" if key == "soc_id" else key
        inner = section_of(section, field)
        if inner in (GraphConfig, DeviceConfig, CoreConfig):
            draft[key] = self._entries(inner, at, value)
        elif inner:
            if keys := self._keys(inner, at, self._object(at, value)):
                draft[key] = keys
        elif key == "finalize_config":
            if finalize_config := self._finalize_config(at, self._object(at, value)):
                draft[key] = finalize_config
        else:
            self._take(reader_of(section, field)(key, value), at, draft)

    def _take(self, read: Read, at: Path, draft: dict[str, Any]) -> None:
        if read.problem:
            # `proposed` is None where nothing better is known than to leave the key out.
            fix = Fix("remove", at) if read.proposed is None else Fix("set", at, read.proposed)
            self.findings.problem(at, read.problem, fix)
            return
        if read.note:
            self.findings.note(at, read.note)
        draft[str(at[-1])] = read.value

    def _finalize_config(self, path: Path, raw: dict[str, Any]) -> dict[str, Any]:
        draft: dict[str, Any] = {}
        for key, value in raw.items():
            at = (*path, key)
            if value is None:
                self.findings.note(at, f"{shown(key)} is null, which says nothing; it was left out.")
            elif place := place_of_stray(path, key):
                self._misplaced(at, _strays(key, path, place), place)
            else:
                self._take(reader_of_option(key)(path_text((key,)), value), at, draft)
        if others := [shown(key) for key in draft if key != "P"]:
            self.findings.note(
                path, f"{listed(others)} passed through as written; the compiler refuses a name that it does not know."
            )
        return draft

    def _entries(self, section: type[Section], path: Path, value: Any) -> list[dict[str, Any]]:
        key = str(path[-1])
        if value in ({}, []):
            self.findings.note(path, f"{key} is an empty {'object' if value == {} else 'list'}, which says nothing.")
            return []
        if isinstance(value, dict):
            self.findings.note(path, f"{key} is an object; it was written as a list of one entry.")
            value = [value]
        if not isinstance(value, list):
            example = EXAMPLES[key]
            self.findings.problem(
                path,
                f"{key} is {shown(value)}, and it must be a list such as [{example}]; correct it.",
                Fix("remove", path),
            )
            return []
        if len(value) > MOST_ENTRIES:
            self.findings.problem(
                path, f"{key} has {len(value):,} entries, and {MOST_ENTRIES:,} is the most; leave some out."
            )
            return []
        return [self._entry(section, (*path, index), entry) for index, entry in enumerate(value)]

    def _entry(self, section: type[Section], path: Path, entry: Any) -> dict[str, Any]:
        if isinstance(entry, dict):
            return self._keys(section, path, entry)
        example = EXAMPLES[str(path[-2])]
        self.findings.problem(
            path, f"This entry is {shown(entry)}, and it must be an object such as {example}.", Fix("remove", path)
        )
        return {}

    def _object(self, path: Path, value: Any) -> dict[str, Any]:
        """A section, or several of them in a list, as one object."""
        key = path[-1]
        if value in ({}, [], [{}]):
            self.findings.note(path, f"{key} is empty, which says nothing; it was left out.")
            return {}
        if isinstance(value, dict):
            return value
        if not isinstance(value, list) or not all(isinstance(part, dict) for part in value):
            self.findings.problem(
                path,
                f"{key} is {shown(value)}, and it must be an object; correct it or leave it out.",
                Fix("remove", path),
            )
            return {}
        self.findings.note(path, f"{key} is a list; it was written as an object.")
        merged: dict[str, Any] = {}
        for part in value:
            for name, setting in part.items():
                if merged.setdefault(name, setting) != setting:
                    self._two_values((*path, name), merged[name], setting)
        return merged

    def _two_values(self, path: Path, first: Any, second: Any) -> None:
        sentence = f"{path[-1]} is given twice, as {shown(first)} and {shown(second)}; keep one."
        self.findings.problem(path, sentence, Fix("remove", path))

    def _unknown(self, section: type[Section], path: Path, key: str) -> None:
        at = (*path, key)
        if self.findings.is_full:
            self.findings.problem(at, "This key is unknown.")
            return
        place = right_place(key, section, path)
        where = path_text(path) or "a config"
        if place is None:
            self.findings.problem(
                at, f"There is no key {shown(key)} in {where}, so it would do nothing; remove it.", Fix("remove", at)
            )
            return
        self._misplaced(at, _belongs(key, path, place), place)

    def _misplaced(self, at: Path, sentence: str, place: Path) -> None:
        if _has(self.tree, place):
            sentence += f" {place[-1]} is there already, so remove this one."
            self.findings.problem(at, sentence, Fix("remove", at))
        else:
            clear = can_put(self.tree, place) and not self._is_one_of_several(at, place)
            self.findings.problem(at, sentence, Fix("move", at, place) if clear else None)

    def _is_one_of_several(self, at: Path, place: Path) -> bool:
        """Whether the key would go from outside into the first of several entries: which one it is meant for, nobody
        can tell.
        """
        entries = self.tree.get(str(place[0]))
        return at[:2] != place[:2] and isinstance(entries, list) and len(entries) > 1


def _belongs(key: str, path: Path, place: Path) -> str:
    if place[:-1] == path:
        return f"There is no key {shown(key)}; did you mean {place[-1]}?"
    same = key == place[-1] or intended_key(key) == key
    name = shown(key) if same else f"{shown(key)} (did you mean {place[-1]}?)"
    return f"{name} would do nothing here; it belongs into {path_text(place[:-1]) or 'the outermost object'}."


def _strays(key: str, path: Path, place: Path) -> str:
    if place[:-1] == path:
        return f"There is no option {shown(key)}; did you mean {place[-1]}?"
    name = shown(key) if key == place[-1] else f"{shown(key)} (did you mean {place[-1]}?)"
    return f"{name} is no setting of finalize_config; it belongs into {path_text(place[:-1])}."


def _has(tree: dict[str, Any], place: Path) -> bool:
    try:
        return value_at(tree, place) is not None
    except (KeyError, IndexError, TypeError):
        return False


def _one_soc(findings: Findings, path: Path, device: dict[str, Any]) -> dict[str, Any]:
    """`soc_id` and `soc_model` are two names of one thing."""
    soc_id = device.pop("soc_id", None)
    if soc_id is None:
        return device
    at = (*path, "soc_id")
    if device.setdefault("soc_model", soc_id) != soc_id:
        findings.problem(
            at,
            f"soc_id is {soc_id} and soc_model is {device['soc_model']}, and both name the SoC; keep one of them.",
            Fix("remove", at),
        )
    else:
        findings.note(at, "soc_id was written as soc_model, the other name of the SoC's number.")
    return device
