from __future__ import annotations

from django.http import HttpRequest
from django_htmx.middleware import HtmxDetails

from tunerweb.accounts.models import User

# In the session of somebody who may not know the password that the account has now.
ENTERED_BY_LINK = "entered_by_link"


class SignedInRequest(HttpRequest):
    """A request that `sign_in_required` has let through."""

    user: User
    htmx: HtmxDetails
