from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from sweeps.actions import start_sweep
from sweeps.forms.launch import LaunchForm, first_values
from sweeps.models import SourceModel, Sweep
from sweeps.saving import create_config, save_version
from sweeps.specs import SweepSpec
from tests.people import someone
from tests.sweeps.stored import sample, stored_config, stored_model, stored_sweep, stored_toolchain
from tunerweb.accounts.models import User

pytestmark = pytest.mark.django_db
NAMING_SOC = '{"devices": [{"soc_model": 57}]}'
MARKUP = "<script>alert(1)</script>"


@pytest.fixture
def person() -> User:
    stored_toolchain()
    return someone("mira")


@pytest.fixture
def browser(person: User) -> Client:
    client = Client()
    client.force_login(person)
    return client


def values(model: SourceModel, **changes: str) -> dict[str, str]:
    """What the form sends when nothing was changed but the model and the target."""
    return first_values(model.owner, {"model": model.public_id}) | {"soc": "SM8650"} | changes


def send(browser: Client, data: dict[str, str]) -> Any:
    return browser.post(reverse("sweeps:launch"), data)


def text_of(answer: Any) -> str:
    """However the template is laid out."""
    return " ".join(answer.content.decode().split())


def preview(browser: Client, data: dict[str, str]) -> str:
    return text_of(browser.post(reverse("sweeps:launch_preview"), data, headers={"HX-Request": "true"}))


def problems(person: User, data: dict[str, str], *, typing: bool = False) -> dict[str, list[str]]:
    form = LaunchForm(data, user=person)
    form.review(typing=typing)
    return {name: list(errors) for name, errors in form.errors.items()}


def dynamic_model(person: User) -> SourceModel:
    return SourceModel.objects.create(
        team=person.team,
        owner=person,
        name="text encoder",
        sha256="d" * 64,
        format="onnx",
        size_bytes=10,
        description={"free_dimensions": ["batch", MARKUP]},
    )


def test_without_a_model_the_page_offers_to_upload_one(browser: Client) -> None:
    page = browser.get(reverse("sweeps:launch")).content.decode()
    assert reverse("sweeps:model_upload") in page
    assert "launch-form" not in page


def test_the_only_model_is_chosen_at_once(person: User) -> None:
    model = stored_model(person)
    assert first_values(person, {})["model"] == model.public_id


def test_of_several_models_none_is_chosen_for_the_person(person: User) -> None:
    stored_model(person)
    dynamic_model(person)
    assert first_values(person, {})["model"] == ""


def test_sending_the_form_launches_the_sweep(browser: Client, person: User) -> None:
    answer = send(browser, values(stored_model(person), p_values="0-2", name="  first\ttry "))
    sweep = Sweep.objects.get()
    assert answer.url == sweep.get_absolute_url()
    assert (sweep.name, sweep.trials.count(), sweep.owner) == ("first try", 4, person)


def test_sent_twice_it_is_one_sweep(browser: Client, person: User) -> None:
    data = values(stored_model(person))
    assert send(browser, data).url == send(browser, data).url
    assert Sweep.objects.count() == 1


def test_gone_back_to_and_changed_it_is_another_sweep(browser: Client, person: User) -> None:
    data = values(stored_model(person), p_values="0-2")
    send(browser, data)
    send(browser, data | {"p_values": "0-3"})
    assert Sweep.objects.count() == 2


def test_two_people_may_send_the_same_submission(browser: Client, person: User) -> None:
    other = someone("jo", person.team)
    data = values(stored_model(person))
    send(browser, data)
    browser.force_login(other)
    send(browser, data)
    assert set(Sweep.objects.values_list("owner__username", flat=True)) == {"mira", "jo"}


def test_the_memory_limit_is_given_in_gib(browser: Client, person: User) -> None:
    send(browser, values(stored_model(person), memory_gib="1.5 GiB"))
    assert Sweep.objects.get().memory_bytes == 1536 * 2**20


@pytest.mark.parametrize(
    ("field", "typed", "told"),
    [
        ("soc", "SM865", "Did you mean"),
        ("soc", "SM4350", "has no HTP"),
        ("p_values", "0,x", "is not a list of P values"),
        ("p_values", "24", "is not a P value"),
        ("p_values", "1," * 150, "characters"),
        ("top_k", "0", "from 1 to 100"),
        ("top_k", "", "Give a number"),
        ("top_k", "9" * 5000, "whole number"),
        ("parallel_compiles", "1.5", "whole number"),
        ("timeout_s", "abc", "whole number"),
        ("memory_gib", "-3", "more than 0"),
        ("memory_gib", "lots", "Give a number of GiB"),
        ("memory_gib", "1e400", ""),
        ("memory_gib", "NaN", "Give a number of GiB"),
        ("priority", "1000", "from -100 to 100"),
        ("name", "n" * 301, "301 characters"),
        ("name", "nul \0 byte", "Null characters"),
        ("model", "nosuchmodel", "not there any more"),
        ("config", "nosuchconfig:1", "not there any more"),
    ],
)
def test_what_is_wrong_is_told_beside_its_field(person: User, field: str, typed: str, told: str) -> None:
    found = problems(person, values(stored_model(person)) | {field: typed})
    assert list(found) == [field]
    assert told in " ".join(found[field])


def test_all_that_is_wrong_is_told_at_once(person: User) -> None:
    wrong = {"soc": "SM865", "p_values": "x", "top_k": "0", "timeout_s": "", "memory_gib": "none"}
    assert set(problems(person, values(stored_model(person), **wrong))) == set(wrong)


def test_what_was_typed_is_kept(browser: Client, person: User) -> None:
    wrong = {"soc": "SM865", "p_values": "no <list>", "timeout_s": "soon", "name": MARKUP}
    page = send(browser, values(stored_model(person), **wrong)).content.decode()
    for typed in ("SM865", "no &lt;list&gt;", "soon", "&lt;script&gt;alert(1)&lt;/script&gt;"):
        assert f'value="{typed}"' in page
    assert MARKUP not in page


def test_every_problem_of_the_config_is_told(person: User) -> None:
    text = '{"graphs": [{"graph_names": ["nobody"], "vtcm_mb": 64}], "devices": [{"soc_model": 57}]}'
    config = create_config(person.team, person, name="broken", text=text).version.config
    found = problems(person, values(stored_model(person), config=config.public_id))
    assert len(found["config"]) == 2


def test_an_empty_target_is_that_of_the_config(browser: Client, person: User) -> None:
    config = create_config(person.team, person, name="for SM8650", text=NAMING_SOC).version.config
    send(browser, values(stored_model(person), soc="", config=config.public_id))
    assert Sweep.objects.get().soc_model == 57


def test_without_a_toolchain_the_page_says_so() -> None:
    person = someone()
    model = stored_model(person)
    assert "toolchain" in problems(person, values(model))["__all__"][0]


# While people type


def test_the_preview_says_how_much_will_run(browser: Client, person: User) -> None:
    answer = preview(browser, values(stored_model(person), p_values="0-2"))
    assert "<strong>4 points</strong>, 4 compiles" in answer


def test_the_preview_says_that_nothing_was_measured_yet(browser: Client, person: User) -> None:
    assert "No compile of this model was measured yet" in preview(browser, values(stored_model(person)))


def test_the_preview_knows_what_is_in_the_store(browser: Client, person: User) -> None:
    sweep = stored_sweep(person)
    data = values(sweep.source_model, config=sweep.config_version.config.public_id, p_values="0,1")
    answer = preview(browser, data)
    assert "nothing to compile, 3 from the store" in answer
    assert "The results are there at once." in answer


def test_the_preview_knows_what_another_sweep_compiles(browser: Client, person: User) -> None:
    data = values(stored_model(person), p_values="0-2")
    send(browser, data)
    assert "4 that another sweep compiles" in preview(browser, data)


def test_the_preview_counts_what_waits_already(browser: Client, person: User) -> None:
    send(browser, values(stored_model(person), p_values="0-2"))
    answer = preview(browser, values(stored_model(person), p_values="0-2", soc="SM8750"))
    assert "4 other compiles wait in the queue." in answer


def test_the_preview_estimates_from_what_was_measured(browser: Client, person: User) -> None:
    sweep = stored_sweep(person)
    answer = preview(browser, values(sweep.source_model, p_values="0-2", parallel_compiles="1"))
    assert "on 1 worker." in answer


def test_the_preview_groups_what_is_left_out_by_its_reason(browser: Client, person: User) -> None:
    answer = preview(browser, values(stored_model(person)))
    assert "<strong>P 7, 9, 10, 11, 12, 14, 18</strong> each needs at least two cores" in answer


def test_which_p_values_the_target_takes_is_shown_beside_them(browser: Client, person: User) -> None:
    answer = preview(browser, values(stored_model(person), p_values="0"))
    assert '<span class="p-value is-invalid">7</span>' in answer
    assert '<span class="p-value">23</span>' in answer


def test_what_is_empty_is_not_yet_wrong_while_people_type(person: User) -> None:
    model = dynamic_model(person)
    assert problems(person, values(model, soc="", top_k=""), typing=True) == {}


def test_what_is_empty_is_listed_as_still_to_fill_in(browser: Client, person: User) -> None:
    answer = preview(browser, values(dynamic_model(person), soc=""))
    assert "Still to fill in" in answer
    assert "batch" in answer
    assert 'href="#launch-soc"' in answer


def test_a_preview_changes_nothing(browser: Client, person: User) -> None:
    preview(browser, values(stored_model(person)))
    assert not Sweep.objects.exists()


def test_a_preview_does_not_replace_the_fields_of_dimensions(browser: Client, person: User) -> None:
    data = values(dynamic_model(person)) | {"dim:batch": "1", f"dim:{MARKUP}": ""}
    assert "launch-dimensions" not in preview(browser, data)


def test_the_free_dimensions_come_with_the_choice_of_a_model(browser: Client, person: User) -> None:
    answer = preview(browser, values(dynamic_model(person)))
    assert 'name="dim:batch"' in answer
    assert 'name="dim:&lt;script&gt;alert(1)&lt;/script&gt;"' in answer
    assert MARKUP not in answer


def test_the_free_dimensions_go_with_the_model_that_had_them(browser: Client, person: User) -> None:
    answer = preview(browser, values(stored_model(person)) | {"dim:batch": "12"})
    assert "launch-dimensions" in answer
    assert "dim:batch" not in answer


def test_a_size_is_kept_when_another_model_has_the_same_dimension(browser: Client, person: User) -> None:
    answer = preview(browser, values(dynamic_model(person)) | {"dim:batch": "12"})
    assert 'value="12"' in answer


def test_every_free_dimension_is_required(person: User) -> None:
    found = problems(person, values(dynamic_model(person)) | {"dim:batch": "1"})
    assert list(found) == ["dim_1"]


@pytest.mark.parametrize("size", ["0", "-1", "2147483648", "one"])
def test_a_size_that_no_dimension_has_is_told_beside_it(person: User, size: str) -> None:
    found = problems(person, values(dynamic_model(person)) | {"dim:batch": size, f"dim:{MARKUP}": "2"})
    assert list(found) == ["dim_0"]


def test_the_sizes_reach_the_sweep(browser: Client, person: User) -> None:
    send(browser, values(dynamic_model(person)) | {"dim:batch": "1", f"dim:{MARKUP}": "128"})
    assert Sweep.objects.get().free_dimensions == {"batch": 1, MARKUP: 128}


# What happened meanwhile


def test_a_model_that_was_deleted_meanwhile_is_told(browser: Client, person: User) -> None:
    data = values(stored_model(person), name="kept")
    dynamic_model(person)
    SourceModel.objects.filter(public_id=data["model"]).delete()
    page = text_of(send(browser, data))
    assert "somebody deleted it since this form was opened" in page
    assert 'value="kept"' in page


def test_a_version_that_was_saved_meanwhile_is_told_once(browser: Client, person: User) -> None:
    saved = create_config(person.team, person, name="ours", text=NAMING_SOC).version
    data = values(stored_model(person), config=f"{saved.config.public_id}:1:latest")
    save_version(saved.config, person, '{"devices": [{"soc_model": 69}]}', seen=1)
    page = text_of(send(browser, data))
    assert "Version 2 of this config was saved since this form was opened" in page
    assert f'<option value="{saved.config.public_id}:1" title="ours" selected>' in page
    send(browser, data | {"config": f"{saved.config.public_id}:1"})
    assert Sweep.objects.get().config_version == saved


def test_a_foreign_model_does_not_exist(person: User) -> None:
    foreign = stored_model(someone())
    stored_model(person)
    data = values(foreign)
    assert "not there any more" in problems(person, data)["model"][0]


def test_a_foreign_config_does_not_exist(person: User) -> None:
    foreign = stored_config(someone())
    data = values(stored_model(person), config=foreign.config.public_id)
    assert "not there any more" in problems(person, data)["config"][0]


def test_foreign_models_and_configs_are_not_offered(browser: Client, person: User) -> None:
    stored_model(person)
    stranger = someone()
    stored_model(stranger, "not ours")
    stored_config(stranger, "not ours either")
    assert "not ours" not in browser.get(reverse("sweeps:launch")).content.decode()


# What a form starts with


def test_a_config_is_chosen_by_the_address(browser: Client, person: User) -> None:
    stored_model(person)
    version = stored_config(person)
    page = text_of(browser.get(reverse("sweeps:launch"), {"config": version.config.public_id}))
    assert f'value="{version.config.public_id}:1:latest" title="default 8 MB" selected' in page


def test_an_older_version_can_be_chosen_by_the_address(browser: Client, person: User) -> None:
    stored_model(person)
    version = stored_config(person)
    save_version(version.config, person, NAMING_SOC, seen=1)
    address = {"config": f"{version.config.public_id}:1"}
    page = text_of(browser.get(reverse("sweeps:launch"), address))
    assert f'value="{version.config.public_id}:1" title="default 8 MB" selected' in page


def test_a_clone_starts_with_all_that_the_sweep_was_given(person: User) -> None:
    model = dynamic_model(person)
    sizes = {"batch": 3, MARKUP: 9}
    given = SweepSpec(
        person.team, person, model, None, "SM8750", "0,5-8", sizes, "the first", 3, 4, 77, 2**31, 5, submission=None
    )
    sweep = start_sweep(given)
    form = LaunchForm(first_values(person, {"clone": sweep.public_id}), user=person)
    spec = form.spec()
    same = ("source_model", "config_version", "p_values", "free_dimensions", "name", "top_k", "parallel_compiles")
    for name in (*same, "timeout_s", "memory_bytes", "priority"):
        assert getattr(spec, name) == getattr(given, name), name
    assert (spec.soc, spec.cloned_from) == ("SM8750", sweep)


def test_a_foreign_sweep_is_not_cloned(person: User) -> None:
    stored_model(person)
    foreign = stored_sweep(someone())
    assert "clone" not in first_values(person, {"clone": foreign.public_id})


def test_a_config_shows_its_notes_in_the_preview(browser: Client, person: User) -> None:
    config = stored_config(person).config
    answer = preview(browser, values(stored_model(person), config=config.public_id))
    assert "The config" in answer
    assert sample()["config"]["devices"] == [{"soc_model": 57}]


def test_the_number_of_queries_does_not_grow_with_models_and_configs(
    browser: Client, person: User, django_assert_max_num_queries: Any
) -> None:
    model = stored_model(person)
    for number in range(30):
        create_config(person.team, person, name=f"config {number}", text=NAMING_SOC)
    with django_assert_max_num_queries(20):
        browser.get(reverse("sweeps:launch"), {"model": model.public_id})
