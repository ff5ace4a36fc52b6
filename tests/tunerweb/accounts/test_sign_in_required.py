from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from asgiref.sync import sync_to_async
from django.db import connections
from django.test import AsyncClient, Client

from tunerweb.accounts.models import User

LOGIN = "/login/?next="


@pytest.mark.parametrize("path", ["/", "/sweeps/", "/account/", "/team/", "/no/such/page/"])
def test_a_page_sends_strangers_to_the_login(client: Client, ada: User, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 302
    assert answer.headers["Location"].startswith(LOGIN)


def test_the_login_knows_the_page_with_its_filters(client: Client, ada: User) -> None:
    assert client.get("/sweeps/?q=a&sort=rom").headers["Location"] == f"{LOGIN}%2Fsweeps%2F%3Fq%3Da%26sort%3Drom"


def test_after_a_post_the_login_leads_back_to_the_page_of_the_form(client: Client, ada: User) -> None:
    answer = client.post("/account/tokens/", HTTP_REFERER="http://testserver/account/?a=1#tokens")
    assert answer.headers["Location"] == f"{LOGIN}%2Faccount%2F%3Fa%3D1"


def test_after_a_post_from_elsewhere_the_login_leads_to_the_overview(client: Client, ada: User) -> None:
    answer = client.post("/account/tokens/", HTTP_REFERER="https://example.org/account/")
    assert answer.headers["Location"] == f"{LOGIN}%2F"


def test_htmx_is_told_to_go_to_the_login(client: Client, ada: User) -> None:
    headers = {"HX-Request": "true", "HX-Current-URL": "http://testserver/sweeps/abc/"}
    answer = client.get("/sweeps/abc/rows/", headers=headers)
    assert answer.status_code == 401
    assert answer.headers["HX-Redirect"] == f"{LOGIN}%2Fsweeps%2Fabc%2F"


def test_a_script_gets_a_plain_401(client: Client, ada: User) -> None:
    answer = client.patch("/uploads/tus/abc", headers={"Accept": "*/*"})
    assert (answer.status_code, answer.headers["Content-Type"]) == (401, "text/plain")


@pytest.mark.parametrize("path", ["/login/", "/static/css/tunerweb.css", "/static/js/accounts.js"])
def test_what_the_login_page_needs_is_open(client: Client, ada: User, path: str) -> None:
    answer = client.get(path)
    answer.close()
    assert answer.status_code == 200


@pytest.mark.parametrize("path", ["/loginx", "/healthzz/../account/", "//login/../account/"])
def test_a_path_that_looks_like_a_way_in_is_not_one(client: Client, ada: User, path: str) -> None:
    assert client.get(path).status_code in (302, 404)


@pytest_asyncio.fixture
async def asgi(transactional_db: None) -> AsyncIterator[AsyncClient]:
    yield AsyncClient()
    await sync_to_async(connections.close_all)()


@pytest.mark.asyncio
async def test_a_stranger_is_sent_to_the_login_under_asgi_too(asgi: AsyncClient) -> None:
    assert (await asgi.get("/sweeps/")).headers["Location"] == f"{LOGIN}%2Fsweeps%2F"


@pytest.mark.asyncio
async def test_a_signed_in_person_is_let_in_under_asgi_too(asgi: AsyncClient) -> None:
    await asgi.aforce_login(await User.objects.acreate_user("ada"))
    assert (await asgi.get("/account/")).status_code == 200
