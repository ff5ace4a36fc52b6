"""Run in a child before anything else starts: migrate, then print the path of the set-up link if one is needed."""

from __future__ import annotations

import sys

import django


def main() -> None:
    django.setup()
    migrate()
    # Imported now: it reads models.
    from tunerweb.accounts import first_start

    first_start.main()


def migrate() -> None:
    """Only when there is something to do: asking is ten times cheaper than the command."""
    from django.core.management import call_command
    from django.db import connection
    from django.db.migrations.executor import MigrationExecutor

    executor = MigrationExecutor(connection)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        call_command("migrate", interactive=False, skip_checks=True, stdout=sys.stderr)
    connection.close()


if __name__ == "__main__":
    main()
