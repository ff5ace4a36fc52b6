"""HTP configs: the backend-extension JSON, read in every spelling that people use, in one normalised form."""

from sweeps.configs.editing import default_config, with_p_value
from sweeps.configs.p_values import MULTI_CORE_ONLY, P_VALUES, SINGLE_CORE_ONLY, p_value_problem
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
    "ContextConfig",
    "CoreConfig",
    "DeviceConfig",
    "GraphConfig",
    "GroupContextConfig",
    "HtpConfig",
    "MemoryConfig",
    "default_config",
    "key_role",
    "p_value_problem",
    "with_p_value",
]
