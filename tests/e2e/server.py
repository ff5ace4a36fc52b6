"""`tunerweb up` that can be stopped for a while and comes back at the same address, as pages that stay open need it."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from tests import server
from tests.tunerweb.supervisor.running import Running

ADDRESS = r"Tunerweb is at (http://127\.0\.0\.1:(\d+))/"
SETUP = r"Make the first one here, once: (\S+)"
MAX_UPLOAD_BYTES = 256 * 2**20


class Server(server.Server):
    port = 0

    def __init__(self, data: Path) -> None:
        super().__init__(data, {"TUNERWEB_MAX_UPLOAD": str(MAX_UPLOAD_BYTES)})

    def _start(self) -> None:
        command = [server.TUNERWEB, "up", "--port", str(self.port), "--workers", str(self.workers), "--data", self.data]
        self.up = Running(command, self.data, self.environment)
        try:
            found = self.up.until(ADDRESS)
        except BaseException:
            self.up.__exit__(None, None, None)
            raise
        self.url, self.port = found[1], int(found[2])

    def start(self) -> None:
        self._start()

    def stop(self) -> None:
        self.up.send(signal.SIGTERM)
        assert self.up.end() == 0, self.up.printed
        self.up.__exit__(None, None, None)

    def setup_link(self) -> str:
        """Printed by the first start only."""
        return str(self.up.until(SETUP)[1])

    def sign_in_link(self, name: str) -> str:
        """For a person whom this makes, in a team of their own: pages make no second team yet."""
        environment = {**os.environ, "TUNERWEB_DATA": str(self.data), "REDIS_URL": self.broker_url}
        command = [sys.executable, "-m", "tests.e2e.outsider", name]
        made = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        return self.url + made.stdout.strip()

    def keep_logs(self, folder: Path) -> None:
        shutil.copytree(self.data / "logs", folder / "logs", dirs_exist_ok=True)
        (folder / "logs" / "supervisor.txt").write_text(re.sub(r"/setup/\S+", "/setup/…", self.up.printed))
