"""Run tests with the database on a PostgreSQL of their own: `python -m tests.on_postgres tests/sweeps -n 2`.

Without arguments: every test that is marked to need the database.
"""

from __future__ import annotations

import os
import subprocess
import sys

from tests.postgres import running_postgres

DEFAULT = ("-m", "django_db and not faults")


def main() -> int:
    with running_postgres() as server:
        environment = {**os.environ, "DATABASE_URL": server.url()}
        command = [sys.executable, "-m", "pytest", *(sys.argv[1:] or DEFAULT)]
        return subprocess.run(command, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
