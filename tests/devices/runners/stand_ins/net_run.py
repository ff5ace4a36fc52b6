#!/usr/bin/env python3
"""A stand-in for `qnn-net-run`, and not the tool: it checks what it is given and leaves the files that the tool leaves.

Its log is JSON of how it was called, which the stand-in for `qnn-profile-viewer` reads. The outputs are zeros.
"""

import json
import os
import sys
from pathlib import Path

FLAGS = {"--use_native_input_files", "--use_native_output_files"}


def options() -> dict[str, str]:
    words, given = iter(sys.argv[1:]), {}
    for word in words:
        given[word.removeprefix("--")] = "" if word in FLAGS else next(words)
    return given


def end_badly(sentence: str, code: int) -> None:
    print(sentence, file=sys.stderr)
    sys.exit(code)


def inputs(list_file: str) -> dict[str, int]:
    pairs = [word.rpartition(":=") for word in Path(list_file).read_text().split()]
    return {name or str(number): Path(file).stat().st_size for number, (name, _, file) in enumerate(pairs)}


def main() -> None:
    given = options()
    outer = json.loads(Path(given["config_file"]).read_text())["backend_extensions"]
    inner = json.loads(Path(outer["config_file_path"]).read_text())
    folders = os.environ["LD_LIBRARY_PATH"].split(":")
    for library in (given["backend"], outer["shared_library_path"]):
        # As dlopen does: a name without a folder is looked for.
        if not any(Path(folder, library).is_file() for folder in folders):
            end_badly(f"cannot load {library}", 3)
    content = Path(given["retrieve_context"]).read_bytes()
    if content.startswith(b"older"):
        end_badly("Could not create context from binary for contextIndex = 0 with err 0x1388", 14)
    out = Path(given["output_dir"])
    (out / "Result_0").mkdir(parents=True)
    names = ("LD_LIBRARY_PATH", "ADSP_LIBRARY_PATH")
    called = {
        "options": given,
        "inner": inner,
        "inputs": inputs(given["input_list"]),
        "environment": {name: os.environ.get(name) for name in names},
        "beside": sorted(path.name for path in Path(sys.argv[0]).parent.iterdir()),
    }
    log = out / "qnn-profiling-data_0.log"
    log.write_text("" if content.startswith(b"silent") else json.dumps(called))
    (out / "qnn-profiling-data.log").symlink_to(log.name)
    (out / "Result_0" / "_y_out_native.raw").write_bytes(bytes(4))


main()
