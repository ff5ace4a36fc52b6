"""What holds on every way to reach a device."""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path

import pytest

from devices.transports import shell
from devices.transports.base import Transport, push_checked, remote_sha256, scratch_folder, sweep_leftovers
from devices.transports.errors import CommandCancelled, CommandStuck, CommandTimedOut, FileMissing, FileTooLarge
from devices.transports.local import LocalTransport
from devices.transports.output import LONGEST_OUTPUT_BYTES
from tests.processes import gone

ODD_WORDS = ["", " ", "a b", "it's", '"', "; exit 9", "$(id)", "`id`", "a\nb", "-n", "--", "*", "\\", "é", "a=b", "&"]
PRINT_WORDS = "import sys; print(sys.argv[1:])"
BIG = 3 * 1024 * 1024


def test_a_command_says_what_it_said(transport: Transport) -> None:
    assert transport.run(["echo", "hello"]).stdout == "hello\n"


@pytest.mark.parametrize("code", [0, 1, 7, 139])
def test_an_exit_code_is_a_result(transport: Transport, code: int) -> None:
    assert transport.run(["sh", "-c", f"exit {code}"]).exit_code == code


def test_a_crash_is_told_by_its_signal(transport: Transport) -> None:
    assert transport.run(["sh", "-c", "kill -SEGV $$"]).exit_code == 139


def test_a_program_that_is_not_there_is_code_127(transport: Transport) -> None:
    assert transport.run(["no-such-program"]).exit_code == 127


def test_the_two_outputs_are_kept_apart(transport: Transport) -> None:
    if not getattr(transport, "_has_shell_v2", True):
        pytest.skip("an old adbd has one output")
    ended = transport.run(["sh", "-c", "echo out; echo err >&2"])
    assert (ended.stdout, ended.stderr) == ("out\n", "err\n")


def test_words_arrive_as_they_are(transport: Transport) -> None:
    assert transport.run([sys.executable, "-c", PRINT_WORDS, *ODD_WORDS]).stdout == f"{ODD_WORDS}\n"


def test_a_command_runs_in_its_folder_with_its_environment(transport: Transport) -> None:
    with scratch_folder(transport) as folder:
        ended = transport.run(["sh", "-c", 'pwd; echo "$LIBS"'], folder=folder, environment={"LIBS": "/a;/b c"})
        assert ended.stdout.splitlines()[0].endswith(folder.rpartition("/")[2])
        assert ended.stdout.splitlines()[1] == "/a;/b c"


def test_input_reaches_the_command_and_ends(transport: Transport) -> None:
    sent = b'{"runs": 3}\n' * 5000
    assert transport.run(["sha256sum"], stdin=sent).stdout.split()[0] == hashlib.sha256(sent).hexdigest()


def test_the_secrets_of_the_server_are_not_in_the_environment(
    transport: Transport, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_KEY", "hidden")
    assert "hidden" not in transport.run(["env"]).stdout


def test_a_command_past_its_time_limit_is_gone(transport: Transport, tmp_path: Path) -> None:
    told = tmp_path / "pids"
    with pytest.raises(CommandTimedOut, match="took longer than 1 s"):
        transport.run(["sh", "-c", starts_a_child(told)], timeout_s=1)
    assert all(gone(int(pid)) for pid in told.read_text().split())


def test_a_child_that_left_its_session_is_gone_too(transport: Transport, tmp_path: Path) -> None:
    told = tmp_path / "pids"
    with pytest.raises(CommandTimedOut):
        transport.run(["sh", "-c", f"setsid sh -c '{starts_a_child(told)}' & sleep 60"], timeout_s=1)
    assert all(gone(int(pid)) for pid in told.read_text().split())


def test_a_cancelled_command_is_gone(transport: Transport, tmp_path: Path) -> None:
    told = tmp_path / "pids"
    with pytest.raises(CommandCancelled):
        transport.run(["sh", "-c", starts_a_child(told)], cancelled=told.exists)
    assert all(gone(int(pid)) for pid in told.read_text().split())


def test_a_command_that_cannot_be_killed_is_told(transport: Transport, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shell, "END_MARKED", "exit 1")
    with pytest.raises(CommandStuck, match="could not be ended"):
        transport.run(["sleep", "2"], timeout_s=0.2)


def test_output_without_end_is_capped(transport: Transport) -> None:
    script = f"echo first; head -c {BIG} /dev/zero | tr '\\0' x; echo; echo last"
    said = transport.run(["sh", "-c", script]).stdout
    assert len(said) < LONGEST_OUTPUT_BYTES * 1.2
    assert (said[:6], said[-6:]) == ("first\n", "\nlast\n")
    assert "bytes left out" in said


def test_a_file_arrives_whole_and_comes_back(transport: Transport, tmp_path: Path) -> None:
    local, back = made(tmp_path / "it's a file.bin"), tmp_path / "back.bin"
    with scratch_folder(transport) as folder:
        transport.push(local, f"{folder}/context; binary.bin")
        transport.pull(f"{folder}/context; binary.bin", back, limit_bytes=BIG)
        left = transport.run(["sh", "-c", 'ls -A "$1" | cat', "sh", folder]).stdout
    assert back.read_bytes() == local.read_bytes()
    assert left == "context; binary.bin\n"


def test_the_same_file_is_not_sent_twice(transport: Transport, tmp_path: Path) -> None:
    local, sent = made(tmp_path / "file.bin"), []
    with scratch_folder(transport) as folder:
        transport.push(local, f"{folder}/file.bin")
        push_checked(transport, local, f"{folder}/file.bin", sent.append)
    assert sent == []


def test_a_changed_file_is_sent_again(transport: Transport, tmp_path: Path) -> None:
    local = made(tmp_path / "file.bin")
    with scratch_folder(transport) as folder:
        transport.push(local, f"{folder}/file.bin")
        local.write_bytes(b"new")
        transport.push(local, f"{folder}/file.bin")
        assert remote_sha256(transport, f"{folder}/file.bin") == hashlib.sha256(b"new").hexdigest()


def test_a_file_that_is_not_there_is_told(transport: Transport, tmp_path: Path) -> None:
    with scratch_folder(transport) as folder, pytest.raises(FileMissing, match="nothing"):
        transport.pull(f"{folder}/nothing.csv", tmp_path / "back", limit_bytes=100)


def test_a_file_over_the_limit_is_not_fetched(transport: Transport, tmp_path: Path) -> None:
    with scratch_folder(transport) as folder:
        transport.push(made(tmp_path / "file.bin"), f"{folder}/file.bin")
        with pytest.raises(FileTooLarge, match="more than 1,000 bytes"):
            transport.pull(f"{folder}/file.bin", tmp_path / "back", limit_bytes=1000)
    assert sorted(path.name for path in tmp_path.glob("back*")) == []


def test_free_space_is_told(transport: Transport) -> None:
    with scratch_folder(transport) as folder:
        assert transport.free_bytes(folder) > 0


def test_the_free_space_of_no_folder_is_no_number(transport: Transport) -> None:
    with pytest.raises(FileMissing):
        transport.free_bytes(f"{transport.scratch_parent()}/not-there")


def test_a_scratch_folder_is_gone_at_the_end(transport: Transport) -> None:
    with scratch_folder(transport) as folder:
        transport.run(["touch", f"{folder}/file"])
    assert transport.run(["ls", folder]).exit_code != 0


def test_what_a_dead_holder_left_is_swept(transport: Transport, tmp_path: Path) -> None:
    told = tmp_path / "pids"
    parent = transport.scratch_parent()
    left = f"{parent}/tunerweb-{transport.owner}.0123"
    others = f"{parent}/tunerweb-{transport.owner}x.0123"
    transport.run(["mkdir", "-p", left, others])
    left_behind = f"echo $$ >{told}.part; mv {told}.part {told}; sleep 60"
    wait = f"until [ -e {told} ]; do sleep 0.01; done"
    transport.run(["sh", "-c", f"setsid sh -c '{left_behind}' >/dev/null 2>&1 </dev/null & {wait}"])
    sweep_leftovers(transport)
    assert gone(int(told.read_text()))
    assert transport.run(["ls", left]).exit_code != 0
    assert transport.run(["rmdir", others]).exit_code == 0


def test_what_belongs_to_nobody_is_not_swept_by_others(tmp_path: Path) -> None:
    first, second = LocalTransport(tmp_path), LocalTransport(tmp_path)
    with scratch_folder(first) as folder:
        sweep_leftovers(second)
        assert Path(folder).exists()


@pytest.mark.parametrize("owner", ["a.b", "a b", "*", "$(id)", "a/b"])
def test_an_owner_that_could_mean_others_is_refused(owner: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no name of an owner"):
        LocalTransport(tmp_path, owner=owner)


def starts_a_child(told: Path) -> str:
    return f"sleep 60 & echo $$ $! >{told}.part; mv {told}.part {told}; wait"


def made(path: Path) -> Path:
    path.write_bytes(os.urandom(300_000))
    return path
