"""Two records of one problem held against each other in blocks, each in fresh processes.

`regression.py` decides whether a revision is slower, `difference.py` which of two kernels is faster.

Records whose steps are equal and whose code objects a driver can't tell apart are one kernel: nothing is timed.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Literal

from kopt_kb.base.errors import BadInput, FindingError, MissingTool
from kopt_kb.base.wire import Sha256, Wire, canonical
from kopt_kb.launch.judge.difference import DifferenceTest
from kopt_kb.launch.judge.judges import FaultError, Judges, fit_for_a_contest
from kopt_kb.launch.judge.pairs import Pair, TimingPlan, WrongError, planned
from kopt_kb.launch.judge.regression import BLOCKS, REGRESSION, BlockInterval, QuadBlock, RegressionTest, SelfRatio
from kopt_kb.launch.judge.sequential import MOST_DROPPED
from kopt_kb.launch.recompile.loadable import fingerprint
from kopt_kb.launch.record.driver import Device
from kopt_kb.launch.record.judge import stored
from kopt_kb.launch.record.model import Launch

__all__ = ["ComparedKernel", "KernelVerdict", "compare_records", "difference_of", "is_same_kernel"]

KernelVerdict = Literal[
    "regression", "no_regression", "faster", "slower", "same", "undecided", "equal", "wrong", "fault"
]
"""Beside the tests' outcomes: `equal` steps and code, which are not timed; the head's result is `wrong`, or its kernel
is at `fault`. What goes wrong with the base, the clock or the time leaves a kernel undecided."""

_FIRST = (12, 6)
"""Quads of the first block: head against base, base against itself."""

_PAIRED = (6, 0)
"""Likewise where nothing is asked of the base itself: blocks differ by more than their quads leave open."""

_CALM = 0.015
"""Deviation of a quad up to which every block has as many."""

_MOST_QUADS, _ITSELF = 32, 0.4
"""Most quads of head against base in a block where they deviate by more; quads of the base against itself for each."""

_MOST_REFUSED = 32
"""Quads whose events disagree with the host's clock, above which nothing is said."""


@dataclass(frozen=True, slots=True)
class ComparedKernel(Wire):
    """What was seen of two revisions of a kernel.

    Attributes:
        verdict: See `KernelVerdict`.
        reason: Why, with numbers.
        ratio: Time of the head over that of the base; None without a look.
        looks: Interval of the log ratio at each look.
        floor: What the base gains over itself; None without two blocks.
        base_s: Median time of a launch; None where nothing was timed.
        head_s: Likewise.
        chain: Launches of a chain, an empty one subtracted; 0: launches were timed one by one.
        blocks: What was measured.
        dropped: Quads spoiled by the clock.
        refused: Quads whose events disagreed with this program's clock.
        seconds: What it took.
        device: The device; None where nothing was timed.
    """

    WIRE: ClassVar = (
        "verdict", "reason", "ratio", "looks", "floor", "base_s", "head_s", "chain", "dropped", "refused", "seconds",
        "device", "blocks",
    )  # fmt: skip
    verdict: KernelVerdict
    reason: str
    ratio: float | None = None
    looks: tuple[BlockInterval, ...] = ()
    floor: SelfRatio | None = None
    base_s: float | None = None
    head_s: float | None = None
    chain: int = 0
    blocks: tuple[QuadBlock, ...] = ()
    dropped: int = 0
    refused: int = 0
    seconds: float = 0.0
    device: Device | None = None


def is_same_kernel(base: Path, head: Path) -> bool:
    """Return whether two stored records are of equal steps whose code objects a driver can't tell apart."""
    return _identity(base) == _identity(head)


def _identity(folder: Path) -> bytes:
    """Return a record without what names it, its code objects by what a driver may use of them."""
    record, code = stored(folder)
    seen = {digest: Sha256(fingerprint(code(digest))) for digest in record.codes}
    steps = tuple(replace(one, code=seen[one.code]) if isinstance(one, Launch) else one for one in record.steps)
    bare = replace(record, label="", steps=steps, codes={}, sources={}, versions={}, host=(), requests=None)
    return canonical(bare.to_json())


def compare_records(
    judges: Judges, base: Path, head: Path, *, kernels: int = 1, regression: float = REGRESSION, seconds: float = 60.0
) -> ComparedKernel:
    """Return whether the head is slower than the base.

    Args:
        judges: Children with the reference that judges both; each block has fresh ones.
        base: Folder of a record.
        head: Folder of a record of the same problem.
        kernels: Kernels that are timed in this run, whose false alarms count together.
        regression: Log ratio that is looked for.
        seconds: After which no block is begun that would not end in time.

    Raises:
        BadInput: The problems differ, or a record can't be judged.
        MissingTool: No GPU, or something is not installed.
        FindingError: The reference fails.
    """
    _check(base, head)
    return _Comparison(judges, base, head, RegressionTest(kernels, regression), seconds, _FIRST).result()


def difference_of(
    judges: Judges, base: Path, head: Path, *, threshold: float = 0.0, seconds: float = 60.0
) -> ComparedKernel:
    """Return which of two records is faster, by a log ratio of `threshold`; the rest as `compare_records`."""
    _check(base, head)
    return _Comparison(judges, base, head, DifferenceTest(threshold), seconds, _PAIRED).result()


def _check(base: Path, head: Path) -> None:
    records = [fit_for_a_contest(folder) for folder in (base, head)]
    if len({(one.op, one.shape, one.dtype, one.target) for one in records}) != 1:
        said = " and ".join(f"{one.op} {one.shape} {one.dtype} {one.target}" for one in records)
        raise BadInput(f"the records are of two problems: {said}", where=str(head), fix="record one", code="KB102")


class _Comparison:
    def __init__(
        self, judges: Judges, base: Path, head: Path, test: RegressionTest | DifferenceTest, seconds: float,
        counts: tuple[int, int],
    ) -> None:  # fmt: skip
        self._judges, self._test, self._seconds = judges, test, seconds
        self._folders: Mapping[str, Path] = {"base": base, "head": head}
        self._plan: TimingPlan | None = None
        self._counts = counts
        self._times: dict[str, list[float]] = {"base": [], "head": []}
        self._counted = self._dropped = self._refused = 0
        self._longest_s = self._quad_s = 0.0
        self._swapped = False
        self._device: Device | None = None
        self._began = judges.now_s()

    def result(self) -> ComparedKernel:
        """Measure until the test has an outcome, something ends it, or no time is left."""
        verdict, reason = self._ended()
        test = self._test
        medians = {name: statistics.median(one) if one else None for name, one in self._times.items()}
        return ComparedKernel(
            verdict, reason, math.exp(test.looked[-1].mean) if test.looked else None, tuple(test.looked),
            test.floor if len(test.blocks) > 1 else None, medians["base"], medians["head"],
            self._plan.chain if self._plan else 0, tuple(test.blocks), self._dropped, self._refused,
            self._judges.now_s() - self._began, self._device,
        )  # fmt: skip

    def _ended(self) -> tuple[KernelVerdict, str]:
        try:
            left = self._measured()
        except (WrongError, FaultError) as error:
            said = f"{error.where}: {error.what}"
            if error.where != "head":
                return "undecided", said
            return "wrong" if isinstance(error, WrongError) else "fault", said
        except MissingTool:
            raise
        except FindingError as error:
            if error.error_code == "KB453":  # the reference, which is nobody's side
                raise
            return "fault" if error.where == "head" else "undecided", f"{error.where}: {error.what}"
        return self._test.outcome or "undecided", left or self._words()

    def _measured(self) -> str:
        """Add blocks until the test has an outcome; return why it has none."""
        while self._test.outcome is None:
            begin = self._judges.now_s()
            if begin - self._began + self._longest_s > self._seconds:
                return f"{len(self._test.blocks)} of {BLOCKS[-1]} blocks in {self._seconds:g} s: {self._words()}"
            block = self._block()
            if block is None:
                return f"{self._dropped} quads were spoiled by the clock, events of {self._refused} disagree with it"
            self._test.add(block)
            self._longest_s = max(self._longest_s, self._judges.now_s() - begin)
            if len(self._test.blocks) == 1 and block.itself:
                self._counts = self._planned_counts(block)
        return ""

    def _planned_counts(self, first: QuadBlock) -> tuple[int, int]:
        """Return the quads of the other blocks: as many as there is time for where they deviate much.

        From the scatter of the first block's quads and what they took, and not from their mean.
        """
        both = [statistics.pvariance(one) for one in (first.head, first.itself)]
        if math.sqrt(statistics.fmean(both)) <= _CALM:
            return _FIRST
        fixed = max(0.0, self._longest_s - sum(_FIRST) * self._quad_s)
        room = (self._seconds - self._longest_s) / (BLOCKS[-1] - 1) - fixed
        fits = int(room / (1 + _ITSELF) / max(self._quad_s, 1e-9))
        head = max(_FIRST[0] // 2, min(fits, _MOST_QUADS))
        self._longest_s = fixed + (1 + _ITSELF) * head * self._quad_s
        return head, max(4, int(_ITSELF * head))

    def _block(self) -> QuadBlock | None:
        """Measure a block in fresh processes; None where too many quads are spoiled."""
        self._judges.refresh()
        self._swapped = not self._swapped
        order = ("head", "base") if self._swapped else ("base", "head")
        values = []
        for names, count in ((order, self._counts[0]), (("base", "base"), self._counts[1])):
            if not count:
                continue
            with self._pair(names) as pair:
                found = self._quads(pair, names, count)
            if found is None:
                return None
            values.append(found)
        sign = -1 if self._swapped else 1
        return QuadBlock(self._swapped, tuple(sign * one for one in values[0]), tuple(*values[1:]))

    @contextmanager
    def _pair(self, names: tuple[str, str]) -> Iterator[Pair]:
        """Load two revisions, planned at their first time; what happens in them is at the revision, not at a side."""
        folders = (self._folders[names[0]], self._folders[names[1]])
        made = planned(self._judges, folders) if self._plan is None else Pair.of(self._judges, folders, self._plan)
        try:
            with made as pair:
                self._plan = pair.plan
                self._device = self._judges.device("candidate")
                pair.settle()
                yield pair
        except FindingError as error:
            named = {"incumbent": names[0], "candidate": names[1]}
            error.where = named.get(error.where, error.where)
            raise

    def _quads(self, pair: Pair, names: tuple[str, str], count: int) -> list[float] | None:
        values: list[float] = []
        begin = self._judges.now_s()
        while len(values) < count:
            quad = pair.quad()
            if quad.disagrees or quad.spoiled:
                self._refused += quad.disagrees
                self._dropped += not quad.disagrees
                lost = MOST_DROPPED * max(sum(_FIRST), self._counted + self._dropped)
                if self._dropped > lost or self._refused > _MOST_REFUSED:
                    return None
                continue
            values.append(quad.value)
            self._counted += 1
            if names[0] != names[1]:
                for name, side in zip(names, ("incumbent", "candidate"), strict=True):
                    self._times[name] += quad.times_s[side]
        self._quad_s = max(self._quad_s, (self._judges.now_s() - begin) / count)
        return values

    def _words(self) -> str:
        test = self._test
        if not test.looked:
            return "too few for a look"
        last, floor = test.looked[-1], test.floor
        text = f"{_pct(last.mean)} ({_pct(last.low)} to {_pct(last.high)}) after {last.blocks} blocks"
        return text if floor is None else f"{text}; over itself {_pct(floor.mean)} (± {100 * floor.error:.3f} %)"


def _pct(ratio: float) -> str:
    """Return a log ratio as a change of time in percent."""
    return f"{100 * math.expm1(ratio):+.3f} %"
