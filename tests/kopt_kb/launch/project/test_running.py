"""One command in one copy: how it went is a sentence, and passing a limit ends the job."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from kopt_kb.launch.candidate.job import Job, Request
from kopt_kb.launch.project.bundle import bundle_of
from kopt_kb.launch.project.copies import Copies
from kopt_kb.launch.project.file import ProjectFile
from kopt_kb.launch.project.paths import hash_files, select
from kopt_kb.launch.project.running import CommandFailedError, Commands, RunningJob


@pytest.fixture
def ran(
    read: Callable[..., ProjectFile], project_root: Path, tmp_path: Path
) -> Callable[[str], tuple[str, RunningJob]]:
    """Runs a line in place of the project's test; the reason why it failed, and the job's session."""

    def run(line: str, ends_at: float = math.inf) -> tuple[str, RunningJob]:
        text = (project_root / "project.toml").read_text()
        old = next(one for one in text.splitlines() if one.startswith("test = "))
        project = read((old, f"test = {line}"))
        chosen = select(project, project_root)
        protected = hash_files(project_root, chosen.protected)
        job = Job("check", bundle_of(project_root, chosen.editable), body=Request(protected=protected))
        session = RunningJob(job, tmp_path, lambda *_: None, ends_at=ends_at)
        copies = Copies(project, project_root)
        commands = Commands(copies)
        try:
            return commands.run(session, commands.copy(job, job.candidate), project.commands["test"]), session
        finally:
            copies.close()

    return run


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("'true'", ""),
        ("\"sh -c 'echo one; echo two; exit 3'\"", "the test ended with 3: two"),
        ("\"sh -c 'kill -SEGV $$'\"", "the test ended by SIGSEGV"),
        ("'no-such-program'", "the test did not start: no-such-program can't be run: No such file or directory"),
        ("'./tests'", "the test did not start: ./tests can't be run: Permission denied"),
        ("'touch tests/new_check.py'", "tests/new_check.py was added while the test ran"),
    ],
)
def test_how_a_command_went_is_a_sentence(ran, line: str, reason: str) -> None:
    """Status, signal, the last line it printed, what it may not do, and what is no program."""
    found, session = ran(line)
    assert found.partition(";")[0] == reason
    assert session.printed().startswith("kb: test: ") and session.wall_s >= 0


def test_a_command_past_its_limit_ends_the_job(ran) -> None:
    """The sentence says which one."""
    with pytest.raises(CommandFailedError, match=r"the test ran past 0\.5 s and was ended") as caught:
        ran('{ run = "sleep 600", limit_s = 0.5 }')
    assert caught.value.ending == "hang"


@pytest.mark.parametrize(
    ("left_s", "words"), [(0.5, r"the test ran past 0\.\d+ s and was ended"), (-1.0, "no time is left")]
)
def test_a_command_ends_with_its_job(ran, left_s: float, words: str) -> None:
    """Whatever limit of its own it has: the budget of a call bounds what a project runs."""
    begin = time.monotonic()
    with pytest.raises(CommandFailedError, match=words) as caught:
        ran('{ run = "sleep 30", limit_s = 600 }', ends_at=begin + left_s)
    assert caught.value.ending == "hang"
    assert time.monotonic() - begin < 20


def test_every_run_is_given_another_seed(ran) -> None:
    """As a placeholder and as a variable, the same number."""
    line = "\"sh -c 'echo seed {seed} $KOPT_SEED; exit 1'\""
    found = [ran(line)[0].rpartition("seed ")[2].split() for _ in range(2)]
    assert [len({*one}) for one in found] == [1, 1]
    assert found[0] != found[1]
