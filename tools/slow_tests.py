"""Which tests are slow: measured as work and waiting, written to tests/slow.txt, which names the `slow` tests.

Usage:
    PYTHONPATH=. .venvs/test/bin/pytest -p tools.slow_tests --slow-tests

A test is slow when it and its children need more than `CPU_S` seconds of processor time, or when it waits for more
than `WAIT_S` seconds beside that. Processor time hardly depends on what else the machine does; the clock does. Tests
of one function are judged by the slowest of their parameters, and names that were not run stay in the list. Run it
alone (`-n 0`); a part of the tests, such as `-m "not slow"`, is enough to find the new ones.
"""

from __future__ import annotations

import os
import time
from collections.abc import Generator
from pathlib import Path

import pytest

CPU_S = 0.4
WAIT_S = 1.5
TARGET = Path(__file__).resolve().parent.parent / "tests" / "slow.txt"

_ran: set[str] = set()
_slow: set[str] = set()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the switch that writes the list."""
    parser.addoption("--slow-tests", action="store_true", help="write tests/slow.txt from this run")


def _cpu_s() -> float:
    return sum(os.times()[:4])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Measure setup, call and teardown of one test together."""
    began, used = time.monotonic(), _cpu_s()
    result = yield
    cpu_s = _cpu_s() - used
    _ran.add(item.nodeid.partition("[")[0])
    if cpu_s > CPU_S or time.monotonic() - began - cpu_s > WAIT_S:
        _slow.add(item.nodeid.partition("[")[0])
    return result


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the list when asked to."""
    if session.config.getoption("--slow-tests"):
        kept = set(TARGET.read_text(encoding="utf-8").split()) - _ran
        TARGET.write_text("".join(f"{name}\n" for name in sorted(_slow | kept)), encoding="utf-8")
