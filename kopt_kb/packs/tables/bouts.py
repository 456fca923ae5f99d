"""Two settings of an engine's kernel held against each other for a number of tokens, by the contest.

What is decided is decided twice: an answer that somebody would act on, faster or slower, has to come again in fresh
processes, whose addresses and contexts are others. Equal is what neither side wins.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import ClassVar, Literal, Protocol

from kopt_kb.base.errors import BadInput, KoptError, MissingTool
from kopt_kb.base.wire import Wire
from kopt_kb.launch.candidate.answers import Contest
from kopt_kb.launch.judge.judging import Judging
from kopt_kb.launch.judge.makers import Made, Makers
from kopt_kb.launch.judge.shelf import RecordTarget
from kopt_kb.launch.record.request import MakerRequest, OpRequest
from kopt_kb.packs.tables.moe_files import OpFiles, planned_launches, write_op_files
from kopt_kb.packs.tables.moe_launch import Assumed
from kopt_kb.packs.tables.moe_problem import MoeProblem, problem_of
from kopt_kb.packs.tables.routing import Routing
from kopt_kb.problem.tuned_table import Setting, TunedTable

__all__ = ["LAUNCHED", "Bout", "BoutVerdict", "Bouts", "Layer", "RowSettings", "TableJudge", "same_settings"]

BoutVerdict = Literal["faster", "equal", "slower", "undecided", "wrong", "fault"]
"""Of the second side: `wrong` against the float64 reference, at `fault` where it can't be recorded or launched."""

RowSettings = Mapping[str, Setting]
LAUNCHED: RowSettings = {"num_warps": 4, "num_stages": 3, "num_ctas": 1, "SPLIT_K": 1}
"""What a launch has where a row does not say."""


class TableJudge(Judging, Protocol):
    """A judge whose children can be replaced."""

    def refresh(self) -> None:
        """End the judges: what is asked next has fresh processes."""


@dataclass(frozen=True, slots=True)
class Bout(Wire):
    """What was seen of two settings.

    Attributes:
        verdict: Of the second.
        reason: Why, in words with numbers.
        change_pct: More time of the second, in percent; below 0 it is faster. None where nothing was timed.
        least_pct: Lower bound of it, wrong once in 100.
        most_pct: Upper bound, likewise.
        base_s: Median time of the first, in seconds; None where nothing was timed.
        head_s: Of the second.
        contests: How many were held.
    """

    WIRE: ClassVar = (
        "verdict", "change_pct", "least_pct", "most_pct", "base_s", "head_s", "contests", "reason",
    )  # fmt: skip
    verdict: BoutVerdict
    reason: str
    change_pct: float | None = None
    least_pct: float | None = None
    most_pct: float | None = None
    base_s: float | None = None
    head_s: float | None = None
    contests: int = 0


@dataclass(frozen=True, slots=True)
class Layer:
    """A table, its engine, and what no table says."""

    table: TunedTable
    root: Path
    assumed: Assumed
    routing: Routing

    def problem(self, tokens: int, target: str) -> MoeProblem:
        """Return the problem of a number of tokens."""
        return problem_of(self.table, tokens, target, self.assumed, self.routing)


def same_settings(one: RowSettings, two: RowSettings) -> bool:
    """Return whether two rows launch the same, what a row leaves out included."""
    return {**LAUNCHED, **one} == {**LAUNCHED, **two}


@dataclass
class Bouts:
    """Records settings and holds them against each other; a context manager.

    Attributes:
        layer: What is recorded.
        target: For what.
        judge: Judges records.
        folder: Where files and records lie.
        threshold: Log ratio that counts as faster or slower.
        count: Makers; 0: as many as there are cores.
    """

    layer: Layer
    target: RecordTarget
    judge: TableJudge
    folder: Path
    threshold: float = 0.0
    count: int = 0
    tell: Callable[[str], None] = lambda _: None
    _files: dict[int, OpFiles] = field(default_factory=dict)
    _made: dict[tuple[int, str], Path | KoptError] = field(default_factory=dict)
    _stack: ExitStack = field(default_factory=ExitStack)
    _makers: Makers | None = None

    def __enter__(self) -> Bouts:
        """Start makers with the first record."""
        self._makers = self._stack.enter_context(Makers(self.count))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the makers."""
        self._stack.close()

    @property
    def recorded(self) -> int:
        """Records that were asked for so far."""
        return len(self._made)

    def reference(self, tokens: int) -> Path:
        """Return the judge's reference of a number of tokens."""
        return self._of(tokens).reference

    def record(self, asked: Sequence[tuple[int, RowSettings]]) -> None:
        """Record settings for numbers of tokens side by side; one that can't be is a result.

        Raises:
            MissingTool: Triton or torch is not installed.
        """
        wanted: dict[tuple[int, str], tuple[MakerRequest, Path]] = {}
        for tokens, settings in asked:
            key = (tokens, _key(settings))
            if key in self._made or key in wanted:
                continue
            problem = self.layer.problem(tokens, self.target.target)
            try:
                config = planned_launches(problem, settings, self.layer.root)
            except BadInput as error:
                self._made[key] = error
                continue
            what = OpRequest(str(self._of(tokens).kernel), problem.shape, problem.dtype, config)
            request = MakerRequest(what, self.target.target, self.target.device, self.target.facts, "")
            wanted[key] = request, self.folder / f"record{len(self._made) + len(wanted)}"
        for key, made in zip(wanted, self.makes([*wanted.values()]), strict=True):
            if isinstance(made.error, MissingTool):
                raise made.error
            self._made[key] = made.folder if made.error is None else made.error

    def makes(self, asked: Sequence[tuple[MakerRequest, Path]]) -> list[Made]:
        """Return what became of requests."""
        assert self._makers is not None  # noqa: S101 - it is entered
        return self._makers.make_all(asked)

    def folder_of(self, tokens: int, settings: RowSettings) -> Path | KoptError:
        """Return the record of settings, or why there is none."""
        self.record([(tokens, settings)])
        return self._made[tokens, _key(settings)]

    def bout(self, tokens: int, base: RowSettings, head: RowSettings) -> Bout:
        """Return whether the second settings are faster or slower than the first."""
        self.record([(tokens, base), (tokens, head)])
        one, two = (self.folder_of(tokens, each) for each in (base, head))
        if isinstance(two, KoptError):
            return Bout("fault", f"can't be recorded: {two.what}")
        if isinstance(one, KoptError):
            return Bout("undecided", f"the other can't be recorded: {one.what}")
        if same_settings(base, head):
            return Bout("equal", "the same settings")
        return _Bout(self, tokens, one, two).held()

    def _of(self, tokens: int) -> OpFiles:
        if tokens not in self._files:
            problem = self.layer.problem(tokens, self.target.target)
            self._files[tokens] = write_op_files(problem, self.layer.root, self.folder / f"files{tokens}")
        return self._files[tokens]


class _Bout:
    """Contests of two records, in both directions."""

    def __init__(self, bouts: Bouts, tokens: int, base: Path, head: Path) -> None:
        self._bouts, self._tokens, self._records = bouts, tokens, {"base": base, "head": head}
        self._times: dict[str, float] = {}
        self._held = 0

    def held(self) -> Bout:
        """Return the verdict: a decision stands when fresh processes take it again."""
        there = self._contest("base", "head")
        if isinstance(there, Bout):
            return there
        if there.verdict in {"faster", "unavailable"}:
            return (
                self._again("faster", "base", "head") if there.verdict == "faster" else self._said("undecided", there)
            )
        back = self._contest("head", "base")
        if isinstance(back, Bout):
            return back
        if back.verdict == "faster":
            return self._again("slower", "head", "base")
        is_equal = (there.verdict, back.verdict) == ("not_faster",) * 2
        return self._said("equal" if is_equal else "undecided", there, back=back)

    def _again(self, verdict: BoutVerdict, incumbent: str, candidate: str) -> Bout:
        """Return a decision that fresh processes take again; undecided where they don't."""
        self._bouts.judge.refresh()
        again = self._contest(incumbent, candidate)
        if isinstance(again, Bout):
            return again
        sign = 1 if candidate == "head" else -1
        if again.verdict == "faster":
            return self._said(verdict, again, sign=sign)
        return self._said("undecided", again, sign=sign, more=f"{verdict} at first, and not in fresh processes: ")

    def _contest(self, incumbent: str, candidate: str) -> Contest | Bout:
        """Return a contest's verdict, or the bout where one of both is wrong or at fault."""
        self._held += 1
        sides = {"incumbent": self._records[incumbent], "candidate": self._records[candidate]}
        found = self._bouts.judge.contest(
            {"layer": sides}, self._bouts.reference(self._tokens), self._bouts.threshold, math.inf
        )
        for side, times in (found.times_s.get("layer") or {}).items():
            if times:
                name = incumbent if side == "incumbent" else candidate
                ordered = sorted(times)
                self._times[name] = ordered[len(ordered) // 2]
        if found.verdict is not None:
            return found.verdict
        side, _, what = found.problem.partition(": ")
        blamed = incumbent if side == "incumbent" else candidate
        what = what or found.problem
        if blamed == "base":
            return Bout("undecided", f"the other: {what}", contests=self._held)
        wrong = "reference" in what or "bytes behind" in what or "was changed" in what
        return Bout("wrong" if wrong else "fault", what, contests=self._held)

    def _said(
        self, verdict: BoutVerdict, seen: Contest, *, sign: int = 1, back: Contest | None = None, more: str = ""
    ) -> Bout:
        """Return the bout; gains of a contest become more time of the head."""
        change, least, most = _changes(seen, sign)
        if back is not None:  # each direction bounds one side well
            _, _, above = _changes(back, -1)
            most = above if most is None else most if above is None else min(most, above)
        return Bout(
            verdict, more + seen.reason, change, least, most, self._times.get("base"), self._times.get("head"),
            self._held,
        )  # fmt: skip


def _changes(seen: Contest, sign: int) -> tuple[float | None, float | None, float | None]:
    """Return change, least and most time of the head in percent; by a gain g its time is 1 / (1 + g), or 1 + g."""
    found = []
    for gain in (seen.gain_pct, seen.most_pct, seen.least_pct):
        ratio = None if gain is None else (1 + gain / 100) ** -sign
        found.append(None if ratio is None else 100 * (ratio - 1))
    change, least, most = found if sign == 1 else (found[0], found[2], found[1])
    return change, least, most


def _key(settings: RowSettings) -> str:
    return json.dumps({**settings}, sort_keys=True)
