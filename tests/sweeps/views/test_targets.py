"""The page of all SoCs."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from devices.targets import all_socs
from tests.people import someone

pytestmark = pytest.mark.django_db


@pytest.fixture
def client() -> Client:
    client = Client()
    client.force_login(someone())
    return client


def page_of(client: Client, **query: str) -> Any:
    return client.get(reverse("sweeps:target_list"), query)


def names(client: Client, **query: str) -> list[str]:
    return [soc.name for soc in page_of(client, **query).context["socs"]]


def test_every_soc_has_a_row_with_an_anchor_and_a_way_to_a_config(client: Client) -> None:
    page = page_of(client).content.decode()
    for soc in all_socs():
        assert f'id="soc-{soc.soc_model}"' in page
        assert f"{reverse('sweeps:config_new')}?target={soc.soc_model}" in page


@pytest.mark.parametrize("asked", ["SM8650", "sm865", "57", "Snapdragon 8 Gen 3", "gen 3 v75"])
def test_a_soc_is_found_by_name_number_and_marketing_name(client: Client, asked: str) -> None:
    assert "SM8650" in names(client, q=asked)


def test_a_part_number_leads_to_the_soc_that_it_is_compiled_for_as(client: Client) -> None:
    page = page_of(client, q="SM8650-AC")
    assert [soc.name for soc in page.context["socs"]] == ["SM8650"]
    assert page.context["hint"] == "SM8650-AC is compiled for as SM8650, number 57."


def test_the_number_that_is_asked_for_comes_first(client: Client) -> None:
    assert names(client, q="30")[0] == "SM8350"


def test_a_soc_without_an_htp_is_explained(client: Client) -> None:
    page = page_of(client, q="SDM845")
    assert (page.context["socs"], "has no HTP" in page.context["hint"]) == ([], True)


def test_a_number_of_the_kernel_is_explained(client: Client) -> None:
    assert "is the kernel's soc_id" in page_of(client, q="557").context["hint"]


def test_the_table_can_be_of_one_arch(client: Client) -> None:
    assert {soc.dsp_arch for soc in page_of(client, arch="v79").context["socs"]} == {"v79"}


def test_a_soc_of_another_arch_is_told(client: Client) -> None:
    assert page_of(client, q="SM8650", arch="v79").context["hint"] == "SM8650 is SM8650, of DSP arch v75."


@pytest.mark.parametrize("query", [{"arch": "v1"}, {"arch": "\0"}, {"q": "\0"}, {"q": " "}])
def test_a_wrong_address_has_the_whole_table(client: Client, query: dict[str, str]) -> None:
    assert len(names(client, **query)) == len(all_socs())


@pytest.mark.parametrize("asked", ["<script>alert(1)</script>", "x" * 5000, "9" * 50])
def test_a_search_that_finds_nothing_says_so(client: Client, asked: str) -> None:
    page = page_of(client, q=asked).content.decode()
    assert "No SoC is like this" in page
    assert "<script>alert" not in page


def test_what_the_compiler_does_not_report_is_a_dash_with_its_reason(client: Client) -> None:
    assert "the compiler has no cost model of this SoC" in page_of(client, q="SM7325").content.decode()


def test_a_live_search_answers_with_the_table_alone(client: Client) -> None:
    answer = client.get(reverse("sweeps:target_list"), {"q": "SM8650"}, headers={"HX-Request": "true"})
    assert "<html" not in answer.content.decode()
    assert "HX-Request" in answer.headers["Vary"]


def test_people_who_are_not_signed_in_are_sent_to_the_login() -> None:
    assert page_of(Client()).status_code == 302
