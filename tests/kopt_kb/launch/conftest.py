"""The small project of tests/data and its file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

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
