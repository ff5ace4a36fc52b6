"""`tunerweb device`: the devices of a data folder from the command line, whether the server runs or not."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from sweeps.tuner.inputs import BadInput

if TYPE_CHECKING:
    from devices.models import Device, DeviceCheck
    from tunerweb.accounts.models import User

FAILED = 1
STEP_S = 0.1
PATIENCE_S = 180.0
NO_ACCOUNT = "There is no account in {data} yet. Start `tunerweb up` and make one with the link that it prints."
NO_USER = "Nobody is called {name} in {data}."
NO_DEVICE = "There is no device {name!r}. `tunerweb device list` shows those that there are."

device = typer.Typer(no_args_is_help=True, help="Register devices, list them, and test their connection.")

Data = Annotated[
    Path | None, typer.Option(help="Folder of everything that is kept.", show_default="TUNERWEB_DATA, or ./data")
]
As = Annotated[
    str | None, typer.Option("--user", help="Whose team the device belongs to.", show_default="the administrator")
]


@device.command()
def add(
    name: Annotated[str, typer.Argument(help="As your team calls it.")],
    platform: Annotated[str, typer.Option(help="android, linux, windows, host or simulated.")],
    identifier: Annotated[str, typer.Option(help="serial[@host[:port]] for adb, user@host[:port] for ssh.")] = "",
    transport: Annotated[str, typer.Option(help="ssh or adb, where the platform leaves it open.")] = "ssh",
    key: Annotated[Path | None, typer.Option(help="File with the private key for ssh; kept encrypted.")] = None,
    password_file: Annotated[Path | None, typer.Option(help="File with the password for ssh; kept encrypted.")] = None,
    python: Annotated[str, typer.Option(help="The device's Python that has onnxruntime-qnn.")] = "",
    soc: Annotated[str, typer.Option(help="Name or number, where the device does not say.")] = "",
    label: Annotated[list[str] | None, typer.Option(help="May be given several times.")] = None,
    data: Data = None,
    user: As = None,
) -> int:
    """Register a device. Secrets are read from files: what is typed here can be seen by others."""
    owner = owner_of(data, user)
    from devices.actions import register
    from devices.forms import DeviceForm, DeviceRejected

    form = DeviceForm(
        {
            "name": name,
            "platform": platform,
            "transport": transport,
            "identifier": identifier,
            "private_key": key.read_text() if key else "",
            "password": password_file.read_text().rstrip("\n") if password_file else "",
            "python": python,
            "soc": soc,
            "labels": ",".join(label or []),
        },
        team=owner.team,
    )
    if not form.is_valid():
        raise BadInput(*(f"{field}: {sentence}" for field, sentence in DeviceRejected(form).problems))
    made = register(form.cleaned_data, owner, form.team)
    print(f"{made.name} is registered. `tunerweb device check {made.name!r}` tests it now.")
    return 0


@device.command(name="list")
def list_devices(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON on stdout.")] = False,
    data: Data = None,
    user: As = None,
) -> int:
    """The devices of the team, with their state."""
    owner = owner_of(data, user)
    from devices.models import Device
    from devices.rows import device_rows

    rows = device_rows(Device.objects.of(owner).with_last_check().order_by("name"))
    shown = [
        {
            "name": row.device.name,
            "state": row.state,
            "reason": row.reason,
            "soc": row.soc,
            "transport": str(row.device.transport),
            "identifier": row.device.identifier,
            "runtime": row.device.facts.get("runtime", ""),
        }
        for row in rows
    ]
    print(json.dumps(shown, indent=2)) if as_json else _print_table(shown)
    return 0


@device.command()
def check(name: Annotated[str, typer.Argument(help="The device's name.")], data: Data = None, user: As = None) -> int:
    """Test the connection step by step; exit 1 if the device cannot be worked with."""
    owner = owner_of(data, user)
    from devices import actions
    from devices.models import Device

    found = Device.objects.of(owner).filter(name=name).first()
    if found is None:
        raise BadInput(NO_DEVICE.format(name=name))
    row = actions.check(found, owner)
    _work_until_it_ends(found, row)
    for step in row.steps:
        print(f"{step['state']:8} {step['name']}: {step['sentence']}".rstrip(": "))
    if row.state != "done":
        print(f"The test did not come to its end: {row.reason}")
    found.refresh_from_db()
    return 0 if row.state == "done" and found.is_healthy else FAILED


def _work_until_it_ends(found: Device, row: DeviceCheck) -> None:
    """By the device's own worker when the server runs, otherwise here."""
    from devices import lifecycle
    from sweeps.jobs.devices import do_check

    deadline = time.monotonic() + PATIENCE_S
    while row.is_live and time.monotonic() < deadline:
        if claimed := lifecycle.claim_check(found, "tunerweb device check"):
            do_check(*claimed)
        time.sleep(STEP_S)
        row.refresh_from_db()


def owner_of(data: Path | None, name: str | None) -> User:
    """Django is set up on the data folder here. Raises `BadInput`."""
    from tunerweb.cli.environment import read_environment

    environment = read_environment(data=data)
    os.environ["TUNERWEB_DATA"] = str(environment.data)
    os.environ["DJANGO_SETTINGS_MODULE"] = "tunerweb.settings"
    import django
    from django.db import DatabaseError

    django.setup()
    from tunerweb.accounts.models import User

    try:
        people = User.objects.filter(username=name) if name else User.objects.filter(is_superuser=True)
        owner: User | None = people.filter(teams__isnull=False).order_by("pk").first()
    except DatabaseError:
        owner = None
    if owner is None:
        raise BadInput((NO_USER if name else NO_ACCOUNT).format(name=name, data=environment.data))
    return owner


def _print_table(shown: list[dict[str, Any]]) -> None:
    if not shown:
        print("No device is registered yet: tunerweb device add NAME --platform ...")
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("name", "state", "soc", "transport", "identifier", "runtime"):
        table.add_column(title, overflow="fold")
    for each in shown:
        table.add_row(*(str(each[title]) for title in ("name", "state", "soc", "transport", "identifier", "runtime")))
    Console(highlight=False, markup=False).print(table)
