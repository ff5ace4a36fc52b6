from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devices.identifiers import AdbIdentifier, IdentifierRejected, SshIdentifier, parse_adb, parse_ssh


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("R5CT123ABC", AdbIdentifier("R5CT123ABC")),
        (" a1b2 ", AdbIdentifier("a1b2")),
        ("a1b2@lab1:5038", AdbIdentifier("a1b2", "lab1", 5038)),
        ("a1b2@lab1", AdbIdentifier("a1b2", "lab1", 5037)),
        ("a1b2:5037", AdbIdentifier("a1b2:5037")),
        ("192.168.1.5:5555", AdbIdentifier("192.168.1.5:5555")),
        ("192.168.1.5:5555@lab-pc", AdbIdentifier("192.168.1.5:5555", "lab-pc")),
        ("adb-R5x._adb-tls-connect._tcp", AdbIdentifier("adb-R5x._adb-tls-connect._tcp")),
        ("emulator-5554", AdbIdentifier("emulator-5554")),
        ("a1b2@[fd00::1]:5039", AdbIdentifier("a1b2", "fd00::1", 5039)),
    ],
)
def test_an_adb_identifier_is_read(text: str, right: AdbIdentifier) -> None:
    assert parse_adb(text) == right


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("root@10.0.0.5", SshIdentifier("root", "10.0.0.5", 22)),
        ("ubuntu@board.lab:2222", SshIdentifier("ubuntu", "board.lab", 2222)),
        ("ubuntu@[fe80::1%eth0]:2222", SshIdentifier("ubuntu", "fe80::1%eth0", 2222)),
        ("ubuntu@fd00::5", SshIdentifier("ubuntu", "fd00::5", 22)),
        ("LAB\\me@10.0.0.5", SshIdentifier("LAB\\me", "10.0.0.5", 22)),
    ],
)
def test_an_ssh_identifier_is_read(text: str, right: SshIdentifier) -> None:
    assert parse_ssh(text) == right


@pytest.mark.parametrize(
    "text",
    [
        "", "-s", "-H evil", "a b", "a;id", "a$(id)", "a`id`", "a|b", "a&b", "a\nb", "a'b", 'a"b', "../x", "a/b",
        "@lab", "a1@", "a1@-oProxy", "a1@lab:0", "a1@lab:65536", "a1@lab:x", "a1@lab:", "a1@[::g]", "a1@[::1",
        "a1@[::1]x", "a1@lab;id", "a1@lab..pc", "a1@::::", "é", "a" * 200, "a\0b", "a1@lab:٣",
    ],
)  # fmt: skip
def test_what_is_no_adb_identifier_is_refused(text: str) -> None:
    with pytest.raises(IdentifierRejected, match=r"serial\[@host\[:port\]\]"):
        parse_adb(text)


@pytest.mark.parametrize(
    "text",
    [
        "", "10.0.0.5", "@10.0.0.5", "-l@host", "root@-oProxyCommand=id", "a b@host", "a;b@host", "$(id)@host", "root@",
        "root@host:0", "root@host:99999", "root@host:22 -v", "root@ho st", "root@[::1", "root@a/b",
    ],
)  # fmt: skip
def test_what_is_no_ssh_identifier_is_refused(text: str) -> None:
    with pytest.raises(IdentifierRejected, match=r"user@host\[:port\]"):
        parse_ssh(text)


def test_a_password_in_an_identifier_is_refused_and_not_shown() -> None:
    with pytest.raises(IdentifierRejected, match="a field of its own") as caught:
        parse_ssh("root:hunter2@10.0.0.5")
    assert "hunter2" not in str(caught.value)


def test_a_password_with_an_at_sign_is_not_shown_either() -> None:
    with pytest.raises(IdentifierRejected) as caught:
        parse_ssh("root:hun@ter2@10.0.0.5")
    assert "ter2" not in str(caught.value)


@given(st.text(max_size=40))
def test_whatever_is_read_can_be_no_option_and_no_word_of_a_shell(text: str) -> None:
    for parse in (parse_adb, parse_ssh):
        try:
            found = parse(text)
        except IdentifierRejected:
            continue
        parts = [part for part in (getattr(found, name, "") for name in ("serial", "user", "host")) if part]
        assert all(not part.startswith("-") and not set(part) & set(" \t\n;|&$`'\"<>(){}*?!#~/") for part in parts)


@given(
    st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._:\-]{0,30}", fullmatch=True),
    st.sampled_from(["", "lab", "10.0.0.1", "fd00::1"]),
    st.integers(1, 65535),
)
def test_the_canonical_form_of_an_adb_identifier_is_read_back(serial: str, host: str, port: int) -> None:
    identifier = AdbIdentifier(serial, host, port if host else 5037)
    assert parse_adb(str(identifier)) == identifier


@given(st.sampled_from(["lab", "10.0.0.1", "fd00::1", "fe80::1%eth0"]), st.integers(1, 65535))
def test_the_canonical_form_of_an_ssh_identifier_is_read_back(host: str, port: int) -> None:
    identifier = SshIdentifier("me", host, port)
    assert parse_ssh(str(identifier)) == identifier
