"""What hints call in tests: it tells in a folder what it does, and does what it finds written there."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from tunerweb.work.keeper import stopping


def work() -> None:
    folder = Path(os.environ["HINT_FOLDER"])
    (folder / "horse.pid").write_text(str(os.getpid()))
    if (folder / "waits").exists():
        stopping.wait()
        (folder / "handed back").touch()
    elif (folder / "hangs").exists():
        while True:
            signal.pause()
    (folder / f"done {len(list(folder.glob('done *')))}").touch()
