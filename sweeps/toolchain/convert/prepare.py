"""Put a model and its data files into a private folder of regular files, and nothing else."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import IO

from sweeps.toolchain.convert.archives import ArchiveProblem, Entry, check_entries, quoted
from sweeps.toolchain.convert.content import Content, SourceKind, onnx_members, recognise
from sweeps.toolchain.convert.sources import (
    MODEL_FILE,
    DataFile,
    SourceDescription,
    SourceRejected,
    data_file_problem,
    describe_source,
    length_problem,
    location_problem,
)
from sweeps.toolchain.endings import telling_a_full_disk

CHUNK_BYTES = 2**20


def prepare_source(paths: Sequence[Path], work: Path, *, search_beside: bool = True) -> Path:
    """Copy what was handed in into a new folder in `work`; return the path of the model there.

    `paths` is a zip, or a model and the files that hold its weights. Data files that are not among them are looked for
    beside the model when `search_beside`. A DLC is returned where it is. Raise `SourceRejected`.
    """
    if not paths:
        raise SourceRejected("No model was given. Send the DLC or the ONNX model.")
    content = recognise(paths[0])
    if len(paths) == 1 and content.kind is SourceKind.DLC and not content.problem:
        return paths[0]
    with telling_a_full_disk("preparation of the model"), _kept_if_done(work) as folder:
        if len(paths) == 1:
            return _single(paths[0], content, folder, search_beside)
        model = _model_among(paths)
        return _collect(model, _by_name([path for path in paths if path != model]), folder, search_beside)


@contextlib.contextmanager
def _kept_if_done(work: Path) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="source-", dir=work))
    try:
        yield folder
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _by_name(paths: Sequence[Path]) -> dict[str, Path]:
    named = {path.name: path for path in paths}
    if len(named) < len(paths):
        twice = next(path.name for path in paths if named[path.name] != path)
        raise SourceRejected(f"Two data files have the name {quoted(twice)}. Send each once, or pack them in a zip.")
    return named


def _single(path: Path, content: Content, folder: Path, search_beside: bool) -> Path:
    if content.problem:
        raise SourceRejected(content.problem)
    if content.kind is SourceKind.ZIP:
        unpacked = _unpack(path, content.members, folder / "unpacked")
        try:
            model = unpacked[onnx_members(content.members)[0].name]
            return _collect(model, unpacked, folder, search_beside=False, name=path.name)
        finally:
            shutil.rmtree(folder / "unpacked")
    return _collect(path, {}, folder, search_beside)


def _model_among(paths: Sequence[Path]) -> Path:
    contents = {path: recognise(path) for path in paths}
    models = [path for path, content in contents.items() if content.kind is SourceKind.ONNX]
    models = [path for path in models if path.suffix.lower() == ".onnx"] or models
    if len(models) == 1:
        if problem := contents[models[0]].problem:
            raise SourceRejected(problem)
        return models[0]
    if models:
        names = ", ".join(quoted(path.name) for path in models)
        raise SourceRejected(f"{len(models)} ONNX models were given ({names}). Send one, with its data files.")
    problem = next((content.problem for content in contents.values() if content.problem), None)
    raise SourceRejected(f"None of the {len(paths)} files is an ONNX model. {problem or ''}".strip())


def _collect(
    model: Path, others: Mapping[str, Path], folder: Path, search_beside: bool, name: str | None = None
) -> Path:
    """`others`: data files by the path they were handed in under."""
    prepared = folder / MODEL_FILE
    shutil.copyfile(model, prepared)
    title = name or model.name
    described = describe_source(prepared, name=title)
    _refuse_unusable(described)
    problems = []
    locations = {PurePosixPath(item.location) for item in described.data_files}
    for item in described.data_files:
        source, problem = _find(item, locations, others)
        if not (source or problem):
            source, problem = _beside(item, model.parent, search_beside)
        if source:
            _copy(source, folder / item.location)
            problem = length_problem(item, (folder / item.location).stat().st_size)
        problems += [problem] if problem else []
    if problems:
        told = "; ".join(dict.fromkeys(problems))
        raise SourceRejected(
            f"{quoted(title)} keeps weights in other files: {told}. Send the model and its data files together."
        )
    return prepared


def _refuse_unusable(described: SourceDescription) -> None:
    """The data files are not there yet; every other problem stays one."""
    if described.problem and not (described.kind is SourceKind.ONNX and described.missing_data_files):
        raise SourceRejected(described.problem)


def _find(
    item: DataFile, locations: Collection[PurePosixPath], others: Mapping[str, Path]
) -> tuple[Path | None, str | None]:
    """The file among those handed in that stands for the location, or why none can; neither when none does."""
    place = PurePosixPath(item.location)
    if problem := location_problem(item.location):
        return None, problem
    if any(place in other.parents for other in locations):
        return None, f"{quoted(item.location)} is also the folder of another data file"
    given = others.get(str(place))
    if given is None:
        same_name = {path for name, path in others.items() if PurePosixPath(name).name == place.name}
        if len(same_name) > 1 or (same_name and sum(other.name == place.name for other in locations) > 1):
            return None, f"{quoted(place.name)} is the name of several, pack them in a zip with their folders"
        given = next(iter(same_name), None)
    if given and not given.is_file():
        return None, f"{quoted(item.location)} is not a regular file"
    return given, None


def _beside(item: DataFile, folder: Path, allowed: bool) -> tuple[Path | None, str | None]:
    problem = data_file_problem(folder, item) if allowed else f"{quoted(item.location)} is missing"
    return (None, problem) if problem else (folder / item.location, None)


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def _unpack(archive: Path, members: tuple[Entry, ...], folder: Path) -> dict[str, Path]:
    """Every file of the zip under a name of our own, by the name it had; the model's folder counts as the top."""
    try:
        check_entries(archive, members)
        folder.mkdir()
        unpacked = {}
        with zipfile.ZipFile(archive) as reader:
            by_offset = {info.header_offset: info for info in reader.infolist()}
            for number, entry in enumerate(member for member in members if not member.is_folder):
                target = folder / f"{number:05}.bin"
                with reader.open(by_offset[entry.offset]) as packed:
                    _write_counted(packed, target, entry)
                unpacked[entry.name] = target
    except ArchiveProblem as problem:
        raise SourceRejected(f"{quoted(archive.name)} is refused: {problem}.") from None
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, KeyError, RuntimeError):
        raise SourceRejected(
            f"{quoted(archive.name)} is damaged: a file in it cannot be unpacked. Pack it again."
        ) from None
    return _below_model(unpacked, members)


def _write_counted(packed: IO[bytes], target: Path, entry: Entry) -> None:
    """The declared size is not trusted: a file that unpacks to more is refused while it is written."""
    left = entry.unpacked_bytes
    with target.open("wb") as file:
        while chunk := packed.read(CHUNK_BYTES):
            left -= len(chunk)
            if left < 0:
                raise ArchiveProblem(f"{quoted(entry.name)} in it unpacks to more than it says")
            file.write(chunk)


def _below_model(unpacked: dict[str, Path], members: tuple[Entry, ...]) -> dict[str, Path]:
    """Locations are relative to the model, which may lie in a folder of the zip."""
    model = onnx_members(members)[0].name
    top = model.rpartition("/")[0]
    inside = {name.removeprefix(top + "/"): path for name, path in unpacked.items()} if top else {}
    return {**unpacked, **inside}
