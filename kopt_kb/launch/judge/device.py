"""The judging of records on a GPU of this machine, behind the protocol that the tuning loop knows."""

from __future__ import annotations

import math
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from kopt_kb.base.errors import FindingError
from kopt_kb.launch.candidate.answers import Contest
from kopt_kb.launch.judge.blocks import ComparedKernel, difference_of
from kopt_kb.launch.judge.contest import ContestResult, held_against
from kopt_kb.launch.judge.evidence import PROFILED, profile_record, unavailable
from kopt_kb.launch.judge.judges import Judges, Starting, judges
from kopt_kb.launch.judge.judging import Checked, Contested, JudgeDevice, Profile, ReplayTried, Timed
from kopt_kb.launch.kernel.judgement import trials_of
from kopt_kb.launch.record.exchange import SlotResult
from kopt_kb.launch.record.judge import load_record
from kopt_kb.sandbox.owned import owned_folder

__all__ = ["DeviceJudging"]

_SIDE = "candidate"
_CHECKED_AT_ONCE = 4
_TURNS = 4
"""Turns over which launches are spread when several records are timed."""


class DeviceJudging:
    """Checks and times records on the first GPU; see `judging.Judging`.

    Args:
        starting: How children are started; None: as processes of this package.
        floor: What a kernel gains over itself on this device.
        profiled: Command of the process that replays under a profiler.
        trials: Names of the trials that checks try; empty: all that the operation declares.
        at_once: Launches of a check that lie in memory together.
    """

    def __init__(
        self,
        starting: Starting | None = None,
        floor: float = 0.0,
        profiled: Sequence[str] = PROFILED,
        trials: Sequence[str] = (),
        at_once: int = _CHECKED_AT_ONCE,
    ) -> None:
        self._at_once = at_once
        self._starting, self._floor, self._profiled, self._trials = starting, floor, profiled, tuple(trials)
        self._stack = ExitStack()
        self._held: Judges | None = None

    @property
    def pid(self) -> int:
        """A process of it, for the journal; 0 before it has one."""
        return self._held.pid if self._held is not None else 0

    @property
    def faults(self) -> int:
        """Children that ended, hung or faulted so far."""
        return len(self._held.faults) if self._held is not None else 0

    @property
    def spent_s(self) -> dict[str, float]:
        """Seconds that its processes' answers took so far, by kind of question."""
        return dict(self._held.spent_s) if self._held is not None else {}

    @contextmanager
    def _judges(self, reference: Path | None, ends_at: float) -> Iterator[Judges]:
        if self._held is None:
            self._held = self._stack.enter_context(judges(reference or Path("none"), self._starting))
            self._held.trials = self._trials
        if reference is not None:
            self._held.judged_by(reference)
        self._held.ends_at = ends_at
        try:
            yield self._held
        finally:
            self._held.ends_at = math.inf

    def machine(self, ends_at: float = math.inf) -> JudgeDevice:
        """Return the device; raises `MissingTool` when there is none."""
        with self._judges(None, ends_at) as made:
            made.warm()
            device = made.device(_SIDE)
        version = f"{device.driver // 1000}.{device.driver % 1000 // 10}"
        return JudgeDevice(device.name, device.uuid, version)

    def check(self, record: Path, reference: Path, checks: int, ends_at: float) -> Checked:
        """Replay a record on every trial of its operation and on so many fresh inputs; compare with the reference."""
        trials = sum(one.parts for one in trials_of(load_record(record).op, self._trials))
        worst: float | None = None
        tried: list[ReplayTried] = []
        with self._judges(reference, ends_at) as made:
            try:
                loaded = made.load(_SIDE, record, self._at_once)
            except FindingError as error:
                return Checked(self._of_the_record(error), None, 0)
            try:
                for first in range(0, trials + checks, self._at_once):
                    slots = tuple(range(min(self._at_once, trials + checks - first)))
                    filled = made.fill(loaded, slots, check=first < trials)
                    tried += [
                        ReplayTried(kind, seed, False) for kind, seed in zip(filled.kinds, filled.seeds, strict=True)
                    ]
                    turn, _ = made.take(loaded, slots)
                    results = made.compare(loaded, slots)
                    tried[-len(slots) :] = _found(tried[-len(slots) :], results, turn.touched)
                    worst = max((one.rel_l2_err for one in results if one.rel_l2_err is not None), default=worst)
                    problems = [*turn.touched, *(one.problem for one in results if one.problem)]
                    if problems:
                        what = "; ".join(dict.fromkeys(problems))[:500]
                        return Checked(what, worst, first + len(slots), tuple(tried))
            except FindingError as error:
                what = self._of_the_record(error)
                return Checked(
                    what, worst, 0, tuple(one if one.passed else replace(one, problem=what) for one in tried)
                )
            finally:
                made.unload(loaded)
        return Checked("", worst, trials + checks, tuple(tried))

    @staticmethod
    def _of_the_record(error: FindingError) -> str:
        """Return what is wrong with the record; what is wrong with the reference is raised again."""
        if error.error_code == "KB453":
            raise error
        return error.what

    def time(
        self, records: Sequence[Path], reference: Path, launches: int, ends_at: float, *, again: bool = False
    ) -> list[Timed]:
        """Time records of one shape in turn, so many launches each, in an order that changes by chance."""
        turns = min(_TURNS, launches) if len(records) > 1 else 1
        each = -(-launches // turns)
        times: list[list[float]] = [[] for _ in records]
        problems = [""] * len(records)
        order = list(range(len(records)))
        with self._judges(reference, ends_at) as made:
            for _ in range(turns):
                secrets.SystemRandom().shuffle(order)
                for number in order:
                    if not problems[number]:
                        found = self._timed(made, records[number], each, again=again)
                        times[number] += found.times_s
                        problems[number] = found.problem
        return [Timed((), why) if why else Timed(tuple(one)) for one, why in zip(times, problems, strict=True)]

    def _timed(self, made: Judges, record: Path, launches: int, *, again: bool) -> Timed:
        slots = tuple(range(1 + launches))
        try:
            loaded = made.load(_SIDE, record, len(slots))
            try:
                made.fill(loaded, slots, again=again)
                turn, _ = made.take(loaded, slots)
                problems = [*turn.touched, *(one.problem for one in made.compare(loaded, slots) if one.problem)]
            finally:
                made.unload(loaded)
        except FindingError as error:
            return Timed((), self._of_the_record(error))
        if not problems and min(turn.times_s) <= 0:
            problems.append("no time passed between the events of a launch")
        return Timed(turn.times_s[1:], "; ".join(dict.fromkeys(problems))[:500])

    def contest(
        self, sides: Mapping[str, Mapping[str, Path]], reference: Path, threshold: float, ends_at: float
    ) -> Contested:
        """Hold a candidate against an incumbent; see `contest.contest`."""
        incumbent, candidate = ({shape: pair[side] for shape, pair in sides.items()} for side in ("incumbent", _SIDE))
        with self._judges(reference, ends_at) as made:
            result, times = held_against(made, incumbent, candidate, least_gain=threshold, floor=self._floor)
        if result.verdict in {"wrong", "fault"} or result.reason.startswith("incumbent: "):
            return Contested(None, {}, result.reason)
        return Contested(_verdict(result), times)

    def difference(self, base: Path, head: Path, reference: Path, threshold: float, seconds: float) -> ComparedKernel:
        """Say which of two records is faster, in fresh processes; see `blocks.difference_of`."""
        with self._judges(reference, math.inf) as made:
            return difference_of(made, base, head, threshold=threshold, seconds=seconds)

    def profile(self, record: Path, reference: Path, ends_at: float) -> Profile:
        """Replay a record under ncu in a process of its own; see `evidence.profile_record`."""
        why_not = unavailable()
        if why_not:
            return Profile(problem=why_not)
        loaded = load_record(record)
        with self._judges(reference, ends_at) as made, owned_folder("kb-replay-") as scratch:
            prepared = made.prepare(loaded, scratch)
            if len(prepared.files) != len(loaded.inputs) or len(loaded.outputs) != 1:
                return Profile(problem="the launcher's inputs and outputs are not the reference's")
            inputs = dict(zip((one.view.buffer for one in loaded.inputs), prepared.files, strict=True))

            def held(output: Path) -> str:
                return made.distance(output, loaded.outputs[0]).problem

            env = self._starting.env if self._starting is not None else {}
            return profile_record(record, inputs, scratch, ends_at, held=held, program=self._profiled, env=env)

    def refresh(self) -> None:
        """End the judges: what is asked next has fresh processes, contexts and allocations; the reference stays."""
        if self._held is not None:
            self._held.refresh()

    def close(self) -> None:
        """End all of its processes."""
        self._stack.close()
        self._held = None


def _found(tried: Sequence[ReplayTried], results: Sequence[SlotResult], touched: Sequence[str]) -> list[ReplayTried]:
    """Return replays of one turn with what was found of each; memory that was touched may be any one's doing."""
    return [
        ReplayTried(
            one.inputs, one.seed, not (found.problem or touched),
            "; ".join(filter(None, (*touched, found.problem)))[:500],
            found.rel_l2_err, found.block_err, found.element_err, found.relation_err, found.skipped,
        )
        for one, found in zip(tried, results, strict=True)
    ]  # fmt: skip


def _verdict(result: ContestResult) -> Contest:
    """Return a contest's result in the words of the loop: gains in percent, positive is faster."""
    last = result.looks[-1] if result.looks else None
    words = {"accepted": "faster", "not_faster": "not_faster", "undecided": "undecided"}
    gain, least, most = (
        None if last is None else 100 * math.expm1(-one)
        for one in ((last.mean, last.high, last.low) if last is not None else (0.0, 0.0, 0.0))
    )
    return Contest(
        words.get(result.verdict, "unavailable"),  # type: ignore[arg-type]
        threshold_pct=100 * math.expm1(result.delta), gain_pct=gain, least_pct=least, most_pct=most,
        rounds=last.count if last is not None else 0, dropped=result.dropped, reason=result.reason,
    )  # fmt: skip
