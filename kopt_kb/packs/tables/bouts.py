"""Two settings of an engine's kernel held against each other for a number of tokens, in blocks of fresh processes.

A layer reads little of much memory, and where its weights lie moves it by more than most settings do.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import ClassVar, Literal, Protocol

from kopt_kb.base.errors import BadInput, KoptError, MissingTool
from kopt_kb.base.wire import Wire
from kopt_kb.launch.judge.blocks import ComparedKernel
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

_VERDICTS: Mapping[str, BoutVerdict] = {
    "same": "equal", "faster": "faster", "slower": "slower", "wrong": "wrong", "fault": "fault",
}  # fmt: skip

RowSettings = Mapping[str, Setting]
LAUNCHED: RowSettings = {"num_warps": 4, "num_stages": 3, "num_ctas": 1, "SPLIT_K": 1}
"""What a launch has where a row does not say."""


class TableJudge(Judging, Protocol):
    """A judge that also says which of two records is faster."""

    def difference(self, base: Path, head: Path, reference: Path, threshold: float, seconds: float) -> ComparedKernel:
        """Hold two records against each other in fresh processes."""


@dataclass(frozen=True, slots=True)
class Bout(Wire):
    """What was seen of two settings.

    Attributes:
        verdict: Of the second.
        reason: Why, in words with numbers.
        change_pct: More time of the second, in percent; below 0 it is faster. None where nothing was timed.
        least_pct: Lower bound of it, wrong once in 200.
        most_pct: Upper bound, likewise.
        base_s: Median time of the first, in seconds; None where nothing was timed.
        head_s: Of the second.
        blocks: Pairs of fresh processes that were measured.
    """

    WIRE: ClassVar = (
        "verdict", "change_pct", "least_pct", "most_pct", "base_s", "head_s", "blocks", "reason",
    )  # fmt: skip
    verdict: BoutVerdict
    reason: str
    change_pct: float | None = None
    least_pct: float | None = None
    most_pct: float | None = None
    base_s: float | None = None
    head_s: float | None = None
    blocks: int = 0


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
        tell: Is told what is done.
        seconds: After which no block of two settings is begun.
    """

    layer: Layer
    target: RecordTarget
    judge: TableJudge
    folder: Path
    threshold: float = 0.0
    count: int = 0
    tell: Callable[[str], None] = lambda _: None
    seconds: float = 30.0
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
        return _verdict(self.judge.difference(one, two, self.reference(tokens), self.threshold, self.seconds))

    def _of(self, tokens: int) -> OpFiles:
        if tokens not in self._files:
            problem = self.layer.problem(tokens, self.target.target)
            self._files[tokens] = write_op_files(problem, self.layer.root, self.folder / f"files{tokens}")
        return self._files[tokens]


def _verdict(seen: ComparedKernel) -> Bout:
    """Return what blocks of two records say of the second; log ratios become more time in percent."""
    found = Bout(
        _VERDICTS.get(seen.verdict, "undecided"),
        seen.reason,
        base_s=seen.base_s,
        head_s=seen.head_s,
        blocks=len(seen.blocks),
    )
    if not seen.looks:
        return found
    last = seen.looks[-1]
    change, least, most = (100 * math.expm1(one) for one in (last.mean, last.low, last.high))
    return replace(found, change_pct=change, least_pct=least, most_pct=most)


def _key(settings: RowSettings) -> str:
    return json.dumps({**settings}, sort_keys=True)
