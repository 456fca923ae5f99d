"""Claims about the executor of recorded launches: real records made without a GPU, a judge in memory."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kopt_kb.base.errors import FindingError, MissingTool
from kopt_kb.base.wire import parse, plain, read
from kopt_kb.launch.candidate.answers import Check, Environment, ReportEvidence, Search, Timing, Unable, read_answer
from kopt_kb.launch.candidate.job import Job, JobKind, Outcome, Request, RunLimits, SpaceAsked
from kopt_kb.launch.candidate.source_config import with_chosen
from kopt_kb.launch.judge.executor import RecordExecutor
from kopt_kb.launch.judge.makers import Makers
from kopt_kb.launch.judge.pool import DevicePool
from kopt_kb.launch.judge.shelf import RecordTarget
from kopt_kb.launch.kernel.declared import packaged_reference
from kopt_kb.launch.recompile.binding import Binder
from kopt_kb.launch.record.model import LaunchRecord
from kopt_kb.problem.tolerances import Tolerance

pytestmark = [pytest.mark.torch, pytest.mark.triton]
Launcher = Callable[..., bytes]
BODY = Request(
    op="elementwise", shapes=("1024", "4096"), dtype="bf16", tolerance=Tolerance(0.1, 0.1, ""), seeds=(1, 2), repeats=3,
    samples=9, evaluations=4, seconds=60.0,
)  # fmt: skip


def blocks_cost(record: LaunchRecord) -> float:
    """A microsecond a block: larger blocks are faster."""
    return 1e-6 * record.launches[0].grid[0]


class Other:
    """An executor that does whatever it is asked."""

    name, simulated, trust = "other", False, "reported"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def run(self, job: Job, started: Any) -> Outcome:
        """Return a check that passed, or no times."""
        self.asked.append(job.kind)
        started(("other",), 1, None)
        answer = Check("", True, "", 0.0, {}, 1) if job.kind == "check" else Timing({})
        return Outcome("ok", 0, None, 0.0, "", answer)

    def close(self) -> None:
        """Do nothing."""


@pytest.fixture
def executor(invented: Any, makers: Makers) -> Iterator[RecordExecutor]:
    """The judge that counts blocks."""
    made = RecordExecutor(invented(blocks_cost), RecordTarget("sm_90", "Test"), makers=makers)
    yield made
    made.close()
    assert made._judging.closed


def ran(executor: RecordExecutor, kind: JobKind, candidate: bytes = b"", **more: Any) -> Outcome:
    """Run a job and return how it ended; it is announced once."""
    begun: list[tuple[str, ...]] = []
    body = replace(BODY, **{name: more.pop(name) for name in ("spaces", "shapes", "seconds") if name in more})
    outcome = executor.run(Job(kind, candidate, body=body, **more), lambda argv, *_: begun.append(argv))
    assert len(begun) == 1
    if outcome.result is not None:
        assert read_answer(kind, plain(outcome.result)) == outcome.result
    return outcome


def test_a_check_rests_on_records(executor: RecordExecutor, launcher: Launcher) -> None:
    """Every shape is recorded and replayed; the answer names the records, the level, and where the seconds went."""
    answer = ran(executor, "check", launcher()).result
    assert isinstance(answer, Check)
    assert (answer.build_error, answer.passed, answer.checks) == ("", True, 4)
    assert answer.rel_l2_err_by_shape == {"1024": 1e-3, "4096": 1e-3}
    assert answer.basis is not None
    assert answer.basis.trust == "replayed"
    assert set(answer.basis.records) == {"candidate 1024", "candidate 4096"}
    assert set(answer.basis.seconds) == {"record", "make again", "check"}
    assert answer.basis.isolation is not None


def test_records_go_with_the_answer(
    executor: RecordExecutor, launcher: Launcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under their hashes, with their code objects; one that is too large is left out, and the answer says so."""
    outcome = ran(executor, "timing", launcher(512), incumbent=launcher(128))
    assert isinstance(outcome.result, Timing) and outcome.result.basis is not None
    assert set(outcome.records) == set(outcome.result.basis.records.values())
    for digest, (record, *codes) in outcome.records.items():
        assert hashlib.sha256(record).hexdigest() == digest
        made = read(LaunchRecord, parse(record))
        assert [hashlib.sha256(one).hexdigest() for one in codes] == sorted(made.codes)
        assert made.sources["kernel.py"] in {hashlib.sha256(launcher(one)).hexdigest() for one in (128, 512)}
    monkeypatch.setattr("kopt_kb.launch.judge.job_work._KEPT_BYTES", 1000)
    small = ran(executor, "check", launcher())
    assert isinstance(small.result, Check) and small.result.basis is not None
    assert small.records == {}
    assert "at most 1000 are kept" in small.result.basis.unkept["candidate 1024"]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ("raise RuntimeError('no way')", "no way"),
        ("raise RuntimeError('torch._dynamo.convert_frame' in __import__('sys').modules)", "RuntimeError: False"),
        ("import os; os._exit(0)", "no answer"),
        ("return x", "no kernel is launched"),
    ],
)
def test_what_is_not_recorded_does_not_build(
    executor: RecordExecutor, launcher: Launcher, more: str, words: str
) -> None:
    """The launcher's own trouble is the reason, with its shape; it never ran here."""
    answer = ran(executor, "check", launcher(more=more)).result
    assert isinstance(answer, Check)
    assert answer.build_error.startswith("1024: ")
    assert words in answer.build_error


def test_wrong_results_fail(executor: RecordExecutor, launcher: Launcher, invented: Any, makers: Makers) -> None:
    """By the judge's word, or because the result lies in an input."""
    wrong = RecordExecutor(invented(lambda _: 0.0), RecordTarget("sm_90", "Test"), makers=makers)
    answer = ran(wrong, "check", launcher()).result
    wrong.close()
    assert isinstance(answer, Check)
    assert (answer.passed, answer.problem) == (False, "1024: wrong")
    inplace = ran(executor, "check", launcher(more="out = x")).result
    assert isinstance(inplace, Check)
    assert "lies in the input x" in inplace.problem


def test_a_contest_gives_times_and_a_verdict(executor: RecordExecutor, launcher: Launcher) -> None:
    """A sample a repeat and side, in the order they were taken; records of the incumbent are found again."""
    outcome = ran(executor, "timing", launcher(512), incumbent=launcher(128))
    answer = outcome.result
    assert isinstance(answer, Timing)
    assert answer.contest is not None
    assert answer.contest.verdict == "faster"
    assert answer.contest.gain_pct == pytest.approx(300.0)
    sides = answer.shapes["4096"]
    assert [one.n for one in sides["candidate"]] == [8, 8, 8]
    assert sides["incumbent"][0].median_s == pytest.approx(32e-6, rel=0.01)
    assert executor._judging.asked == [("contest", 2)]
    again = ran(executor, "timing", launcher(512), incumbent=launcher(128)).result
    assert isinstance(again, Timing)
    assert again.basis is not None
    assert again.basis.seconds["record"] < 0.2


def test_a_source_against_itself_is_noise_and_no_contest(executor: RecordExecutor, launcher: Launcher) -> None:
    """Both sides in turn, each repeat anew, after a first one that is forgotten."""
    answer = ran(executor, "timing", launcher(), incumbent=launcher()).result
    assert isinstance(answer, Timing)
    assert answer.contest is None
    assert executor._judging.asked == [("time", 2)] * 10  # the first repeat of each shape looks how long a few take
    assert [one.n for one in answer.shapes["1024"]["incumbent"]] == [9, 9, 9]


def test_a_third_side_is_timed_too(executor: RecordExecutor, launcher: Launcher) -> None:
    """The best accepted version beside the two of the contest."""
    answer = ran(executor, "timing", launcher(256), incumbent=launcher(128), best=launcher(512)).result
    assert isinstance(answer, Timing)
    medians = {side: one[0].median_s for side, one in answer.shapes["4096"].items()}
    assert medians["best"] < medians["candidate"] < medians["incumbent"]


def test_a_search_finds_the_best_block(
    executor: RecordExecutor, launcher: Launcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of a small space; what does not compile has failed; the winner's time is of samples of its own.

    No code object of it is made again.
    """
    bound: list[object] = []
    monkeypatch.setattr(Binder, "bound", lambda _, codes, *_more: bound.extend(codes) or [])
    spaces = {"4096": SpaceAsked({"BLOCK": 128}, {"BLOCK": [128, 256, 100, 1024]}, {"BLOCK": 256})}
    source = launcher() + b"\n\ndef default_config(shape, dtype):\n    return {}\n"
    outcome = ran(executor, "search", source, spaces=spaces)
    answer = outcome.result
    assert isinstance(answer, Search)
    found = answer.shapes["4096"]
    assert dict(found.config) == {"BLOCK": 1024}
    assert (found.evaluated, found.failed, found.strategy, found.space) == (4, 1, "exhaustive", 4)
    assert found.median_s == pytest.approx(4e-6, rel=0.01)
    assert "'BLOCK': 100" in outcome.printed
    assert bound == []
    monkeypatch.undo()
    assert executor._judging.asked[-2:] == [("time", 3), ("time", 1)]
    file, _ = with_chosen(source, {"4096": found.config})
    begun = next(executor._shelf._count)
    checked = ran(executor, "check", file, shapes=("1024", "4096")).result
    assert isinstance(checked, Check) and checked.passed
    assert next(executor._shelf._count) == begun + 1, "the file's record was begun while the best were timed again"


def test_not_replayable_without_a_lower_level(executor: RecordExecutor, launcher: Launcher) -> None:
    """Where only replayed times count it is unavailable, with the reason, and no failure of the kernel."""
    outcome = ran(executor, "check", launcher(more="x = x * 2"))
    assert isinstance(outcome.result, Unable)
    assert "not replayable: 1024: " in (outcome.result.unavailable or "")
    assert "mul" in outcome.result.reason


def test_not_replayable_with_a_lower_level(launcher: Launcher, invented: Any, makers: Makers) -> None:
    """Where decisions may rest on less, the fallback does all of it, and the answer says so."""
    other = Other()
    made = RecordExecutor(
        invented(blocks_cost), RecordTarget("sm_90", "Test"), makers=makers, fallback=other, least="reported"
    )
    for kind in ("check", "timing"):
        answer = ran(made, kind, launcher(more="x = x * 2"), incumbent=launcher()).result
        assert isinstance(answer, Check | Timing)
        assert answer.basis is not None
        assert answer.basis.trust == "reported"
        assert "mul" in answer.basis.reason
    assert other.asked == ["check", "timing"]
    made.close()


def test_what_is_nobodys_fault_is_lost(executor: RecordExecutor, launcher: Launcher) -> None:
    """A reference that fails says nothing of the candidate: no gate fails by it."""

    def fails(*_: object) -> Any:
        raise FindingError("the reference ran out of memory", code="KB453")

    executor._judging.check = fails  # type: ignore[method-assign]
    outcome = ran(executor, "check", launcher())
    assert (outcome.outcome, outcome.result) == ("lost", None)
    assert "out of memory" in outcome.printed


def test_time_that_runs_out_is_a_hang(executor: RecordExecutor, launcher: Launcher) -> None:
    """The limit of the job holds for the judge too."""
    executor._judging.slow_s = 0.5
    outcome = ran(executor, "check", launcher(), limits=RunLimits(0.2))
    assert (outcome.outcome, outcome.result) == ("hang", None)
    begin = time.monotonic()
    slow = launcher(more="import time; time.sleep(12)")
    assert ran(executor, "check", slow, limits=RunLimits(0.5)).outcome == "hang"
    assert time.monotonic() - begin < 11.0


def test_machine_and_other_jobs(executor: RecordExecutor, invented: Any, makers: Makers) -> None:
    """The judge says what its device is; what no replay does is unavailable; without a GPU it is missing."""
    answer = ran(executor, "environment").result
    assert isinstance(answer, Environment)
    assert (answer.device, answer.uuid, answer.driver) == ("Invented", "00", "13000")
    assert "triton" in answer.versions
    assert isinstance(ran(executor, "limits").result, Unable)

    class NoGpu(invented):  # type: ignore[misc]
        def machine(self, *_: float) -> Any:
            raise MissingTool("no GPU")

    without = RecordExecutor(NoGpu(blocks_cost), RecordTarget("sm_90", "Test"), makers=makers)
    found = ran(without, "environment").result
    assert isinstance(found, Unable)
    assert found.missing == "no GPU"
    without.close()


def test_evidence_is_of_the_largest_shape(executor: RecordExecutor, launcher: Launcher) -> None:
    """Of the record that is judged, none of the launcher's Python; without a profiler it says so and nothing fails."""
    answer = ran(executor, "evidence", launcher()).result
    assert isinstance(answer, ReportEvidence)
    assert (answer.csv, answer.shape, answer.kernels) == ("report", "4096", ("add",))
    assert answer.basis is not None
    assert set(answer.basis.records) == {"candidate 4096"}
    assert executor._judging.asked == [("profile", 1)]
    executor._judging.profiles = False
    outcome = ran(executor, "evidence", launcher())
    assert (outcome.outcome, outcome.result) == ("ok", Unable(unavailable="4096: no profiler"))
    broken = ran(executor, "evidence", launcher(more="raise RuntimeError('no way')")).result
    assert isinstance(broken, Unable)
    assert "no way" in broken.reason


def test_a_slow_baseline_is_launched_a_few_times(
    launcher: Launcher, invented: Any, makers: Makers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its first launches say what a repeat holds in its second; a quick one has all that was asked for."""
    judging = invented(blocks_cost)
    made = RecordExecutor(judging, RecordTarget("sm_90", "Test"), makers=makers)
    time_them, asked, counts = judging.time, list[int](), dict[float, tuple[list[int], list[int]]]()

    def slowly(records: Any, reference: Path, launches: int, ends_at: float, **more: Any) -> Any:
        asked.append(launches)
        time.sleep(slow_s)
        return time_them(records, reference, launches, ends_at, **more)

    monkeypatch.setattr(judging, "time", slowly)
    monkeypatch.setattr("kopt_kb.launch.judge.executor._REPEAT_S", 0.1)
    for slow_s in (0.0, 0.1):
        asked.clear()
        answer = ran(made, "timing", launcher(), shapes=("1024",)).result
        assert isinstance(answer, Timing)
        counts[slow_s] = ([one.n for one in answer.shapes["1024"]["candidate"]], [*asked])
    made.close()
    assert counts == {0.0: ([9, 9, 9], [4, 6, 3, 9, 9]), 0.1: ([6, 6, 6], [4, 6, 6, 6])}


def test_sources_lie_where_nobody_else_writes(executor: RecordExecutor, launcher: Launcher, tmp_path: Path) -> None:
    """A file of a source is put right again when somebody changed it."""
    path = executor._shelf.file_of(launcher(), "kernel.py")
    path.write_text("other")
    assert executor._shelf.file_of(launcher(), "kernel.py").read_bytes() == launcher()
    assert not path.is_relative_to(tmp_path)


def test_cuda_is_checked_and_searched_like_all_others(invented: Any, makers: Makers, repo_root: Path) -> None:
    """A blob without a name; its tuning values are macros of no Python."""
    pytest.importorskip("nvidia", reason="NVRTC is not installed")
    source = (repo_root / "kernels" / "cuda" / "rms_norm.cu").read_bytes()
    executor = RecordExecutor(
        invented(lambda one: 1e-6 * one.launches[0].block[0]), RecordTarget("sm_90", "T"), makers=makers
    )
    body = replace(BODY, op="rms_norm", shapes=("64x512",))
    checked = executor.run(Job("check", source, body=body), lambda *_: None).result
    assert isinstance(checked, Check) and checked.passed
    space = {"64x512": SpaceAsked({}, {"THREADS": [64, 128, 1024], "CACHED": [0, 1]})}
    found = executor.run(Job("search", source, body=replace(body, spaces=space, evaluations=8)), lambda *_: None).result
    executor.close()
    assert isinstance(found, Search)
    assert found.shapes["64x512"].config["THREADS"] == 64


@pytest.mark.parametrize(("file", "op"), [("cuda/rms_norm.cu", "rms_norm"), ("cute/attention.py", "attention")])
def test_files_with_a_header_are_judged_by_the_packages_reference(
    executor: RecordExecutor, repo_root: Path, file: str, op: str
) -> None:
    """They have none of their own, and a judge never imports their language."""
    source = (repo_root / "kernels" / file).read_bytes()
    job = Job("check", source, body=replace(BODY, op=op, tolerance=None), reference=source)
    assert executor._reference(job) == packaged_reference(op)
    assert executor._reference(replace(job, reference=b"REFERENCE = 1")).read_bytes() == b"REFERENCE = 1"


def test_a_search_on_two_devices(launcher: Launcher, invented: Any, makers: Makers) -> None:
    """Both rank, though one is three times as slow; finalists and everything else are the first one's."""
    first, second = invented(blocks_cost), invented(lambda record: 3 * blocks_cost(record))
    made = RecordExecutor(DevicePool(first, [second]), RecordTarget("sm_90", "Test"), makers=makers)
    spaces = {"4096": SpaceAsked({"BLOCK": 128}, {"BLOCK": [128, 256, 512, 1024]}, {"BLOCK": 256})}
    outcome = ran(made, "search", launcher(), spaces=spaces)
    made.close()
    assert isinstance(outcome.result, Search), outcome.printed
    found = outcome.result.shapes["4096"]
    assert dict(found.config) == {"BLOCK": 1024}
    assert (found.evaluated, found.failed) == (4, 0)
    assert found.median_s == pytest.approx(4e-6, rel=0.01)
    assert found.pruning == "by compiling ahead, ranked on 2 devices"
    assert {count for _, count in second.asked} == {1}
    assert first.closed
    assert second.closed
