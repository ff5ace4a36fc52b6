"""How people come in. A link is looked at by GET and used up by POST only: a mail scanner leaves it whole."""

from __future__ import annotations

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import authenticate, login, logout
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from tunerweb.accounts import actions, limits
from tunerweb.accounts.forms import LONGEST_PASSWORD, NewUserForm, SetupForm, SignInForm
from tunerweb.accounts.http import ENTERED_BY_LINK
from tunerweb.accounts.links import what_next, why_dead
from tunerweb.accounts.models import Link, LinkPurpose, Membership, User, has_administrator

WRONG = "Name or password is wrong."
BACKEND = "django.contrib.auth.backends.ModelBackend"
page = require_http_methods(["GET", "HEAD", "POST"])


@never_cache
@page
def setup(request: HttpRequest, token: str) -> HttpResponse:
    if has_administrator() or not Link.usable(LinkPurpose.SETUP, token).exists():
        return _dead(request, LinkPurpose.SETUP, token)
    form = SetupForm(request.POST or None)
    if not form.is_valid():
        return render(request, "accounts/setup.html", {"form": form})
    data = form.cleaned_data
    try:
        user = actions.create_administrator(
            token, username=data["username"], password=data["password"], team_name=data["team_name"]
        )
    except actions.LinkIsDead:
        return _dead(request, LinkPurpose.SETUP, token)
    login(request, user, BACKEND)
    return redirect(settings.LOGIN_REDIRECT_URL)


@never_cache
@page
def enter(request: HttpRequest, token: str) -> HttpResponse:
    link = Link.usable(LinkPurpose.ENTER, token).select_related("user").first()
    if link is None:
        return _dead(request, LinkPurpose.ENTER, token)
    if request.method != "POST":
        return render(request, "accounts/enter.html", {"person": link.user})
    try:
        user = actions.enter(token)
    except actions.LinkIsDead:
        return _dead(request, LinkPurpose.ENTER, token)
    login(request, user, BACKEND)
    request.session[ENTERED_BY_LINK] = True
    return HttpResponseRedirect(_next(request))


@never_cache
@page
def invite(request: HttpRequest, token: str) -> HttpResponse:
    link = Link.usable(LinkPurpose.INVITE, token).select_related("team", "created_by").first()
    if link is None:
        return _dead(request, LinkPurpose.INVITE, token)
    if isinstance(request.user, User):
        return _join_signed_in(request, request.user, link, token)
    form = NewUserForm(request.POST or None)
    if form.is_valid():
        try:
            user = actions.join_as_new(
                token, username=form.cleaned_data["username"], password=form.cleaned_data["password"]
            )
        except actions.LinkIsDead:
            return _dead(request, LinkPurpose.INVITE, token)
        except actions.NameTaken:
            form.add_error("username", "Somebody has just taken this name: choose another one.")
        else:
            login(request, user, BACKEND)
            return redirect(settings.LOGIN_REDIRECT_URL)
    return render(request, "accounts/invite.html", {"form": form, "link": link, "path": request.path})


def _join_signed_in(request: HttpRequest, user: User, link: Link, token: str) -> HttpResponse:
    if request.method != "POST":
        is_member = Membership.objects.filter(user=user, team=link.team).exists()
        return render(request, "accounts/join.html", {"link": link, "is_member": is_member})
    try:
        team = actions.join_as(user, token)
    except actions.LinkIsDead:
        return _dead(request, LinkPurpose.INVITE, token)
    messages.success(request, f"You are now in the team {team.name}.")
    return redirect("accounts:team")


@never_cache
@page
def sign_in(request: HttpRequest) -> HttpResponse:
    if request.user.is_authenticated:
        return HttpResponseRedirect(_next(request))
    if not User.objects.exists():
        return render(request, "accounts/no_users.html", status=503)
    form = SignInForm(request.POST or None)
    if form.is_valid() and (user := _checked(request, form)):
        login(request, user)
        return HttpResponseRedirect(_next(request))
    status = 429 if form.has_error("__all__", "wait") else 200
    return render(request, "accounts/login.html", {"form": form, "next": _next(request)}, status=status)


def _checked(request: HttpRequest, form: SignInForm) -> User | None:
    username, password = form.cleaned_data["username"], form.cleaned_data["password"]
    address = request.META.get("REMOTE_ADDR", "")
    if wait_s := limits.wait_before_try(username, address):
        form.add_error(None, ValidationError(_please_wait(wait_s), code="wait"))
        return None
    user = authenticate(request, username=username, password=password) if len(password) <= LONGEST_PASSWORD else None
    if not isinstance(user, User):
        form.add_error(None, WRONG)
        return None
    limits.forget_tries(username, address)
    return user


def _please_wait(seconds: int) -> str:
    return f"There were several wrong tries. Wait {seconds} s, then try again."


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    logout(request)
    return redirect(settings.LOGOUT_REDIRECT_URL)


def _next(request: HttpRequest) -> str:
    wanted = request.POST.get("next") or request.GET.get("next") or ""
    if url_has_allowed_host_and_scheme(wanted, {request.get_host()}, require_https=request.is_secure()):
        return wanted
    return reverse(settings.LOGIN_REDIRECT_URL)


def _dead(request: HttpRequest, purpose: LinkPurpose, token: str) -> HttpResponse:
    next_step = what_next(purpose, is_signed_in=request.user.is_authenticated)
    context = {"why": why_dead(purpose, token), "next_step": next_step}
    return render(request, "accounts/dead_link.html", context, status=404)
