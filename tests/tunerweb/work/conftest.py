from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.valkey import Valkey, running_valkey


@pytest.fixture
def broker() -> Iterator[Valkey]:
    # Imported here: most tests beside this file need no Django.
    from django.conf import settings

    with running_valkey(settings.ENVIRONMENT.data / "broker.sock") as valkey:
        yield valkey
