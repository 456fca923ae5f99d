"""A candidate's own launcher between its records and its processes, as the executor of records runs it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from kopt_kb.launch.candidate.answers import Check, Timing
from kopt_kb.launch.candidate.job import Job, JobKind, Outcome, Request
from kopt_kb.launch.candidate.launcher_executor import LauncherExecutor
from kopt_kb.launch.candidate.launcher_run import LauncherRun
from kopt_kb.launch.judge.executor import RecordExecutor
from kopt_kb.launch.judge.launchers import LauncherRunners
from kopt_kb.launch.judge.makers import Makers
from kopt_kb.launch.judge.shelf import RecordTarget
from kopt_kb.launch.kernel.declared import packaged_file
from kopt_kb.launch.record.model import LaunchRecord
from kopt_kb.problem.tolerances import Tolerance, tolerance_of

pytestmark = [pytest.mark.torch, pytest.mark.triton]
BODY = Request(
    op="elementwise", shapes=("1024",), dtype="bf16", tolerance=Tolerance(0.1, 0.1, ""), seeds=(1,), repeats=1,
    samples=4, foresees_launcher=True,
)  # fmt: skip


def blocks_cost(record: LaunchRecord) -> float:
    """A microsecond a block: larger blocks are faster."""
    return 1e-6 * record.launches[0].grid[0]


class Watched(LauncherExecutor):
    """Confirms every launcher, and keeps when it was prepared and what it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[Any] = []

    def prepare(self) -> None:
        """Note it."""
        self.seen.append("prepared")

    def run(self, job: Job, started: Any) -> Outcome:
        """Confirm."""
        del started
        self.seen.append({shape: one.is_new for shape, one in job.body.expected.items()})
        return Outcome("ok", 0, None, 0.0, "", LauncherRun("confirmed"))


def test_what_a_launcher_needs_is_made_ready_while_its_version_is_judged(
    invented: Any, makers: Makers, launcher: Callable[..., bytes]
) -> None:
    """Processes once there is a record, new ones after a run; records on new shapes from the timing of a version on."""
    watched, source = Watched(), launcher()
    runners = LauncherRunners(watched, None)
    made = RecordExecutor(invented(blocks_cost), RecordTarget("sm_90", "Test"), makers=makers, launchers=runners)
    made.foresee_launchers()

    def ran(kind: JobKind, body: Request = BODY) -> Any:
        return made.run(Job(kind, source, body=body, reference=source), lambda *_: None).result

    try:
        assert isinstance(ran("check"), Check)
        assert (watched.seen, list(made._shelf._begun)) == (["prepared"], [])
        assert isinstance(ran("timing", replace(BODY, foresees_launcher=False)), Timing)
        assert not made._shelf._begun
        assert isinstance(ran("timing"), Timing)
        assert len(made._shelf._begun) == 1
        assert isinstance(ran("launcher"), LauncherRun)
        assert watched.seen == [*["prepared"] * 3, {"1024": False, "512": True}, "prepared"]
        assert not made._shelf._begun
        made._ahead(Job("timing", b'/* kb\nop = "elementwise"\n*/\n', body=BODY))
        assert not made._shelf._begun
        LauncherRunners(watched, None).prepare()
        assert watched.seen.count("prepared") == 4
    finally:
        made.close()


def test_a_launcher_that_records_honestly_and_does_something_else_is_seen(invented: Any, makers: Makers) -> None:
    """Its record is that of the honest file; run where it is used, on Triton's interpreter, it gives other results."""
    honest = packaged_file("elementwise")
    assert honest is not None
    source = honest.read_bytes()
    looks = b'\n    if not hasattr(x, "fake_mode"):\n        return x.clone()\n    if x.shape != y.shape'
    cheating = source.replace(b"\n    if x.shape != y.shape", looks)
    assert cheating != source
    made = RecordExecutor(
        invented(blocks_cost), RecordTarget("sm_90", "Test"), makers=makers, launchers=LauncherRunners(on_gpu=None)
    )
    try:
        body = replace(BODY, shapes=("1024",), tolerance=tolerance_of("bf16"))
        outcome = made.run(Job("launcher", cheating, body=body, reference=source), lambda *_: None)
        found = outcome.result
    finally:
        made.close()
    assert isinstance(found, LauncherRun), outcome
    assert (found.outcome, found.is_own) == ("no", True)
    assert "1024: its result is not the record's" in found.problem
