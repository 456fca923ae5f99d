"""Fixtures and markers that every test folder shares."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

_SKIPPED_CORE: list[str] = []
ROOT = Path(__file__).resolve().parent.parent


def _corpus_path() -> Path | None:
    named = os.environ.get("KOPT_PROFILE_CORPUS")
    candidates = [Path(named)] if named else [ROOT.parent / "shared" / "profiles"]
    return next((path for path in candidates if path.is_dir()), None)


@pytest.fixture(scope="session")
def profile_corpus() -> Path:
    """The folder of real profiler reports, or a skip that says how to provide it."""
    path = _corpus_path()
    if path is None:
        pytest.skip("no corpus of profiler reports: set KOPT_PROFILE_CORPUS to its folder")
    return path


@pytest.fixture(scope="session")
def repo_root() -> Path:
    """The checkout's root folder."""
    return ROOT


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Remember core tests that were skipped: they may never be."""
    if report.skipped and "core" in report.keywords:
        _SKIPPED_CORE.append(report.nodeid)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail the run when a core test was skipped."""
    if _SKIPPED_CORE and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name the core tests that were skipped."""
    for name in _SKIPPED_CORE:
        terminalreporter.write_line(f"CORE TEST SKIPPED: {name}")
