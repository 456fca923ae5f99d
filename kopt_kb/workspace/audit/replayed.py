"""Records of a journal timed again by a judge of this machine, on a GPU of the same product."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import ClassVar

from kopt_kb.base.errors import KoptError
from kopt_kb.base.wire import Wire
from kopt_kb.launch.candidate.answers import Timing
from kopt_kb.launch.judge.contest import ContestResult, contest
from kopt_kb.launch.judge.judges import judges
from kopt_kb.launch.kernel.declared import packaged_reference
from kopt_kb.sandbox.owned import owned_folder
from kopt_kb.wiki.devices import product_of
from kopt_kb.wiki.registry import Registry
from kopt_kb.workspace.audit.findings import AuditFinding
from kopt_kb.workspace.audit.timings import last_timing, unpacked
from kopt_kb.workspace.journal.blobs import ObjectStore
from kopt_kb.workspace.journal.events import Event
from kopt_kb.workspace.state import WorkspaceState

__all__ = ["TimedAgain", "TimedShape", "replay_findings", "timed_again"]

_AGREE = 5 / 4
"""Factor within which times of two cards of one product count as the same: clocks and power differ."""


@dataclass(frozen=True, slots=True)
class TimedShape(Wire):
    """One shape of a version: seconds that its record says, those of now, and the ratio of the first to the second."""

    shape: str
    recorded_s: float
    now_s: float
    ratio: float


@dataclass(frozen=True, slots=True)
class TimedAgain(Wire):
    """What a replay came to.

    Attributes:
        version: The version whose records were replayed.
        device: Where; empty where nothing was timed.
        shapes: Each shape.
        why_not: Why nothing was timed again here; empty where it was.
        problem: What the replay found against the records; empty where they hold.
    """

    WIRE: ClassVar = ("version", "device", "shapes", "why_not", "problem")
    version: str
    device: str = ""
    shapes: tuple[TimedShape, ...] = ()
    why_not: str = ""
    problem: str = ""

    @property
    def holds(self) -> bool:
        """Whether every shape was timed again here and took what its record says."""
        return bool(self.shapes) and not (self.why_not or self.problem)

    def __str__(self) -> str:
        if self.why_not:
            return f"not timed again here: {self.why_not}"
        times = ", ".join(f"{one.shape} {one.ratio:.3f}" for one in self.shapes)
        return f"{self.version} timed again here on {self.device}, recorded time over this one: {times}"


def timed_again(events: tuple[Event, ...], state: WorkspaceState, store: ObjectStore, registry: Registry) -> TimedAgain:
    """Replay the records that the best version's last timing rests on, and its incumbent's.

    No Python of the workspace runs and its own reference is not used: a judge loads code objects, the package's
    reference compares.
    """
    best = state.best
    if best is None:
        return TimedAgain("", why_not="no version was accepted")
    file = (
        None
        if state.task.project is not None or state.problem.own is not None
        else packaged_reference(state.problem.op)
    )
    if file is None:
        return TimedAgain(best.name, why_not="the package has no reference that could judge its results")
    timing = last_timing(events, store, best.name)
    named = timing.basis.records if timing is not None and timing.basis is not None else {}
    if timing is None or not named:
        return TimedAgain(best.name, why_not="its times rest on no launch record")
    try:
        with owned_folder("kb-audit-replay-") as folder:
            sides = {
                side: {shape: unpacked(named[f"{side} {shape}"], store, folder / side / str(at))
                       for at, shape in enumerate(timing.shapes)}
                for side in ("incumbent", "candidate")
            }  # fmt: skip
            result = _contest(file, sides["incumbent"], sides["candidate"])
    except KeyError as error:
        return TimedAgain(best.name, why_not=f"no launch record of {error.args[0]} is named")
    except KoptError as error:
        return TimedAgain(best.name, why_not=f"{error.where}: {error.what}".removeprefix(": "))
    return _judged(best.name, timing, result, state, registry)


def replay_findings(again: TimedAgain | None) -> tuple[AuditFinding, ...]:
    """Return the finding that a replay is, if it is one."""
    if again is None or not again.problem:
        return ()
    fix = "time the version again; its records do not stand on this machine"
    return (
        AuditFinding("replay", "journal.jsonl", 0, f"{again.version} replayed on {again.device}: {again.problem}", fix),
    )


def _contest(reference: Path, incumbent: Mapping[str, Path], candidate: Mapping[str, Path]) -> ContestResult:
    with judges(reference) as made:
        return contest(made, incumbent, candidate)


def _judged(
    version: str, timing: Timing, result: ContestResult, state: WorkspaceState, registry: Registry
) -> TimedAgain:
    device = result.clock.device.name if result.clock is not None else ""
    if result.verdict in {"wrong", "fault"}:
        return TimedAgain(version, device or "this GPU", problem=result.reason)
    if result.clock is None or not result.shapes:
        return TimedAgain(version, why_not=result.reason)
    product = product_of(registry, device)
    if product != state.created.platform:
        wanted = state.created.platform
        return TimedAgain(version, why_not=f"the GPU here is {device}, {product or 'no product'}, and not {wanted}")
    shapes = []
    for one in result.shapes:
        recorded = median(sample.median_s for sample in timing.shapes[one.shape]["candidate"])
        shapes.append(TimedShape(one.shape, recorded, one.candidate_s, recorded / one.candidate_s))
    far = next((one for one in shapes if not 1 / _AGREE <= one.ratio <= _AGREE), None)
    problem = (
        f"{far.shape} takes {far.now_s:.4g} s here, its record says {far.recorded_s:.4g} s" if far is not None else ""
    )
    return TimedAgain(version, device, tuple(shapes), problem=problem)
