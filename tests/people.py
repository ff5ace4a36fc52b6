"""People and their teams, for tests."""

from __future__ import annotations

import itertools

from tunerweb.accounts.models import Membership, Team, User

numbers = itertools.count(1)


def someone(name: str = "", team: Team | None = None) -> User:
    """A person who can sign in with the password `correct horse`, in a team of their own or in the one given."""
    name = name or f"person{next(numbers)}"
    person = User.objects.create_user(name, password="correct horse")
    Membership.objects.create(user=person, team=team or Team.objects.create(name=f"{name}'s team"))
    return person
