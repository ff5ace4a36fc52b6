"""A config to start from, made for a target."""

from __future__ import annotations

import json
from collections.abc import Sequence

from devices.targets import Target
from sweeps.configs.documents import LIBRARY
from sweeps.configs.schema import DeviceConfig, GraphConfig, HtpConfig


def starting_config(target: Target, graph_names: Sequence[str] = ()) -> HtpConfig:
    """O=3, which every P needs, all of the VTCM, and the SoC by both of its names."""
    num_cores = target.num_cores if target.num_cores > 1 else None
    return HtpConfig(
        graphs=(GraphConfig(graph_names=tuple(graph_names), O=3, vtcm_mb=0, num_cores=num_cores),),
        devices=(DeviceConfig(soc_model=target.soc_model, dsp_arch=target.dsp_arch),),
    )


def starting_text(target: Target, graph_names: Sequence[str] = (), *, with_wrapper: bool = False) -> str:
    """`with_wrapper`: the wrapper's part and the settings in one file, as some tools write them."""
    settings = starting_config(target, graph_names).to_json()
    wrapper = {"backend_extensions": {"shared_library_path": LIBRARY}} if with_wrapper else {}
    return json.dumps(wrapper | settings, indent=2) + "\n"
