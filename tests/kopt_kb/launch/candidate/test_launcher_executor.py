"""A launcher's processes may wait for their job; each does one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kopt_kb.launch.candidate import launcher_executor
from kopt_kb.launch.candidate.job import Job, Outcome, Request, RunLimits
from kopt_kb.launch.candidate.launcher_executor import LauncherExecutor
from kopt_kb.launch.candidate.launcher_run import LauncherRun


@pytest.fixture
def executor(monkeypatch: pytest.MonkeyPatch) -> Iterator[LauncherExecutor]:
    """One whose judges do what the candidate's text says."""
    monkeypatch.setattr(launcher_executor, "_MODULE", "tests.kopt_kb.launch.candidate.quick_judge")
    made = LauncherExecutor("cpu")
    yield made
    made.close()


def ran(executor: LauncherExecutor, word: str, wall_s: float = 50.0) -> tuple[Outcome, int]:
    """Run a job and return how it ended, and which process did it."""
    pids: list[int] = []
    job = Job("launcher", word.encode(), body=Request(op="softmax"), limits=RunLimits(wall_s))
    return executor.run(job, lambda *started: pids.append(started[1])), pids[0]


def test_the_process_that_waits_does_the_next_job_and_no_other(executor: LauncherExecutor) -> None:
    """It has no job before; preparing twice starts one; the job after that has a process of its own."""
    executor.prepare()
    waiting = executor._waiting
    executor.prepare()
    assert executor._waiting is waiting is not None
    assert [one.name for one in waiting.folder.iterdir()] == ["printed.txt"]
    outcome, pid = ran(executor, "confirms")
    assert pid == waiting.child.pid
    assert (outcome.outcome, outcome.exit, outcome.printed) == ("ok", 0, "what it prints\n")
    assert outcome.result == LauncherRun("confirmed", device="cpu cpu")
    assert not waiting.folder.exists()
    assert ran(executor, "confirms")[1] != pid


def test_one_that_is_gone_is_replaced(executor: LauncherExecutor) -> None:
    """Whatever ended it while it waited."""
    executor.prepare()
    first = executor._waiting
    assert first is not None
    first.child.process.kill()
    assert first.child.has_ended(30.0)
    outcome, pid = ran(executor, "confirms")
    assert (outcome.outcome, pid == first.child.pid) == ("ok", False)
    assert not first.folder.exists()


def test_how_a_job_ends_is_an_outcome(executor: LauncherExecutor) -> None:
    """Without an answer it crashed; its seconds count from the job on."""
    assert ran(executor, "dies")[0].outcome == "crash"
    assert ran(executor, "hangs", 0.5)[0].outcome == "hang"


def test_what_waits_ends_with_its_executor(executor: LauncherExecutor) -> None:
    """Process and folder."""
    executor.prepare()
    waiting = executor._waiting
    assert waiting is not None
    executor.close()
    assert waiting.child.has_ended()
    assert not Path(waiting.folder).exists()
    assert executor._waiting is None
