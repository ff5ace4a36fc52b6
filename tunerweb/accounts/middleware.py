"""Nothing but the ways in is shown to people who are not signed in."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import cast
from urllib.parse import urlencode, urlsplit

from asgiref.sync import iscoroutinefunction
from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import resolve_url
from django.utils.decorators import sync_and_async_middleware
from django.utils.http import url_has_allowed_host_and_scheme

# The API asks for a token by itself.
WAYS_IN = ("/login/", "/setup/", "/enter/", "/invite/", "/static/", "/healthz", "/api/")

Answer = Callable[[HttpRequest], HttpResponse]
AsyncAnswer = Callable[[HttpRequest], Awaitable[HttpResponse]]


@sync_and_async_middleware
def sign_in_required(get_response: Answer | AsyncAnswer) -> Answer | AsyncAnswer:
    if iscoroutinefunction(get_response):

        async def answer_async(request: HttpRequest) -> HttpResponse:
            if _is_open(request) or (await request.auser()).is_authenticated:
                return await cast(AsyncAnswer, get_response)(request)
            return _please_sign_in(request)

        return answer_async

    def answer(request: HttpRequest) -> HttpResponse:
        if _is_open(request) or request.user.is_authenticated:
            return cast(Answer, get_response)(request)
        return _please_sign_in(request)

    return answer


def _is_open(request: HttpRequest) -> bool:
    return request.path_info.startswith(WAYS_IN)


def _please_sign_in(request: HttpRequest) -> HttpResponse:
    """A page is sent to the login; a script is told, because it would take the login page for its answer."""
    login = f"{resolve_url(settings.LOGIN_URL)}?{urlencode({'next': _page_to_come_back_to(request)})}"
    if "HX-Request" in request.headers:
        return HttpResponse(status=401, headers={"HX-Redirect": login})
    if "text/html" not in request.headers.get("Accept", "text/html"):
        return HttpResponse("Please sign in first.\n", status=401, content_type="text/plain")
    return HttpResponseRedirect(login)


def _page_to_come_back_to(request: HttpRequest) -> str:
    """What a form posts to is often no page: come back to where the form was."""
    if "HX-Request" in request.headers:
        page = request.headers.get("HX-Current-URL", "")
    elif request.method in ("GET", "HEAD"):
        return request.get_full_path()
    else:
        page = request.headers.get("Referer", "")
    if not url_has_allowed_host_and_scheme(page, {request.get_host()}):
        return "/"
    parts = urlsplit(page)
    return parts._replace(scheme="", netloc="", fragment="").geturl() or "/"
