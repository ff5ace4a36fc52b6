from __future__ import annotations

from collections import defaultdict

import pytest

RECOVERY = "recovery_s"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "seed" in metafunc.fixturenames:
        metafunc.parametrize("seed", range(metafunc.config.getoption("--kills")))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """How long each kind of kill took to be recovered from, whichever process of the tests saw it."""
    found: dict[str, list[float]] = defaultdict(list)
    for report in terminalreporter.getreports("passed") + terminalreporter.getreports("failed"):
        for name, value in getattr(report, "user_properties", ()):
            if report.when == "call" and name == RECOVERY:
                found[value[0]].append(value[1])
    if found:
        terminalreporter.section("recoveries")
    for kind, seconds in sorted(found.items()):
        middle = sorted(seconds)[len(seconds) // 2]
        terminalreporter.line(
            f"{kind:24} {len(seconds):4} kills  median {middle:5.2f} s  longest {max(seconds):5.2f} s"
        )
