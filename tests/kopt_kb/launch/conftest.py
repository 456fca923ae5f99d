"""The small project of tests/data and its file; one warm compile worker for all; tables that benchmarks search."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kopt_kb.launch.compile.pool import CompilePool
from kopt_kb.launch.project.file import ProjectFile, read_project

for _name in ("result_table", "table_replay"):  # tests import them from benchmarks/ by these names, as its scripts do
    _spec = importlib.util.spec_from_file_location(_name, Path(__file__).parents[3] / "benchmarks" / f"{_name}.py")
    assert _spec is not None and _spec.loader is not None
    sys.modules[_name] = importlib.util.module_from_spec(_spec)
    _spec.loader.exec_module(sys.modules[_name])


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
