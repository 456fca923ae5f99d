"""Fixtures and markers that every test folder shares."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

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
