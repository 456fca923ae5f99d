"""What a launcher is held against, on which shapes, and what its run shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from kopt_kb.launch.candidate.answers import Unable
from kopt_kb.launch.candidate.job import Job, Outcome, Request
from kopt_kb.launch.candidate.launcher_run import ExpectedRun, LauncherContent, LauncherRun
from kopt_kb.launch.judge.launchers import (
    LauncherRunners,
    expected_of,
    halvings,
    new_shapes,
    run_launcher,
    small_shapes,
)
from kopt_kb.launch.record.model import Fill
from tests.kopt_kb.launch.small_record import small_record

RECORD = small_record()
TIMED = {"4096x8192": ExpectedRun({}, least_s=1e-5, most_s=2e-5)}
NEW = ("2048x8192", "4096x4096")
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


class Records:
    """Records of a launcher on new shapes.

    Args:
        job: The job.
        wrong: Shapes on which the judge finds the record wrong.
        has: Whether the launcher makes records there at all.
    """

    def __init__(self, job: Job = JOB, wrong: tuple[str, ...] = (), *, has: bool = True) -> None:
        self.job, self.wrong, self.has, self.judged = job, wrong, has, list[str]()

    def judged_job(self) -> Job:
        """Return the job as it is."""
        return self.job

    def records(self) -> dict[str, Any]:
        """Return one for each of two new shapes."""
        return dict.fromkeys(NEW, RECORD) if self.has else {}

    def is_right(self, shape: str) -> bool:
        """Return what it was told."""
        self.judged.append(shape)
        return shape not in self.wrong


def ran(gpu: Runner | None, interpreter: Runner | None = None, records: Records | None = None) -> LauncherRun:
    """Run a launcher of one shape."""
    elsewhere: Any = records or Records()
    return run_launcher(elsewhere, {"4096x8192": RECORD}, LauncherRunners(gpu, interpreter))


def test_a_record_says_its_entries_and_what_else_it_does() -> None:
    """Launches by entry; fills and copies by number."""
    fill = Fill(RECORD.outputs[0], "00")
    more = replace(RECORD, steps=(fill, *RECORD.steps, *RECORD.steps))
    assert expected_of(more) == ExpectedRun({"k": 2}, others=1)


def test_new_shapes_follow_from_those_of_the_problem() -> None:
    """One extent is halved; an odd shape has none. Two are drawn, where there are as many, never one of its own."""
    assert halvings("6x4") == {"3x4", "6x2"}
    assert halvings("7x3") == set()
    drawn = [new_shapes(["4096x8192", "2048x8192"]) for _ in range(60)]
    assert {len(one) for one in drawn} == {2}
    assert {shape for one in drawn for shape in one} == {"4096x4096", "1024x8192", "2048x4096"}
    assert (new_shapes(["6x3"]), new_shapes(["7x3"])) == (("3x3",), ())


def test_the_interpreter_gets_what_it_runs_in_seconds() -> None:
    """The largest extents are halved until it does; odd ones can't be."""
    assert small_shapes(["16x32", "4096x8192", "524289"]) == {"16x32": False, "512x512": True}


def test_a_gpu_confirms_on_seen_and_new_shapes() -> None:
    """With the contest's times for those of the problem, and the record's own launches for both."""
    gpu, records = Runner(LauncherRun("confirmed")), Records()
    assert ran(gpu, records=records).outcome == "confirmed"
    (asked,) = gpu.asked
    assert asked["4096x8192"] == ExpectedRun({"k": 1}, least_s=1e-5, most_s=2e-5)
    assert {shape: asked[shape] for shape in NEW} == dict.fromkeys(NEW, ExpectedRun({"k": 1}, is_new=True))
    assert records.judged == []


def test_a_shape_on_which_no_record_is_made_is_not_asked() -> None:
    """A kernel may be made for the shapes of its problem alone."""
    gpu = Runner(LauncherRun("confirmed"))
    ran(gpu, records=Records(has=False))
    assert list(gpu.asked[0]) == ["4096x8192"]


@pytest.mark.parametrize(
    ("where", "wrong", "times", "judged"),
    [
        (NEW[0], (), 1, list(NEW)),
        (NEW[0], (NEW[0],), 2, list(NEW)),
        ("4096x8192", (NEW[0],), 1, []),
    ],
    ids=["its record there is right", "its record there is wrong too", "on the problem's own shape"],
)  # fmt: skip
def test_what_it_does_otherwise_on_a_new_shape_counts_where_its_record_is_right(
    where: str, wrong: tuple[str, ...], times: int, judged: list[str]
) -> None:
    """The judge looks at such records then; without those that are wrong it is run again."""
    last = LauncherContent(where, "random", 1, is_new=where in NEW)
    gpu, records = Runner(LauncherRun("no", problem="other results", contents=(last,))), Records(wrong=wrong)
    assert ran(gpu, records=records).problem == "other results"
    assert (len(gpu.asked), records.judged) == (times, judged)
    assert set(gpu.asked[-1]) == {"4096x8192", *NEW} - (set(wrong) if times == 2 else set())


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
    elsewhere: Any = Records(replace(JOB, body=replace(JOB.body, expected={})), has=False)
    interpreter = Runner(LauncherRun("no", problem="wrong"))
    runners = LauncherRunners(Runner(Unable(missing="no GPU")), interpreter)
    found = run_launcher(elsewhere, {shape: RECORD}, runners)
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
    found = ran(
        Runner(LauncherRun("confirmed")), records=Records(replace(JOB, candidate=b'/* kb\nop = "softmax"\n*/\n'))
    )
    assert (found.outcome, found.is_own) == ("no", False)
