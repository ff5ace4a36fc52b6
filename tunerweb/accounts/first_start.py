"""Prints the path of the set-up page while nobody can sign in, and nothing otherwise.

python -m tunerweb.accounts.first_start
"""

from __future__ import annotations

import os

import django


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tunerweb.settings")
    django.setup()
    # Models can be imported once Django is set up.
    from tunerweb.accounts.links import new_setup_link

    path = new_setup_link()
    if path:
        print(path)


if __name__ == "__main__":
    main()
