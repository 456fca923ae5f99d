"""What share of a roof a time is, and what a time was before: the judgements behind the pytest fixtures."""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kopt_kb.analysis.roofline.reach import reach
from kopt_kb.analysis.roofline.roofline import roofline
from kopt_kb.base.errors import BadInput, FindingError, UnknownData
from kopt_kb.base.wire import Wire, WireError, read
from kopt_kb.launch.kernel import timing
from kopt_kb.packs.inline import codes
from kopt_kb.problem.work import work
from kopt_kb.quantity.units import parse_duration
from kopt_kb.wiki.registry import Registry

if TYPE_CHECKING:
    from kopt_kb.analysis.roofline.reach import Reach

__all__ = ["Baseline", "TimedShare", "roof_share", "seconds_of"]

ShareTimer = Callable[[Callable[[], object]], float]
"""Times a callable; returns seconds."""

_ABOVE = 1.05
"""A time this far below the least time of the roof was not the time of this work."""


def seconds_of(what: object, timer: ShareTimer | None = None) -> float:
    """Return the seconds of a time, of a text such as `52us`, or of a callable that is timed.

    Args:
        what: Seconds, a text with its unit, or a callable that launches the work.
        timer: Times a callable; None: CUDA events with a cold L2, median of 30 runs.

    Raises:
        BadInput: It is none of these, or no positive time.
        MissingTool: A callable, and no torch or no GPU.
    """
    if isinstance(what, str):
        return parse_duration(what)
    if callable(what):
        found = (timer or _on_gpu)(what)
    elif isinstance(what, int | float) and not isinstance(what, bool):
        found = float(what)
    else:
        fix = "give seconds, a text such as 52us, or a callable"
        raise BadInput(f"{what!r} is no time", where="assert_roofline", fix=fix, code="KB105")
    if not 0 < found < float("inf"):
        raise BadInput(f"{found!r} s is not a duration", where="assert_roofline", fix="measure again", code="KB097")
    return found


def _on_gpu(function: Callable[[], object]) -> float:
    return statistics.median(timing.measure([function], rounds=30)[0])


def roof_share(
    time_s: float,
    *,
    platform: str,
    op: str,
    shape: object,
    dtype: str,
    share: float,
    basis: str = "documented",
    **options: str,
) -> float:
    """Return the share of the roof that a time reaches.

    Args:
        time_s: In seconds.
        platform: The exact product.
        op: Operation id.
        shape: Text such as `8192x4096`, or extents.
        dtype: Storage type.
        share: The least share that is good enough, of 1.
        basis: Which roof: `documented`, `measured` by ourselves, or `reachable`, the best that anybody measured.
        **options: Of the operation.

    Raises:
        FindingError: The share is below, or the time is shorter than the roof allows.
        UnknownData: The roof is UNKNOWN.
        BadInput: An unknown product, operation or shape, or a share that is none.
    """
    if not 0 < share <= 1:
        raise BadInput(
            f"share {share!r}", where="assert_roofline", fix="give a number above 0, at most 1", code="KB105"
        )
    product = Registry.open().platform(platform)
    words = "x".join(map(str, shape)) if isinstance(shape, tuple | list) else str(shape)
    times = reach(roofline(work(op, words, dtype, **options), product), product)
    return _judged(time_s, times, basis, share, f"{op} {words} {dtype} on {product.id}")


def _judged(time_s: float, times: Reach, basis: str, share: float, what: str) -> float:
    """Return the share of a basis that a time reaches; raises what `roof_share` raises."""
    least, floor = times.of(basis), times.floor
    if least is None:
        fix = "`kb roofline` names the value; another basis is documented, measured or reachable"
        raise UnknownData(f"the {basis} roof is UNKNOWN", where=what, fix=fix, code="KB130")
    reached, source = least.seconds / time_s, "; ".join(least.citations)
    told = f"{time_s * 1e6:.3g} us, least is {least.seconds * 1e6:.3g} us under {least.roof} ({source})"
    if floor is not None and floor.seconds / time_s > _ABOVE:
        fix = "check what was timed, and that operands do not stay in a cache"
        raise FindingError(f"{reached:.0%} of the roof: {told}", where=what, fix=fix, code=codes.FASTER_THAN_THE_ROOF)
    if reached < share:
        fix = "`kb profile run` says what limits it"
        raise FindingError(
            f"{reached:.1%} of the roof, not {share:.1%}: {told}", where=what, fix=fix, code=codes.BELOW_THE_SHARE
        )
    return reached


@dataclass(frozen=True, slots=True)
class TimedShare(Wire):
    """A time of a baseline and the product that it is of; empty where nobody said it."""

    seconds: float
    platform: str = ""


@dataclass(frozen=True, slots=True)
class StoredTimes(Wire):
    """The file of a baseline: times by the name of their test."""

    version: int
    times: dict[str, TimedShare]


@dataclass(slots=True)
class Baseline:
    """Times by name in a file.

    Attributes:
        file: Its path.
        times: Name of a test → time.
    """

    file: Path
    times: dict[str, TimedShare]

    @classmethod
    def at(cls, file: Path) -> Baseline:
        """Return what a file holds, nothing where there is none; raises `BadInput` for what is no baseline."""
        if not file.exists():
            return cls(file, {})
        try:
            stored = read(StoredTimes, json.loads(file.read_text(encoding="utf-8")), where=str(file))
        except (ValueError, WireError) as error:
            fix = "name a file of --kopt-update-baseline"
            raise BadInput("is no baseline", where=str(file), fix=fix, code="KB116") from error
        return cls(file, dict(stored.times))

    def write(self) -> None:
        """Write the file as a whole."""
        body = StoredTimes(1, dict(sorted(self.times.items()))).to_json()
        made = self.file.with_name(f".{self.file.name}.new")
        made.write_text(json.dumps(body, indent=1) + "\n", encoding="utf-8")
        made.replace(self.file)

    def check(self, name: str, now: TimedShare, tolerance_pct: float) -> float:
        """Return the change in percent of the time before.

        Raises:
            FindingError: It takes longer by more than the tolerance, or there is no time before.
            BadInput: The time before is of another product.
        """
        before = self.times.get(name)
        if before is None:
            fix = "run with --kopt-update-baseline to take up its time"
            raise FindingError(f"{self.file} has no time of it", where=name, fix=fix, code=codes.NO_EARLIER_TIME)
        if before.platform != now.platform:
            what = f"{before.platform or 'no product'} and {now.platform or 'no product'}: times of different products"
            raise BadInput(f"{what} are never compared", where=name, fix="keep a baseline a product", code="KB208")
        change = 100 * (now.seconds / before.seconds - 1)
        if change > tolerance_pct:
            what = f"{change:.1f} % slower: {now.seconds * 1e6:.4g} us after {before.seconds * 1e6:.4g} us"
            fix = "find the change, or take the new time with --kopt-update-baseline"
            raise FindingError(f"{what}, allowed are {tolerance_pct:g} %", where=name, fix=fix, code=codes.REGRESSION)
        return change
