"""What a launcher is held against, on which shapes, and what its run shows."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from kopt_kb.launch.candidate.answers import Unable
from kopt_kb.launch.candidate.job import Job, Outcome, Request
from kopt_kb.launch.candidate.launcher_run import ExpectedRun, LauncherRun
from kopt_kb.launch.judge.launchers import LauncherRunners, expected_of, halved, run_launcher, small_shapes
from kopt_kb.launch.record.model import Fill
from tests.kopt_kb.launch.small_record import small_record

RECORD = small_record()
TIMED = {"4096x8192": ExpectedRun({}, least_s=1e-5, most_s=2e-5)}
JOB = Job("launcher", b"def launch(): pass", body=Request(op="softmax", shapes=("4096x8192",), expected=TIMED))


class Runner:
    """Answers what it is told to and keeps what it was asked."""

    name, simulated = "runner", False
    trust: Any = "isolated"

    def __init__(self, answer: LauncherRun | Unable | None, ended: Any = "crash") -> None:
        self.answer, self.ended, self.asked = answer, ended, list[Mapping[str, ExpectedRun]]()

    def run(self, job: Job, started: Any) -> Outcome:
        """Return the answer."""
        started(("runner",), 1, None)
        self.asked.append(job.body.expected)
        return Outcome("ok" if self.answer else self.ended, 0, None, 0.0, "the last line", self.answer)

    def close(self) -> None:
        """Keep nothing."""


def ran(
    gpu: Runner | None, interpreter: Runner | None = None, job: Job = JOB, *, elsewhere: bool = True
) -> LauncherRun:
    """Run a launcher whose record is right on new shapes, or on none."""
    runners = LauncherRunners(gpu, interpreter)
    return run_launcher(job, {"4096x8192": RECORD}, lambda _: RECORD if elsewhere else None, runners)


def test_a_record_says_its_entries_and_what_else_it_does() -> None:
    """Launches by entry; fills and copies by number."""
    fill = Fill(RECORD.outputs[0], "00")
    more = replace(RECORD, steps=(fill, *RECORD.steps, *RECORD.steps))
    assert expected_of(more) == ExpectedRun({"k": 2}, others=1)


def test_new_shapes_follow_from_those_of_the_problem() -> None:
    """One extent is halved, by chance; an odd shape has none. The interpreter gets what it runs in seconds."""
    chance = secrets.SystemRandom()
    assert {halved("6x4", chance) for _ in range(60)} == {"3x4", "6x2"}
    assert halved("7x3", chance) == ""
    assert small_shapes(["16x32", "4096x8192", "524289"]) == {"16x32": False, "512x512": True}


def test_a_gpu_confirms_on_seen_and_new_shapes() -> None:
    """With the contest's times for those of the problem, and the record's own launches for both."""
    gpu = Runner(LauncherRun("confirmed"))
    assert ran(gpu).outcome == "confirmed"
    (asked,) = gpu.asked
    assert asked["4096x8192"] == ExpectedRun({"k": 1}, least_s=1e-5, most_s=2e-5)
    new = {shape: one for shape, one in asked.items() if shape != "4096x8192"}
    assert new
    assert set(new) <= {"2048x8192", "4096x4096"}
    assert all(one == ExpectedRun({"k": 1}, is_new=True) for one in new.values())


def test_a_shape_on_which_the_record_itself_is_wrong_is_not_asked() -> None:
    """A kernel may be made for the shapes of its problem alone."""
    gpu = Runner(LauncherRun("confirmed"))
    ran(gpu, elsewhere=False)
    assert list(gpu.asked[0]) == ["4096x8192"]


def test_without_a_gpu_it_is_simulated_on_small_shapes() -> None:
    """And said so: results alone."""
    interpreter = Runner(LauncherRun("simulated", reason="no GPU"))
    found = ran(Runner(Unable(missing="no GPU")), interpreter)
    assert found.outcome == "simulated"
    assert interpreter.asked == [{"512x512": ExpectedRun({}, is_new=True)}]


@pytest.mark.parametrize(
    ("shape", "problem", "reason"), [("512x512", "wrong", ""), ("4096x8192", "", "no GPU; on the interpreter: wrong")]
)
def test_a_wrong_result_counts_where_a_record_is_of_the_shape(shape: str, problem: str, reason: str) -> None:
    """On a new shape nobody checked the record, so nothing is refuted and nothing shown."""
    job = replace(JOB, body=replace(JOB.body, expected={}))
    interpreter = Runner(LauncherRun("no", problem="wrong"))
    runners = LauncherRunners(Runner(Unable(missing="no GPU")), interpreter)
    found = run_launcher(job, {shape: RECORD}, lambda _: None, runners)
    assert (found.outcome, found.problem, found.reason) == ("no", problem, reason)


def test_a_run_that_is_cut_off_says_nothing_of_the_launcher() -> None:
    """It is the job that was not over in time: the seconds of its call may have ended it."""
    with pytest.raises(TimeoutError):
        ran(Runner(None, "hang"))


@pytest.mark.parametrize(
    ("gpu", "interpreter", "reason"),
    [
        (Runner(Unable(unavailable="the reference does not fit")), Runner(None), "the reference does not fit"),
        (Runner(None), Runner(None), "its judge ended with crash: the last line"),
        (Runner(Unable(missing="no GPU")), None, "no GPU"),
        (None, None, "nobody here runs launchers"),
    ],
)
def test_what_can_not_be_had_is_no_with_its_reason(gpu: Any, interpreter: Any, reason: str) -> None:
    """Never confirmed, and never a problem of the launcher."""
    found = ran(gpu, interpreter)
    assert (found.outcome, found.problem, found.reason) == ("no", "", reason)


def test_a_header_is_the_launch_itself() -> None:
    """CUDA C++ has no launcher that could do something else."""
    found = ran(Runner(LauncherRun("confirmed")), job=replace(JOB, candidate=b'/* kb\nop = "softmax"\n*/\n'))
    assert (found.outcome, found.is_own) == ("no", False)
