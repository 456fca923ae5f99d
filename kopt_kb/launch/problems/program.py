"""What a program launches, by the calls of its functions, with a share of time estimated without a GPU."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from kopt_kb.analysis.ir.triton.model import IrError
from kopt_kb.analysis.roofline.roofline import roofline
from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import parse, read
from kopt_kb.launch.compile.request import Compilation
from kopt_kb.launch.counts.counting import count_compilation, work_of
from kopt_kb.launch.counts.device_facts import device_facts
from kopt_kb.launch.judge.makers import make_record
from kopt_kb.launch.record.request import MakerRequest, ScriptRequest
from kopt_kb.launch.record.statics import STATICS, StaticLaunch, Statics
from kopt_kb.quantity.quantity import Quantity
from kopt_kb.sandbox.owned import owned_folder
from kopt_kb.wiki.registry import Platform

__all__ = ["ProgramCall", "calls_of_program"]

_COUNT_S = 2.0
"""Seconds for counting one launch: an estimate is wanted, bounds by shape do."""


@dataclass(frozen=True, slots=True)
class ProgramCall:
    """A call of a function that launches kernels.

    Attributes:
        file: Where the function is; empty where no function above the launch can be called from outside.
        call: The call as `kb init --call` takes it; empty likewise.
        kernels: Kernels that it launches, each once.
        times: How often the program launched the first of them so.
        seconds: Least time of all its launches under the platform's roofs; None where one can't be counted.
    """

    file: str
    call: str
    kernels: tuple[str, ...]
    times: int
    seconds: float | None

    def is_named(self, name: str) -> bool:
        """Return whether a name is the function's or one of its kernels'."""
        return name in {self.call.partition("(")[0], *self.kernels}


def calls_of_program(program: ScriptRequest, platform: Platform) -> tuple[list[ProgramCall], str]:
    """Return what a program launches, longest first, and where it ended early (empty: it did not).

    Raises:
        BadInput: Nothing is launched.
        NotRecordedError: The program fails before its first launch.
        MissingTool: Triton, torch or a package of the program's is not installed.
    """
    identity, what = platform.identity, replace(program, calls=True)
    asked = MakerRequest(what, identity.target, identity.platform, device_facts(platform), "", statics=True)
    with owned_folder("kb-program-") as folder:
        record = make_record(asked, folder / "record")
        told = read(Statics, parse((folder / "record" / STATICS).read_bytes(), where=STATICS), where=STATICS)
    ended = [one for one in record.not_replayable.split("; ") if one.startswith("the program")]
    groups: dict[tuple[str, str, str], list[StaticLaunch]] = {}
    for one in told.launches:
        groups.setdefault((one.file, one.call, "" if one.call else one.compilation.name), []).append(one)
    found = [_of(launches, platform) for launches in groups.values()]
    return sorted(found, key=lambda one: -(one.seconds or 0.0)), "; ".join(ended)


def _of(launches: list[StaticLaunch], platform: Platform) -> ProgramCall:
    first = launches[0]
    return ProgramCall(
        first.file, first.call, tuple(dict.fromkeys(one.compilation.name for one in launches)), first.times,
        _sum(_seconds(one.compilation, platform, one.times) for one in launches),
    )  # fmt: skip


def _sum(parts: Iterable[float | None]) -> float | None:
    total = 0.0
    for one in parts:
        if one is None:
            return None
        total += one
    return total


def _seconds(compilation: Compilation, platform: Platform, times: int) -> float | None:
    """Return the longest of a launch's least times under the roofs that are known."""
    try:
        counted = count_compilation(compilation, max_seconds=_COUNT_S)
        done = work_of(counted, counted.kernel.executed[0].dtype if counted.kernel.executed else "fp32")
        roofs = roofline(done, platform).times().values()
    except (IrError, BadInput):
        return None
    known = [float(one.si) for one in roofs if isinstance(one, Quantity)]
    return times * max(known) if known else None
