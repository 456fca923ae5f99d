"""What a candidate's own launcher did when it was run once, caged: the request's expectation and the answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from kopt_kb.base.wire import Wire

__all__ = ["DID_ONCE", "ExpectedRun", "LauncherContent", "LauncherRun", "LauncherTime", "LauncherWord", "launcher_says"]

LauncherWord = Literal["confirmed", "simulated", "no", ""]
"""Whether a version's own launcher was seen to do what its record does: once on a GPU; its results alone, on Triton's
interpreter; not seen; empty: recorded before anybody asked."""

DID_ONCE = "did once, caged, what its record does"
"""All that a confirmed launcher shows."""


def launcher_says(word: LauncherWord) -> str:
    """Return a word as reports say it."""
    says = {
        "confirmed": f"confirmed: it {DID_ONCE}",
        "simulated": "simulated: its results alone, on Triton's interpreter",
        "no": "no",
        "": "no, recorded before",
    }
    return f"launcher: {says[word]}"


@dataclass(frozen=True, slots=True)
class ExpectedRun(Wire):
    """What the record of one shape does.

    Attributes:
        kernels: Entry → launches of it.
        others: Fills and copies.
        least_s: Shortest time of the record in the contest, seconds; None: it was not timed.
        most_s: Longest likewise.
        is_new: Whether the shape is none of the problem's.
    """

    kernels: Mapping[str, int]
    others: int = 0
    least_s: float | None = None
    most_s: float | None = None
    is_new: bool = False


@dataclass(frozen=True, slots=True)
class LauncherContent(Wire):
    """Inputs that the judge drew: shape, trial by the operation's name, seed; whether the shape is new."""

    shape: str
    trial: str
    seed: int
    is_new: bool


@dataclass(frozen=True, slots=True)
class LauncherTime(Wire):
    """Seconds of one call.

    Attributes:
        median_s: Device time between two events, caches cold.
        least_s: Least that was accepted: half of the record's shortest time.
        most_s: Most that was accepted: the record's longest time with what another process may add.
        host_s: Host time of a call by the judge's clock, without waiting for the device.
        call_s: Time of a call in a chain by the judge's clock.
    """

    median_s: float
    least_s: float
    most_s: float
    host_s: float
    call_s: float


@dataclass(frozen=True, slots=True)
class LauncherRun(Wire):
    """What became of a launcher's run.

    Attributes:
        outcome: What it shows.
        problem: What it did otherwise than its record; empty when nothing.
        reason: Why it shows no more; empty when it is confirmed.
        is_own: Whether the file has a launcher; a header's launch is nothing but the record.
        device: Where it ran.
        contents: Inputs whose results were compared.
        launches: Shape → launches counted.
        times: Shape → what a call took.
        seconds: Step of the run → seconds it took in all.
    """

    outcome: Literal["confirmed", "simulated", "no"]
    problem: str = ""
    reason: str = ""
    is_own: bool = True
    device: str = ""
    contents: tuple[LauncherContent, ...] = ()
    launches: Mapping[str, int] = field(default_factory=dict)
    times: Mapping[str, LauncherTime] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
