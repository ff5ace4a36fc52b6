"""Makes a person in a team of their own and prints the path of a link that signs them in."""

from __future__ import annotations

import os
import sys

import django

os.environ["DJANGO_SETTINGS_MODULE"] = "tunerweb.settings"
django.setup()

from tests.people import someone  # noqa: E402
from tunerweb.accounts.links import new_enter_link  # noqa: E402

if __name__ == "__main__":
    print(new_enter_link(someone(sys.argv[1])))
