"""The small project of tests/data and its file; one warm compile worker for all tests of the folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kopt_kb.launch.compile.pool import CompilePool
from kopt_kb.launch.project.file import ProjectFile, read_project


@pytest.fixture
def read(project_root: Path) -> Callable[..., ProjectFile]:
    """Reads the small project's file after replacing words in it."""

    def reader(*changes: tuple[str, str]) -> ProjectFile:
        text = (project_root / "project.toml").read_text()
        for old, new in changes:
            assert old in text
            text = text.replace(old, new, 1)
        return read_project(text.encode(), "project.toml")

    return reader


@pytest.fixture(scope="session")
def pool() -> Iterator[CompilePool]:
    """A worker that stays warm between tests."""
    pytest.importorskip("triton")
    with CompilePool(time_limit_s=600.0) as one:
        yield one
