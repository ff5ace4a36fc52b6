"""The SoCs that the HTP compiler knows, and targets made of them.

`socs.json` is the table. DSP arch, VTCM, HVX threads, cores, float16, estimates and cost model are measured: one
model compiled for every number with the QNN build v2.51, and read back. Marketing names and part numbers come from
public tables of projects that run on these chips (LiteRT, ExecuTorch, ONNX Runtime QNN, AI Hub, fastfetch) and from the
trade press; the kernel's numbers from the SoC lists of Linux and of vendors' kernels. Where a part has no number of its
own, it is listed with the chip whose number QNN's documentation gives it (SA8775P: that of SA8255).

Two rows need a word. 122 (CPN3050) counts as a SoC without an HTP, because the compiler composes no graph for it.
108 is its simulator: the compiler makes binaries for it and grants 0 HVX threads, so it is an ordinary target on which
no number of threads can be asked for.
"""

from __future__ import annotations

import difflib
import json
import re
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, Self

from pydantic import BaseModel, ConfigDict, PositiveInt, model_validator

SOCS_FILE = Path(__file__).with_name("socs.json")

# The compiler takes any number of cores on a multi-core SoC; the largest of them, AIC100, has 16.
MAX_CORES = 16
LONGEST_NUMBER = 9
LONGEST_NAME = 60

# "+" tells Snapdragon 8+ Gen 1 from 8 Gen 1; a Galaxy edition is a faster bin of the same chip.
NOISE = re.compile(r"qualcomm|snapdragon|mobile( platform)?|chipset:|for galaxy|for-galaxy|[^a-z0-9+]")
# SM8650P is the chip without a modem, SM8650-AC and SM8750-3-AB are speed bins, SA8255P is how SA8255 is sold.
VARIANT = re.compile(r"(?P<chip>s[am]\d{4})p?(\d?a[a-z])?")


class TargetError(ValueError):
    """A target that nothing can be compiled for. The message is one sentence or two for the person who asked."""


class UnknownSoc(TargetError):
    pass


class NoHtp(TargetError):
    pass


class DspArch(StrEnum):
    V68 = "v68"
    V69 = "v69"
    V73 = "v73"
    V75 = "v75"
    V79 = "v79"
    V81 = "v81"
    V85 = "v85"


def parse_dsp_arch(value: str | int) -> DspArch:
    """Read `v73`, `V73`, `73` or `"73"`. Raises ValueError with a sentence."""
    number = str(value).strip().lower().removeprefix("v")
    if not isinstance(value, bool) and f"v{number}" in list(DspArch):
        return DspArch(f"v{number}")
    known = ", ".join(DspArch)
    if number in {"65", "66"}:
        raise ValueError(f"DSP arch v{number} has no HTP; use one of {known}.")
    raise ValueError(f"There is no DSP arch {value!r}; use one of {known}.")


class SocModel(BaseModel):
    """One SoC with an HTP. `soc_model` is QNN's number, not the kernel's `soc_id`.

    `estimates`: the compiler gives its own performance estimates; `cost_model`: it can simulate a schedule.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    soc_model: int
    name: str
    marketing_names: tuple[str, ...] = ()
    dsp_arch: DspArch
    vtcm_mb: int
    hvx_threads: int
    multi_core: bool
    float16: bool
    estimates: bool
    cost_model: bool


class Target(BaseModel):
    """What a model is compiled for: a SoC and how many of its NPU cores."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    soc: SocModel
    num_cores: PositiveInt = 1

    @model_validator(mode="after")
    def _has_the_cores(self) -> Self:
        _check_cores(self.soc, self.num_cores)
        return self

    @property
    def soc_model(self) -> int:
        return self.soc.soc_model

    @property
    def name(self) -> str:
        return self.soc.name

    @property
    def dsp_arch(self) -> DspArch:
        return self.soc.dsp_arch

    @property
    def vtcm_mb(self) -> int:
        return self.soc.vtcm_mb

    @property
    def label(self) -> str:
        cores = f", {self.num_cores} cores" if self.num_cores > 1 else ""
        return f"{self.name} ({self.dsp_arch}, {self.vtcm_mb} MB VTCM{cores})"


def find_target(text: str | int, num_cores: int = 1) -> Target:
    """Raises TargetError."""
    soc = find_soc(text)
    _check_cores(soc, num_cores)
    return Target(soc=soc, num_cores=num_cores)


def find_soc(text: str | int) -> SocModel:
    """Find a SoC by QNN's number, by name, part number or marketing name, in any spelling. Raises TargetError."""
    wanted = str(text).strip()
    table = _table()
    if wanted.isdecimal() and len(wanted) <= LONGEST_NUMBER:
        return _usable(_by_number(int(wanted)))
    key = _key(wanted)
    variant = VARIANT.fullmatch(key)
    row = table.by_key.get(key) or (variant and table.by_key.get(variant["chip"]))
    if not row:
        raise UnknownSoc(f"There is no SoC {wanted[:LONGEST_NAME]!r}. {_suggestion(key[:LONGEST_NAME])}")
    return _usable(row)


def all_socs() -> tuple[SocModel, ...]:
    """Every SoC with an HTP, in order of its number."""
    return tuple(row.soc for row in _table().by_number.values() if row.soc)


def is_kernel_soc_id(number: int) -> bool:
    """True for a number that is only the kernel's; where QNN has a SoC of that number, it is QNN's."""
    return number in _table().by_kernel_id and number not in _table().by_number


class _Row(NamedTuple):
    """One line of the table; `soc` is None where there is no HTP."""

    soc_model: int
    name: str
    names: tuple[str, ...]
    kernel_names: dict[int, str]
    soc: SocModel | None


class _Table(NamedTuple):
    by_number: dict[int, _Row]
    by_key: dict[str, _Row]
    by_kernel_id: dict[int, _Row]


@cache
def _table() -> _Table:
    rows = [_read_row(raw) for raw in json.loads(SOCS_FILE.read_text(encoding="utf-8"))]
    rows.sort(key=lambda row: row.soc_model)
    # QNN's own names are entered last: they win over a part number or a marketing name.
    by_key = {_key(name): row for row in rows for name in row.names}
    by_key |= {_key(row.name): row for row in rows}
    by_kernel_id = {number: row for row in rows for number in row.kernel_names}
    return _Table({row.soc_model: row for row in rows}, by_key, by_kernel_id)


def _read_row(raw: dict[str, Any]) -> _Row:
    kernel_names = {int(number): name for number, name in raw.pop("kernel_soc_ids").items()}
    names = (*raw.pop("part_numbers"), *raw["marketing_names"], *kernel_names.values())
    soc = SocModel.model_validate(raw) if raw["dsp_arch"] else None
    return _Row(raw["soc_model"], raw["name"], names, kernel_names, soc)


def _key(name: str) -> str:
    return NOISE.sub("", name.casefold()).replace("plus", "+")


def _by_number(number: int) -> _Row:
    table = _table()
    if row := table.by_number.get(number):
        return row
    row = table.by_kernel_id.get(number)
    if row is None:
        raise UnknownSoc(f"The compiler knows no SoC of the number {number}. Give the chip's name, such as SM8650.")
    part = row.kernel_names[number]
    if row.soc is None:
        raise NoHtp(f"{number} is the kernel's soc_id of {part}, which has no HTP; choose another SoC.")
    chip = f"{row.soc_model}" if row.name == part else f"{row.soc_model} ({row.name})"
    raise UnknownSoc(f"{number} is the kernel's soc_id of {part}; QNN's number is {chip}. Use that instead.")


def _usable(row: _Row) -> SocModel:
    if row.soc is None:
        raise NoHtp(
            f"{row.name} (soc_model {row.soc_model}) has no HTP that the compiler can compile for; "
            f"choose a SoC of DSP arch {min(DspArch)} or later."
        )
    return row.soc


def _suggestion(key: str) -> str:
    by_key = _table().by_key
    near = [by_key[match] for match in difflib.get_close_matches(key, by_key, n=3, cutoff=0.75)]
    names = list(dict.fromkeys(f"{row.name} ({row.soc_model})" for row in near if row.soc))
    if not names:
        return "Give QNN's number or the chip's name, such as 57 or SM8650."
    *others, last = names
    return f"Did you mean {', '.join(others)} or {last}?" if others else f"Did you mean {last}?"


def _check_cores(soc: SocModel, num_cores: int) -> None:
    if num_cores < 1:
        raise TargetError(f"num_cores is {num_cores}; at least one core is needed.")
    if num_cores > 1 and not soc.multi_core:
        raise TargetError(f"{soc.name} compiles for one core only; set num_cores to 1 or leave it out.")
    if num_cores > MAX_CORES:
        raise TargetError(f"num_cores is {num_cores}, and no SoC has more than {MAX_CORES} NPU cores.")
