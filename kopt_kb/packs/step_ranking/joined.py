"""Each event of a GPU joined to the call that launched it and the operators around that call."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field

from kopt_kb.packs.step_ranking.recorded import DeviceEvent, HostThread, Recorded

__all__ = ["Joined", "LaunchCall", "join"]

_NONE = -1


@dataclass(frozen=True, slots=True)
class LaunchCall:
    """A call of the host: start and end in ns, its name, and the innermost operator around it (-1: none)."""

    start: int
    end: int
    name: str
    op: int


@dataclass(slots=True)
class Joined:
    """Operators of all threads, numbered, and the launch of each event.

    Attributes:
        calls: Number of the call's form, by operator.
        parents: Operator around it, -1 for none.
        starts: Start of each operator, in ns.
        launches: Launch of each event of the trace, None where it has none.
        ops: Innermost operator of each event, -1 for none.
        repeated: Correlation numbers that several calls carry.
    """

    calls: list[int] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    launches: list[LaunchCall | None] = field(default_factory=list)
    ops: list[int] = field(default_factory=list)
    repeated: int = 0

    def chain(self, op: int) -> list[int]:
        """Return an operator and those around it, the innermost first."""
        found = []
        while op != _NONE:
            found.append(op)
            op = self.parents[op]
        return found


def join(recorded: Recorded) -> Joined:
    """Return operators and launches of a trace.

    A call is joined by its correlation number; where several calls carry the same, by the latest that began before the
    event did. An event whose call is not in the trace is joined by its external id.
    """
    found = Joined()
    launched: dict[int, list[LaunchCall]] = {}
    external: dict[int, int] = {}
    for thread in recorded.threads.values():
        _nest(thread, found, launched, external)
    for several in launched.values():
        if len(several) > 1:
            several.sort(key=lambda one: one.start)
            found.repeated += len({one.op for one in several}) > 1
    for event in recorded.events:
        launch = _launch(launched.get(event.correlation), event)
        found.launches.append(launch)
        op = launch.op if launch is not None else _NONE
        found.ops.append(external.get(event.external, _NONE) if op == _NONE else op)
    return found


def _launch(several: list[LaunchCall] | None, event: DeviceEvent) -> LaunchCall | None:
    if not several or event.correlation < 0:
        return None
    if len(several) == 1:
        return several[0]
    at = bisect_right([one.start for one in several], event.start)
    return several[at - 1] if at else None


def _nest(thread: HostThread, found: Joined, launched: dict[int, list[LaunchCall]], external: dict[int, int]) -> None:
    """Number a thread's operators, give each its parent, and each launch the operator that it stands in."""
    thread.ops.sort(key=lambda one: (one[0], -one[1]))
    thread.launches.sort()
    stack: list[tuple[int, int]] = []
    calls = iter(thread.launches)
    waiting = next(calls, None)
    for start, end, call, identifier in [*thread.ops, (1 << 63, 1 << 63, _NONE, _NONE)]:
        while waiting is not None and waiting[0] < start:
            _close(stack, waiting[0])
            launch = LaunchCall(waiting[0], waiting[1], waiting[3], stack[-1][1] if stack else _NONE)
            launched.setdefault(waiting[2], []).append(launch)
            waiting = next(calls, None)
        if call == _NONE:
            return
        _close(stack, start)
        number = len(found.calls)
        found.calls.append(call)
        found.parents.append(stack[-1][1] if stack else _NONE)
        found.starts.append(start)
        stack.append((end, number))
        if identifier >= 0:
            external[identifier] = number


def _close(stack: list[tuple[int, int]], moment: int) -> None:
    while stack and stack[-1][0] <= moment:
        stack.pop()
