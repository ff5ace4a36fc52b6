"""A person's own page: password, sessions, API tokens."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from tunerweb.accounts import actions
from tunerweb.accounts.forms import PasswordForm, TokenForm
from tunerweb.accounts.http import ENTERED_BY_LINK, SignedInRequest
from tunerweb.accounts.models import ApiToken
from tunerweb.accounts.tokens import new_token


@require_safe
def account(request: SignedInRequest) -> HttpResponse:
    return _page(request)


@require_POST
def change_password(request: SignedInRequest) -> HttpResponse:
    form = PasswordForm(request.user, request.POST, asks_old=_asks_old(request))
    if not form.is_valid():
        return _page(request, password_form=form)
    actions.change_password(request.user, form.cleaned_data["password"])
    update_session_auth_hash(request, request.user)
    request.session.pop(ENTERED_BY_LINK, None)
    messages.success(request, "Your password is changed. Everywhere else you are signed out.")
    return redirect("accounts:account")


@require_POST
def sign_out_everywhere(request: SignedInRequest) -> HttpResponse:
    actions.sign_out_everywhere(request.user)
    update_session_auth_hash(request, request.user)
    messages.success(request, "You are signed out everywhere but here.")
    return redirect("accounts:account")


@never_cache
@require_POST
def create_token(request: SignedInRequest) -> HttpResponse:
    """The secret is in this one answer and nowhere else, so there is no redirect."""
    form = TokenForm(request.user, request.POST)
    if not form.is_valid():
        return _page(request, token_form=form)
    token, secret = new_token(request.user, form.cleaned_data["team"], form.cleaned_data["name"])
    return _page(request, made=token, secret=secret)


@require_POST
def revoke_token(request: SignedInRequest, public_id: str) -> HttpResponse:
    token = get_object_or_404(ApiToken, user=request.user, public_id=public_id)
    actions.revoke_token(token)
    messages.success(request, f"The token {token.name} opens nothing any more.")
    return redirect("accounts:account")


def _asks_old(request: SignedInRequest) -> bool:
    return request.user.has_usable_password() and ENTERED_BY_LINK not in request.session


def _page(request: SignedInRequest, **context: object) -> HttpResponse:
    tokens = ApiToken.objects.filter(user=request.user, revoked_at=None)
    defaults = {
        "password_form": PasswordForm(request.user, asks_old=_asks_old(request)),
        "token_form": TokenForm(request.user),
        "tokens": tokens.select_related("team").order_by("-created_at"),
        "teams": request.user.teams.order_by("membership__created_at"),
    }
    return render(request, "accounts/account.html", defaults | context)
