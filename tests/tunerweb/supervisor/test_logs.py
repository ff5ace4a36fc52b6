from __future__ import annotations

from pathlib import Path

from tunerweb.supervisor.logs import LARGEST_BYTES, last_line, open_log


def test_a_log_that_has_grown_becomes_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "web.log"
    path.write_bytes(b"x" * (LARGEST_BYTES + 1))
    open_log(path).close()
    assert path.stat().st_size == 0
    assert (tmp_path / "web.log.1").stat().st_size == LARGEST_BYTES + 1


def test_a_log_that_has_not_is_continued(tmp_path: Path) -> None:
    path = tmp_path / "web.log"
    path.write_text("before\n")
    with open_log(path) as log:
        log.write(b"after\n")
    assert path.read_text() == "before\nafter\n"


def test_the_reason_is_the_exception_whatever_its_message_goes_on_to_say(tmp_path: Path) -> None:
    path = tmp_path / "prepare.log"
    path.write_text(
        "Traceback (most recent call last):\n"
        '  File "a.py", line 1, in <module>\n'
        "django.db.utils.OperationalError: connection refused\n"
        "\tIs the server running?\n"
    )
    assert last_line(path) == "django.db.utils.OperationalError: connection refused"


def test_without_an_exception_the_reason_is_the_last_line(tmp_path: Path) -> None:
    path = tmp_path / "broker.log"
    path.write_text("one\ntwo \x1b[31m\n\n")
    assert last_line(path) == "two ?[31m"


def test_what_an_earlier_process_said_is_no_reason(tmp_path: Path) -> None:
    path = tmp_path / "web.log"
    path.write_text("ValueError: old\n")
    assert last_line(path, path.stat().st_size) == ""
