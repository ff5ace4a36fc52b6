"""Stub of the contract; being replaced."""

from __future__ import annotations

from enum import StrEnum

from pydantic import BaseModel, ConfigDict


class DspArch(StrEnum):
    V68 = "v68"
    V69 = "v69"
    V73 = "v73"
    V75 = "v75"
    V79 = "v79"
    V81 = "v81"
    V85 = "v85"


class SocModel(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")
    soc_model: int
    name: str
    dsp_arch: DspArch
    vtcm_mb: int
    hvx_threads: int


class Target(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")
    soc: SocModel
    num_cores: int = 1
