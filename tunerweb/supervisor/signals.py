"""What the person at the terminal, or the system, asks for: to stop, and to stop at once."""

from __future__ import annotations

import asyncio
import signal


class Requests:
    def __init__(self) -> None:
        self.stop = asyncio.Event()
        self.at_once = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._asked)
        # Ignored means that somebody wants this to outlive the terminal.
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
            loop.add_signal_handler(signal.SIGHUP, self.stop.set)

    def _asked(self) -> None:
        (self.at_once if self.stop.is_set() else self.stop).set()
