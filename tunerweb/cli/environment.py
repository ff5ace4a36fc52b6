"""The environment for a command: options win, and what is wrong is told by the variable's name."""

from __future__ import annotations

from pydantic import ValidationError

from sweeps.tuner.inputs import BadInput
from tunerweb.environment import Environment


def read_environment(**options: object) -> Environment:
    """Raises `BadInput`."""
    given = {name: value for name, value in options.items() if value is not None}
    try:
        return Environment.model_validate(given)
    except ValidationError as error:
        raise BadInput(*(sentence(variable(one["loc"]), one["msg"]) for one in error.errors())) from None


def sentence(name: str, message: str) -> str:
    text = message.removeprefix("Value error, ").rstrip(".")
    return f"{text}." if text.startswith(name) else f"{name}: {text}."


def variable(location: tuple[int | str, ...]) -> str:
    name = str(location[0])
    return name if name.isupper() else f"TUNERWEB_{name.upper()}"
