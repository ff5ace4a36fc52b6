"""The HTP config in its one normalised form. Field names are the keys of the JSON file.

Each key acts at compile time (it changes the binary) or at run time (it changes how a device runs it); the latter are
kept and exported, but are no part of the fingerprint. Unset keys stay None and are not written.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

from devices.targets import DspArch
from sweeps.configs.p_values import P_VALUES

COMPILE = {"role": "compile"}
RUN = {"role": "run"}

CompileInt = Annotated[int | None, Field(ge=0, json_schema_extra=COMPILE)]
CompileBool = Annotated[bool | None, Field(json_schema_extra=COMPILE)]
Switch = Annotated[Literal[0, 1] | None, Field(json_schema_extra=COMPILE)]
RunInt = Annotated[int | None, Field(json_schema_extra=RUN)]
RunBool = Annotated[bool | None, Field(json_schema_extra=RUN)]
RunText = Annotated[str | None, Field(json_schema_extra=RUN)]
RunObject = Annotated[dict[str, Any] | None, Field(json_schema_extra=RUN)]
RunList = Annotated[tuple[Any, ...] | None, Field(json_schema_extra=RUN)]
RunAny = Annotated[Any, Field(json_schema_extra=RUN)]
Scalar = bool | int | float | str


class Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class GraphConfig(Section):
    graph_names: tuple[str, ...] = ()
    O: Annotated[Literal[1, 2, 3] | None, Field(json_schema_extra=COMPILE)] = None  # noqa: E741 - the key is named so
    vtcm_mb: CompileInt = None
    vtcm_size: CompileInt = None
    hvx_threads: CompileInt = None
    num_cores: CompileInt = None
    dlbc: Switch = None
    dlbc_weights: Switch = None
    cached_weights: Switch = None
    sparse_weights_compression: Switch = None
    slc_alloc_enable: Switch = None
    vtcm_retention: Switch = None
    fp16_relaxed_precision: Switch = None
    weights_packing: CompileBool = None
    assume_same_quant: CompileBool = None
    share_io_buffer: CompileBool = None
    advanced_activation_fusion: CompileBool = None
    short_depth_conv_on_hmx_off: CompileBool = None
    fold_relu_activation_into_conv_off: CompileBool = None
    high_precision_sigmoid: CompileBool = None
    fp16_clamp_overflow: CompileBool = None
    monolithic_lstm: CompileBool = None
    precision_compensation: CompileBool = None
    enable_predication: CompileBool = None
    finalize_config: Annotated[dict[str, Scalar] | None, Field(json_schema_extra=COMPILE)] = None
    hmx_op_bounding: RunObject = None
    dynamic_partitioning: RunList = None
    perf_profile: RunText = None

    @property
    def p_value(self) -> int | None:
        value = (self.finalize_config or {}).get("P")
        return value if isinstance(value, int) and value in P_VALUES else None


class CoreConfig(Section):
    core_id: RunInt = None
    perf_profile: RunText = None
    rpc_control_latency: RunInt = None
    rpc_polling_time: RunInt = None
    hmx_timeout_us: RunInt = None
    adaptive_polling_time: RunInt = None
    ddr_perf_mode: RunBool = None
    custom: RunAny = None
    hmxControl: RunAny = None


class DeviceConfig(Section):
    soc_model: Annotated[int | None, Field(json_schema_extra=COMPILE)] = None
    dsp_arch: Annotated[DspArch | None, Field(json_schema_extra=COMPILE)] = None
    device_id: RunInt = None
    core_id: Annotated[tuple[int, ...] | None, Field(json_schema_extra=RUN)] = None
    core_type: RunInt = None
    device_type: RunInt = None
    pd_session: RunText = None
    profiling_level: RunText = None
    enable_async_execute: RunBool = None
    use_dynamic_partitioning: RunBool = None
    enable_htp_extension: RunBool = None
    consolidate_htp_extension: RunBool = None
    use_client_context: RunBool = None
    async_voting: RunBool = None
    cores: Annotated[tuple[CoreConfig, ...] | None, Field(json_schema_extra=RUN)] = None


class ContextConfig(Section):
    weight_sharing_enabled: CompileBool = None
    file_read_memory_budget_in_mb: CompileInt = None
    extended_udma: CompileBool = None
    lora_weight_sharing: CompileBool = None
    graph_splitting_enabled: CompileBool = None
    graph_splitting_configs: RunObject = None
    contextKey: RunText = None
    max_spill_fill_buffer_for_group: RunInt = None
    group_id: RunInt = None
    concurrent_group_registration: RunObject = None
    dsp_memory_profiling_enabled: RunBool = None
    io_memory_estimation: RunBool = None
    prepare_only: RunBool = None
    init_acceleration: RunBool = None
    skip_validation_on_binary_section: RunBool = None
    detachable_buffers_enabled: RunBool = None
    hard_detach_enabled: RunBool = None
    lora_weight_sharing_ram_preload: RunBool = None
    lora_preload_buffer_group: RunList = None
    reused_io_limit_mb: RunInt = None
    reference_weight_sharing_enabled: RunBool = None
    concurrent_deserialization_patch: RunText = None


class MemoryConfig(Section):
    mem_type: Annotated[Literal["shared_buffer"] | None, Field(json_schema_extra=RUN)] = None


class GroupContextConfig(Section):
    share_resources: RunBool = None
    share_resources_optimization_type: RunInt = None
    reused_io_limit_mb: RunInt = None


class HtpConfig(Section):
    graphs: tuple[GraphConfig, ...] = ()
    devices: tuple[DeviceConfig, ...] = ()
    context: ContextConfig | None = None
    memory: MemoryConfig | None = None
    groupContext: GroupContextConfig | None = None

    @classmethod
    def from_json(cls, tree: Mapping[str, Any]) -> HtpConfig:
        """What `to_json` or `model_dump(mode="json")` gave."""
        return cls.model_validate_json(json.dumps(tree))

    def to_json(self) -> dict[str, Any]:
        """The inner file: strict JSON values, keys in the order of the schema, nothing that is unset."""
        written = self.model_dump(mode="json", exclude_none=True)
        for graph in written["graphs"]:
            if not graph["graph_names"]:
                del graph["graph_names"]
        return {key: value for key, value in written.items() if value not in ([], {})}

    @property
    def fingerprint(self) -> str:
        """sha256 of the settings that reach the binary; two configs with one fingerprint compile to the same bytes."""
        parts = {
            "graphs": [_compile_part(graph) | {"graph_names": list(graph.graph_names)} for graph in self.graphs],
            "devices": [_compile_part(device) for device in self.devices],
            "context": _compile_part(self.context) if self.context else {},
        }
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def key_role(section: type[Section], key: str) -> str | None:
    """`compile` or `run`; None for a key that only addresses (graph_names) or does not exist."""
    field = section.model_fields.get(key)
    extra = field.json_schema_extra if field else None
    return str(extra["role"]) if isinstance(extra, dict) and "role" in extra else None


def _compile_part(section: Section) -> dict[str, Any]:
    written = section.model_dump(mode="json", exclude_none=True)
    return {key: value for key, value in written.items() if key_role(type(section), key) == "compile"}


def section_of(section: type[Section], key: str) -> type[Section] | None:
    """The section that a key holds, one or a list of them; None for a key that holds a value."""
    parts = [section.model_fields[key].annotation]
    while parts:
        part = parts.pop()
        if isinstance(part, type) and issubclass(part, Section):
            return part
        parts.extend(get_args(part))
    return None
