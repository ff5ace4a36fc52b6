"""HTP configs: the backend-extension JSON, read in every spelling that people use, in one normalised form."""

from sweeps.configs.checking import CheckedConfig, check_config
from sweeps.configs.documents import ConfigDocument, apply_fix, empty_document, target_number_of, wrapper_json
from sweeps.configs.editing import default_config, with_p_value
from sweeps.configs.findings import ConfigUnreadable, Finding, Fix, findings_in_log
from sweeps.configs.p_values import MULTI_CORE_ONLY, P_VALUES, SINGLE_CORE_ONLY, p_value_problem
from sweeps.configs.reading import read_config
from sweeps.configs.schema import (
    ContextConfig,
    CoreConfig,
    DeviceConfig,
    GraphConfig,
    GroupContextConfig,
    HtpConfig,
    MemoryConfig,
    key_role,
)

__all__ = [
    "MULTI_CORE_ONLY",
    "P_VALUES",
    "SINGLE_CORE_ONLY",
    "CheckedConfig",
    "ConfigDocument",
    "ConfigUnreadable",
    "ContextConfig",
    "CoreConfig",
    "DeviceConfig",
    "Finding",
    "Fix",
    "GraphConfig",
    "GroupContextConfig",
    "HtpConfig",
    "MemoryConfig",
    "apply_fix",
    "check_config",
    "default_config",
    "empty_document",
    "findings_in_log",
    "key_role",
    "p_value_problem",
    "read_config",
    "target_number_of",
    "with_p_value",
    "wrapper_json",
]
