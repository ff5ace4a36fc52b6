"""`compile_args` and `execution_args` of `optimize`: read, checked, and what is unknown refused by its name."""

from __future__ import annotations

import difflib
import os
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from sweeps.tuner.compiling import SweepRequest
from sweeps.tuner.criteria import checked_criterion, validate_backend_type
from sweeps.tuner.devices import ACCEPT, Access, Reachable, device_from
from sweeps.tuner.errors import DeviceRequired
from sweeps.tuner.inputs import BadInput, existing_file
from sweeps.tuner.optimizing import TuneRequest

COMPILE_KEYS = ("config", "soc", "max_workers", "free_dimensions", "p_values", "backend", "output_path")
EXECUTION_KEYS = (
    *("device", "perf_profile", "profiling_level", "rounds", "runs", "seed", "inputs"),
    *("private_key", "password_file", "host_key", "python", "sdk"),
)
NO_DEVICE = (
    'execution_args names no "device": give an identifier such as root@10.0.0.5, a serial number, "host" or '
    '"simulated".'
)


def tune_request(
    model: Any, criteria: Any, compile_args: Mapping[str, Any] | None, execution_args: Mapping[str, Any] | None
) -> TuneRequest:
    """Raise `BadInput`, `DeviceRequired` without a device, `ValueError` for a backend that has no P values."""
    criterion = checked_criterion(criteria)
    execution = _known("execution_args", execution_args, EXECUTION_KEYS)
    if execution.get("device") is None:
        raise DeviceRequired(NO_DEVICE)
    seed = _number("seed", execution.get("seed")) or 0
    inputs = execution.get("inputs")
    return TuneRequest(
        sweep=_sweep(_paths(model), criterion, _known("compile_args", compile_args, COMPILE_KEYS)),
        criterion=criterion,
        device=_device(execution, seed),
        perf_profile=_text("perf_profile", execution.get("perf_profile", "burst")),
        profiling_level=_text("profiling_level", execution.get("profiling_level", "basic")),
        rounds=_number("rounds", execution.get("rounds")),
        runs=_number("runs", execution.get("runs")),
        seed=seed,
        inputs=None if inputs is None else _path("inputs", inputs),
    )


def access_of(execution: Mapping[str, Any]) -> Access:
    """Raise `BadInput`."""
    paths = {
        name: _path(name, execution[name])
        for name in ("private_key", "password_file", "sdk")
        if execution.get(name) is not None
    }
    python = _text("python", execution.get("python") or "python3")
    return Access(host_key=_host_key(execution.get("host_key")), python=python, **paths)


def p_values_text(value: Any) -> str:
    """`[0, 1]` or `"0,1"` as `"0,1"`. Raise `BadInput`."""
    if isinstance(value, str):
        return value
    if not isinstance(value, Iterable) or not (numbers := list(value)):
        raise BadInput(f'p_values is {value!r}; give "all", a list of numbers, or a text such as "0,1,5-8".')
    return ",".join(str(_number("p_values", number)) for number in numbers)


def _sweep(models: tuple[Path, ...], criterion: str, given: Mapping[str, Any]) -> SweepRequest:
    validate_backend_type(given.get("backend", "HTP"))
    config, soc = given.get("config"), given.get("soc")
    return SweepRequest(
        models=models,
        config=config if config is None or isinstance(config, Mapping) else _path("config", config),
        soc=None if soc is None else str(soc),
        p_values=p_values_text(given.get("p_values", "all")),
        free_dimensions=_dimensions(given.get("free_dimensions")),
        workers=_number("max_workers", given.get("max_workers")),
        out=_path("output_path", given.get("output_path", f"{criterion}_optimized")),
    )


def _device(execution: Mapping[str, Any], seed: int) -> Reachable:
    return device_from(execution["device"], access_of(execution), seed)


def _known(name: str, given: Any, keys: Collection[str]) -> Mapping[str, Any]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise BadInput(f"{name} is {type(given).__name__}, and a dictionary is needed.")
    for key in given:
        if key not in keys:
            near = difflib.get_close_matches(str(key), keys, n=1)
            hint = f"Did you mean {near[0]}?" if near else f"Known are {', '.join(keys)}."
            raise BadInput(f"{name} has a key {key!r}, which is not known. {hint}")
    return given


def _paths(model: Any) -> tuple[Path, ...]:
    """One file or several; an object with a `path` counts as that."""
    given = getattr(model, "path", model) if not isinstance(model, os.PathLike) else model
    many = given if isinstance(given, list | tuple) else [given]
    if not many:
        raise BadInput("No model is given.")
    return tuple(_path("model", each) for each in many)


def _path(name: str, value: Any) -> Path:
    if isinstance(value, str | os.PathLike) and (text := os.fspath(value)) and isinstance(text, str):
        return Path(text)
    raise BadInput(f"{name} is {value!r}, and the path of a file is needed.")


def _text(name: str, value: Any) -> str:
    if isinstance(value, str):
        return str(value)
    raise BadInput(f"{name} is {value!r}, and a text is needed.")


def _number(name: str, value: Any) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int):
        raise BadInput(f"{name} is {value!r}, and a whole number is needed.")
    return value


def _dimensions(value: Any) -> dict[str, int]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise BadInput(f'free_dimensions is {value!r}; give names with sizes, such as {{"N": 1}}.')
    sizes = {str(name): _number(f"free_dimensions[{name!r}]", size) for name, size in value.items()}
    for name, size in sizes.items():
        if size is None or size < 1:
            raise BadInput(f"free_dimensions[{name!r}] is {size}; a size is a whole number from 1.")
    return {name: size for name, size in sizes.items() if size is not None}


def _host_key(value: Any) -> str:
    """The line itself, a file with it, or `accept`."""
    if value is None:
        return ""
    text = os.fspath(value) if isinstance(value, str | os.PathLike) else ""
    if not isinstance(text, str) or not text.strip():
        raise BadInput(f'host_key is {value!r}; give the line of a public key, a file with it, or "{ACCEPT}".')
    if text == ACCEPT or " " in text.strip():
        return text.strip()
    return existing_file(Path(text), "file of the host key").read_text().strip()
