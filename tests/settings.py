"""The server's settings with a data folder of their own; what is slow by design is made fast."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile

os.environ["TUNERWEB_DATA"] = tempfile.mkdtemp(prefix="tunerweb-tests-")
atexit.register(shutil.rmtree, os.environ["TUNERWEB_DATA"], ignore_errors=True)

from tunerweb.settings import *  # noqa: E402, F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
CHANNEL_LAYERS = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}

# Connections of several threads see one file; of a database in memory each statement locks whole tables.
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):  # noqa: F405
    DATABASES["default"]["TEST"] = {"NAME": os.path.join(os.environ["TUNERWEB_DATA"], "test.sqlite3")}  # noqa: F405
    SQLITE_OPTIONS["init_command"] = "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF;"  # noqa: F405
