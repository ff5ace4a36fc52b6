#!/usr/bin/env python3
"""A stand-in for `qnn-profile-viewer`, and not the tool: it turns the other stand-in's log into files of its shape.

As many inferences as were asked for, each a microsecond longer than the one before. With the optrace reader it writes
the QHAS summary that lies beside it, which is made by hand.
"""

import json
import shutil
import sys
from pathlib import Path

HEADER = "Msg Timestamp, Message, Time, Unit of Measurement, Timing Source, Event Level, Event Identifier"
INFERENCE = """{at},EXECUTE,{whole},US,NETRUN,ROOT,Graph 0: g
{at},EXECUTE,4,COUNT,BACKEND,ROOT,Number of HVX threads used
{at},EXECUTE,{npu},US,BACKEND,ROOT,QNN accelerator (execute) time
{at},EXECUTE,{qnn},US,BACKEND,ROOT,QNN (execute) time
"""


def main() -> None:
    given = dict(zip(sys.argv[1::2], sys.argv[2::2], strict=True))
    log = Path(given["--input_log"])
    if log.is_symlink():
        sys.exit("symbolic links are not read")
    called = json.loads(log.read_text())
    output = Path(given["--output"])
    if "--reader" in given:
        assert json.loads(Path(given["--config"]).read_text())["features"]["qhas_json"]
        assert called["options"]["profiling_option"] == "optrace"
        shutil.copy(Path(sys.argv[0]).with_name("qhas.json"), f"{output.with_suffix('')}_qnn_htp_analysis_summary.json")
        return
    rows = [
        INFERENCE.format(at=n, whole=1400 + n, npu=1000 + n, qnn=1200 + n)
        for n in range(int(called["options"]["num_inferences"]))
    ]
    output.write_text(
        "a\nb\nc\n\n" + HEADER + "\n1,INIT,38500,US,BACKEND,ROOT,QNN (load binary) time\n" + "".join(rows)
    )


main()
