"""The judge of a launcher waits for a word, answers one job, and ends."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from kopt_kb.launch.candidate import launcher_child
from kopt_kb.launch.candidate.answers import Unable
from kopt_kb.launch.candidate.exchange import answered, give
from kopt_kb.launch.candidate.job import Request


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was started, in order."""
    order: list[str] = []

    @contextmanager
    def started(parent: Path, device: str) -> Iterator[Any]:
        order.append(f"the program on {device}")
        yield None
        order.append("its end")

    monkeypatch.setattr(launcher_child, "launcher_program", started)
    monkeypatch.setattr(launcher_child, "preload", lambda: order.append("imports"))
    return order


def test_the_program_loads_while_its_judge_does(
    begun: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Nobody asks in the end: both end."""
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    assert launcher_child.main([str(tmp_path), "cpu"]) == 0
    assert begun == ["the program on cpu", "imports", "its end"]


def test_a_job_that_is_there_is_answered(begun: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """With the token of the job, which it removes."""
    (tmp_path / "job").mkdir()
    token = give(tmp_path / "job", "launcher", Request(op="softmax"))
    monkeypatch.setattr(sys, "stdin", io.StringIO("go\n"))
    assert launcher_child.main([str(tmp_path), "cpu"]) == 0
    answer = answered(tmp_path / "job", "launcher", token)
    assert answer == Unable(unavailable="there is no record to hold the launcher against")
    assert not (tmp_path / "job" / "job.json").exists()
    assert begun[-1] == "its end"
