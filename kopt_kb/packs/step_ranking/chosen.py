"""Steps of a trace, and the median one: as the profiler, the program or the order of the kernels mark them."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from kopt_kb.base.errors import BadInput
from kopt_kb.packs.step_ranking.joined import Joined
from kopt_kb.packs.step_ranking.recorded import MarkedRange, Recorded

__all__ = ["Chosen", "choose_step"]

_PROFILER = re.compile(r"ProfilerStep#?\s*\d*$")
_DIGITS = re.compile(r"\d+")
_NO_STEP = re.compile(r"^(?:nccl|rccl|gloo)|^##|^Optimizer\.|^DataLoader|^PyTorch Profiler")
_MOST_OF = 0.6
_SAME = 0.9
_MIN_SEQUENCE = 8
_Window = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Chosen:
    """The median step.

    Attributes:
        name: What marks it.
        how: How steps were found, in words.
        found: How many there are with work of a GPU.
        length: Of the chosen one, in ns on the host; that of its GPU work where nothing marks it on the host.
        events: Its events, by number.
    """

    name: str
    how: str
    found: int
    length: int
    events: tuple[int, ...]


def choose_step(recorded: Recorded, joined: Joined, wanted: re.Pattern[str] | None = None) -> Chosen:
    """Return the step whose GPU time is the median of all.

    Args:
        recorded: The trace.
        joined: Its events with their launches.
        wanted: Pattern of the name of ranges that are steps; None: they are found.

    Raises:
        BadInput: No range has that name, or no step has work of a GPU.
    """
    times = _moments(recorded, joined)
    if wanted is not None:
        ranges = [one for one in recorded.ranges if wanted.search(one.name)]
        if not ranges:
            known = ", ".join(dict.fromkeys(one.name[:40] for one in recorded.ranges[:6])) or "none"
            raise BadInput("no range has that name", where="--range", fix=f"ranges of the trace: {known}", code="KB105")
        return _median(_windows(ranges), times, recorded, f"ranges that match {wanted.pattern}")
    ranges = [one for one in recorded.ranges if _PROFILER.match(one.name)]
    if ranges:
        return _median(_windows(ranges), times, recorded, "ProfilerStep ranges")
    named = _named(recorded, times)
    if named:
        return _median(_windows(named), times, recorded, "ranges that the program marked")
    if repeated := _repeated(recorded):
        starts = [one.start for one in recorded.events]
        what = "the order of kernels repeats itself"
        return _median([(f"repetition {at}", one) for at, one in enumerate(repeated)], starts, recorded, what)
    whole = (min(one for one in times if one != -_NEVER), max(times) + 1)
    return _median([("the whole trace", whole)], times, recorded, "nothing marks a step: all of the trace is one")


def _moments(recorded: Recorded, joined: Joined) -> list[int]:
    """Return when each event was launched; it belongs to no step where that was before the recording began.

    An event whose call is missing counts by its own start; before the first whose call is known, it is a rest of work
    that nobody saw being launched.
    """
    both = list(zip(recorded.events, joined.launches, strict=True))
    first = min((one.start for one, launch in both if launch is not None), default=-_NEVER)
    return [
        launch.start if launch is not None else one.start if one.start >= first else -_NEVER for one, launch in both
    ]


_NEVER = 1 << 62


def _windows(ranges: list[MarkedRange]) -> list[tuple[str, _Window]]:
    """Return names and spans of ranges of the host; where there are none, of those around the GPU's work."""
    host = [one for one in ranges if not one.on_device]
    return [(one.name, (one.start, one.end)) for one in sorted(host or ranges, key=lambda one: one.start)]


def _median(windows: list[tuple[str, _Window]], times: list[int], recorded: Recorded, how: str) -> Chosen:
    held: list[tuple[int, str, _Window, tuple[int, ...]]] = []
    order = sorted(range(len(times)), key=times.__getitem__)
    moments = [times[one] for one in order]
    for name, (start, end) in windows:
        inside = tuple(sorted(order[bisect_left(moments, start) : bisect_left(moments, end)]))
        if inside:
            held.append((_busy(recorded, inside), name, (start, end), inside))
    if not held:
        fix = "record steps in which the GPU works, or name another range with --range"
        raise BadInput("no step has work of a GPU", where=how, fix=fix, code="KB205")
    held.sort(key=lambda one: one[0])
    _, name, (start, end), inside = held[(len(held) - 1) // 2]
    return Chosen(name, how, len(held), end - start, inside)


def _busy(recorded: Recorded, events: Iterable[int]) -> int:
    return sum(recorded.events[one].end - recorded.events[one].start for one in events)


def _named(recorded: Recorded, times: list[int]) -> list[MarkedRange]:
    """Return the ranges of one name, numbers aside, that most of the GPU's work stands in; the shortest name's."""
    groups: dict[str, list[MarkedRange]] = {}
    for one in recorded.ranges:
        if not one.on_device and not _NO_STEP.search(one.name):
            groups.setdefault(_DIGITS.sub("#", one.name), []).append(one)
    whole = _busy(recorded, range(len(times)))
    best: tuple[int, int, list[MarkedRange]] | None = None
    for ranges in groups.values():
        spans = [(one.start, one.end) for one in ranges]
        inside = _busy(recorded, (at for at, moment in enumerate(times) if any(a <= moment < b for a, b in spans)))
        if len(ranges) <= _FEW and inside >= _MOST_OF * whole and (best is None or (len(ranges), inside) > best[:2]):
            best = (len(ranges), inside, ranges)
    return best[2] if best else []


_FEW = 200
"""Ranges of one name beyond which they are parts of a step and no steps."""


def _repeated(recorded: Recorded) -> list[_Window]:
    """Return spans between repetitions of the kernel that is rarest among those that come again."""
    kernels = sorted((one for one in recorded.events if one.category == "kernel"), key=lambda one: one.start)
    counts = Counter(one.name for one in kernels)
    names = [one.name for one in kernels]
    anchors = sorted((count, name) for name, count in counts.items() if count >= 3)
    for _, anchor in anchors[:_MIN_SEQUENCE]:
        at = [place for place, name in enumerate(names) if name == anchor]
        period = at[1] - at[0]
        pairs = list(zip(names[at[0] :], names[at[0] + period :], strict=False))
        if period >= _MIN_SEQUENCE and sum(a == b for a, b in pairs) >= _SAME * len(pairs):
            starts = [kernels[place].start for place in range(at[0], len(kernels), period)]
            return list(pairwise(starts))
    return []
