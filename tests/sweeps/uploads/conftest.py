"""What tests of uploads share: a data folder of their own, a person, and no broker."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sweeps import uploads as module
from tests.people import someone
from tests.sweeps.uploads.senders import Sender
from tunerweb.accounts.models import User


@pytest.fixture(autouse=True)
def own_folders(settings: Any, tmp_path: Path) -> None:
    settings.ENVIRONMENT = settings.ENVIRONMENT.model_copy(update={"data": tmp_path})


@pytest.fixture(autouse=True)
def hints(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The queues that were told of work."""
    pushed: list[str] = []
    monkeypatch.setattr(module.hints, "push", pushed.append)
    return pushed


@pytest.fixture
def person() -> User:
    return someone()


@pytest.fixture
def sender(person: User) -> Sender:
    return Sender(person)
