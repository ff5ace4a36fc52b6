"""Devices on the launch form, and what they came to on the page of the sweep."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from devices.models import Device
from sweeps import steering
from sweeps.forms.launch import first_values
from sweeps.models import DeviceSession, MeasurementBlock, Sweep
from tests.devices.registered import registered
from tests.people import someone
from tests.sweeps.launching import fake_toolchain as fake
from tests.sweeps.launching import launch, work
from tests.sweeps.stored import stored_model, stored_toolchain
from tunerweb.accounts.models import User

pytestmark = pytest.mark.django_db(transaction=True)
MARKUP = "<script>alert(1)</script>"


@pytest.fixture
def person() -> User:
    return someone("mira")


@pytest.fixture
def browser(person: User) -> Client:
    client = Client()
    client.force_login(person)
    return client


@pytest.fixture
def device(person: User) -> Device:
    return registered(person, f"bench {MARKUP}", is_healthy=True)


def sent(browser: Client, person: User, **changes: Any) -> Any:
    stored_toolchain()
    values = first_values(person, {"model": stored_model(person).public_id}) | {"soc": "SM8650"} | changes
    return browser.post(reverse("sweeps:launch"), values)


def test_the_form_launches_on_the_devices_that_were_chosen(browser: Client, person: User, device: Device) -> None:
    sent(browser, person, devices=[device.public_id], verifies_outputs="on", rounds="7", perf_profile="balanced")
    session = Sweep.objects.get().sessions.get()
    assert (session.device, session.rounds, session.perf_profile) == (device, 7, "balanced")
    assert Sweep.objects.get().verifies_outputs


def test_a_device_of_another_team_is_not_there(browser: Client, person: User) -> None:
    foreign = registered(someone("eve"), "theirs")
    answer = sent(browser, person, devices=[foreign.public_id])
    assert "A device is not there any more" in answer.content.decode()
    assert not Sweep.objects.exists()


@pytest.mark.parametrize(("field", "value"), [("rounds", "0"), ("runs", "1e9"), ("perf_profile", "fast")])
def test_a_wrong_value_is_told_and_launches_nothing(
    browser: Client, person: User, device: Device, field: str, value: str
) -> None:
    answer = sent(browser, person, devices=[device.public_id], **{field: value})
    assert answer.status_code == 200
    assert not Sweep.objects.exists()
    assert f'id="launch-{field}-error"' in answer.content.decode()


def test_the_same_form_with_another_device_is_another_sweep(browser: Client, person: User, device: Device) -> None:
    other = registered(person, "other")
    same = {"submission": "abc", "model": stored_model(person).public_id}
    for chosen in ([device.public_id], [device.public_id, other.public_id]):
        sent(browser, person, **same, devices=chosen)
    assert Sweep.objects.count() == 2


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch, device: Device) -> DeviceSession:
    from sweeps.specs import Measurements

    fake(monkeypatch)
    sweep = launch(device.owner, measurements=Measurements(devices=(device,)))
    work()
    return DeviceSession.objects.get(sweep=sweep)


def page(browser: Client, session: DeviceSession) -> str:
    return " ".join(browser.get(session.sweep.get_absolute_url()).content.decode().split())


def test_a_session_that_waits_for_its_device_says_why(browser: Client, session: DeviceSession) -> None:
    Device.objects.update(is_healthy=False, health_reason="Nobody answers.")
    assert "It waits for the device. Nobody answers." in page(browser, session)


def test_a_name_with_markup_is_text(browser: Client, session: DeviceSession) -> None:
    assert MARKUP not in page(browser, session)


def test_emulated_times_are_shown_as_emulated_and_not_ranked(browser: Client, session: DeviceSession) -> None:
    session.runtime = {"name": "onnxruntime-qnn", "version": "1", "build_id": "", "timing": "emulated"}
    session.state = "done"
    session.save()
    for trial in session.sweep.trials.all():
        MeasurementBlock.objects.create(
            session=session,
            trial=trial,
            round=0,
            samples_us=[1234.0],
            event="e",
            timing="emulated",
            runtime="r",
            perf_profile="burst",
            profiling_level="basic",
            log_level="error",
        )
    shown = page(browser, session)
    assert "Not rankable: emulated." in shown
    assert "from the host emulator, not a device" in shown


def test_people_go_on_without_a_device(browser: Client, session: DeviceSession) -> None:
    browser.post(reverse("sweeps:session_cancel", args=[session.sweep.public_id, session.public_id]))
    session.refresh_from_db()
    assert session.state == "cancelled"


def test_a_session_of_another_team_is_not_there(session: DeviceSession) -> None:
    stranger = Client()
    stranger.force_login(someone("eve"))
    answer = stranger.post(reverse("sweeps:session_cancel", args=[session.sweep.public_id, session.public_id]))
    assert answer.status_code == 404


def test_a_cancelled_session_can_be_tried_again(browser: Client, session: DeviceSession) -> None:
    steering.cancel_session(session)
    assert "Retry unfinished (1)" in page(browser, session)
