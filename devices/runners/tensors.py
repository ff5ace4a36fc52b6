"""Values of a binary's inputs and outputs: their types, files of them, and seeded random ones."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy

from devices.runners.base import BinaryInfo, RunFailed, TensorInfo
from devices.runners.on_device import random_values

Arrays = dict[str, numpy.ndarray[Any, numpy.dtype[Any]]]
NUMPY_TYPES = {
    "FLOAT_32": "float32",
    "FLOAT_16": "float16",
    "UFIXED_POINT_8": "uint8",
    "SFIXED_POINT_8": "int8",
    "UFIXED_POINT_16": "uint16",
    "SFIXED_POINT_16": "int16",
    "INT_8": "int8",
    "INT_16": "int16",
    "INT_32": "int32",
    "INT_64": "int64",
    "UINT_8": "uint8",
    "UINT_16": "uint16",
    "UINT_32": "uint32",
    "BOOL_8": "bool",
}
ODD_NAME = re.compile(r"\s|:=|^[#%]")


def numpy_type(tensor: TensorInfo) -> str:
    """Raises `RunFailed` for a type that no array can hold."""
    kind = NUMPY_TYPES.get(tensor.data_type)
    if kind is None:
        raise RunFailed(f"{tensor.name} has the type {tensor.data_type}, which this runner cannot hand over.")
    return kind


def seeded_inputs(info: BinaryInfo, seed: int) -> Arrays:
    """The same values that the Python runner makes on a device of the same seed."""
    random = numpy.random.default_rng(seed)
    return {each.name: random_values(numpy, random, numpy_type(each), each.shape) for each in info.inputs}


def stored_inputs(info: BinaryInfo, path: Path) -> Arrays:
    """Out of an .npz file. Raises `RunFailed` when an input is missing, or has another type or shape."""
    try:
        with path.open("rb") as file:
            stored = numpy.load(file, allow_pickle=False)
            if not isinstance(stored, numpy.lib.npyio.NpzFile):
                raise RunFailed(f"{path.name} holds one array without a name. Save it with numpy.savez, by input name.")
            return {each.name: _fitting(each, stored) for each in info.inputs}
    except (EOFError, OSError, ValueError, BadZipFile) as error:
        raise RunFailed(f"{path.name} cannot be read as .npz: {error}. Save it with numpy.savez.") from None


def _fitting(tensor: TensorInfo, stored: Any) -> Any:
    if tensor.name not in stored:
        raise RunFailed(f"The inputs lack {tensor.name}; they hold {', '.join(sorted(stored)) or 'nothing'}.")
    array, kind = stored[tensor.name], numpy_type(tensor)
    if array.shape != tensor.shape or array.dtype != kind:
        raise RunFailed(
            f"The input {tensor.name} is {array.dtype} of shape {list(array.shape)}; the binary takes {kind} of shape "
            f"{list(tensor.shape)}."
        )
    return array


def write_raw_inputs(info: BinaryInfo, arrays: Arrays, folder: Path) -> list[Path]:
    """One file of bare values each, in the order of the graph's inputs."""
    files = [folder / f"input_{number}.raw" for number in range(len(info.inputs))]
    for tensor, file in zip(info.inputs, files, strict=True):
        arrays[tensor.name].tofile(file)
    return files


def input_list(info: BinaryInfo, names: list[str]) -> str:
    """The line of one inference for `qnn-net-run`. Without tensor names, the order tells which is which."""
    if any(ODD_NAME.search(tensor.name) for tensor in info.inputs):
        return " ".join(names) + "\n"
    return " ".join(f"{tensor.name}:={name}" for tensor, name in zip(info.inputs, names, strict=True)) + "\n"


def read_raw(tensor: TensorInfo, path: Path) -> Any:
    """Raises `RunFailed` when the file has another size than the tensor."""
    array = numpy.fromfile(path, dtype=numpy_type(tensor))
    if array.size * array.itemsize != path.stat().st_size or array.size != numpy.prod(tensor.shape, dtype=int):
        raise RunFailed(
            f"The output {tensor.name} came back with {path.stat().st_size:,} bytes, which is not its size."
        )
    return array.reshape(tensor.shape)


def output_file(tensor: TensorInfo, files: list[str]) -> str:
    """The one that holds the tensor: tools change what is no letter in names, and may add a word for native values."""
    plain = {_plain(file.removesuffix(".raw").removesuffix("_native")): file for file in sorted(files)}
    found = plain.get(_plain(tensor.name))
    if found is None:
        raise RunFailed(f"The run wrote no output {tensor.name}; it wrote {', '.join(sorted(files)) or 'nothing'}.")
    return found


def _plain(name: str) -> str:
    return re.sub(r"\W", "_", name).strip("_")
