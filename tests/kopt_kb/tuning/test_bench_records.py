"""A bench that is killed between two events loses nothing that it measured."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from kopt_kb.launch.candidate.answers import AnswerBasis, Sample, Timing, read_answer
from kopt_kb.launch.candidate.job import Job, Outcome, Started
from kopt_kb.tuning.bench import BenchOptions, bench_kernel, utilization
from kopt_kb.tuning.bench_records import made_records, timing_run
from kopt_kb.tuning.options import Settings
from kopt_kb.wiki.registry import Registry
from kopt_kb.workspace.audit.audit import audit
from kopt_kb.workspace.journal.journal import Journal
from kopt_kb.workspace.workspace import Workspace

AMOUNT = {"8192x4096": 134_225_920, "1024x512": 2_098_176}


class Board:
    """An executor that answers for a board at 1.9 TB/s."""

    name, simulated, trust = "board", False, "reported"
    close = staticmethod(lambda: None)

    def run(self, job: Job, started: Started) -> Outcome:
        """Answer at once; each repeat is a little slower."""
        started((job.kind,), 1, None)
        machine = {"device": "NVIDIA T10 48GB", "uuid": None, "driver": "5", "clocks": {}, "versions": {}}
        times = {
            shape: [{"n": 9, "median_s": amount / 1.9e12 * (1 + at / 1000), "mad_s": 0.0} for at in range(3)]
            for shape, amount in AMOUNT.items()
        }
        timing = {"shapes": {shape: {"incumbent": one, "candidate": one} for shape, one in times.items()}}
        right = {"build_error": "", "passed": True, "problem": "", "checks": 2}
        return Outcome(
            "ok",
            0,
            None,
            0.1,
            "",
            read_answer(job.kind, {"environment": machine, "check": right, "timing": timing}[job.kind]),
        )


def killed_bench(workspace: Workspace, registry: Registry, after: int) -> None:
    """Bench in a child process that is killed right after it appended this many events."""
    child = os.fork()
    if not child:
        append, left = Journal.append, [after]

        def counted(self, kind, data):
            event = append(self, kind, data)
            left[0] -= 1
            if not left[0]:
                os.kill(os.getpid(), signal.SIGKILL)
            return event

        Journal.append = counted
        try:
            bench_kernel(workspace, registry, Board(), BenchOptions())
        finally:
            os._exit(9)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


@pytest.mark.parametrize("after", range(1, 11))
def test_a_kill_after_any_event_loses_nothing(workspace: Workspace, wiki_root: Path, after: int) -> None:
    """bench_started, two runs of two events, then six records: 11 events, and a kill after each but the last.

    A timing run that finished keeps all six records with the next bench, those there were stay as they are, and a
    run that did not finish is named abandoned.
    """
    registry = Registry.open(wiki_root)
    before = len(workspace.events())
    killed_bench(workspace, registry, after)
    cut = workspace.events()
    assert len(cut) == before + after
    said: list[str] = []
    report = bench_kernel(workspace, registry, Board(), BenchOptions(), said.append)
    events = workspace.events()
    assert events[: len(cut)] == cut
    records = [e.data.id for e in events if e.kind == "measured"]
    first = [one for one in records if one.startswith("bench-1.")]
    is_timed = after >= 5
    assert first == ([f"bench-1.timing.1:{shape}:{at}" for shape in AMOUNT for at in (1, 2, 3)] if is_timed else [])
    assert len(records) == len(set(records)) == len(first) + 6
    assert ("bench-1 was cut off: kept the records it had measured" in said) == is_timed
    lost = [one for e in events if e.kind == "resumed" for one in e.data.abandoned_runs]
    assert lost == {2: ["bench-1.check.1"], 4: ["bench-1.timing.1"]}.get(after, [])
    assert (report.source.name, report.verdict) == ("bench-2", "met")
    assert utilization(workspace, registry).source.name == "bench-2"
    assert audit(workspace.layout.root, registry).clean


def test_a_cut_bench_hides_no_whole_one(workspace: Workspace, wiki_root: Path) -> None:
    """Until its other records are kept the bench before it stands; a first one that was cut is told."""
    registry = Registry.open(wiki_root)
    bench_kernel(workspace, registry, Board(), BenchOptions(settings=Settings(samples=5)))
    killed_bench(workspace, registry, 8)
    assert utilization(workspace, registry).source.name == "bench-1"
    bench_kernel(workspace, registry, Board(), BenchOptions())
    assert "cut off" not in (workspace.layout.root / "logs/bench.md").read_text()


def test_records_have_ids_only_when_they_are_kept() -> None:
    """Shape by shape, repeat by repeat; the spread is what else a time says."""
    answer = Timing({"4x4": {"candidate": (Sample(5, 2e-6, 1e-9),)}})
    (kept,) = made_records("bench-7", timing_run("bench-7"), 3, answer, "reported")
    assert (kept.id, kept.run, kept.environment, kept.spread) == (
        "bench-7.timing.1:4x4:1", "bench-7.timing.1", 3, {"mad_s": 1e-9}
    )  # fmt: skip
    assert [one.id for one in made_records("unrecorded", "", 0, answer, "reported")] == [""]


def test_records_say_how_far_they_can_be_trusted() -> None:
    """What an answer says of itself, else what its executor is."""
    answer = Timing({"4x4": {"candidate": (Sample(3, 1e-6),)}})
    (plain,) = made_records("bench-7", "", 0, answer, "reported")
    (own,) = made_records("bench-7", "", 0, replace(answer, basis=AnswerBasis("replayed")), "reported")
    assert (plain.trust, own.trust) == ("reported", "replayed")
