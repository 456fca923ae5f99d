"""What a torch trace says of the host: operators with their shapes, launch calls, ranges; and each event of a GPU."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from kopt_kb.analysis.profile import ReportSource
from kopt_kb.analysis.profile.events import EventLog
from kopt_kb.analysis.readers.trace.chrome import chrome_log

__all__ = ["DeviceEvent", "HostThread", "MarkedRange", "OpCall", "Recorded", "read_recorded"]

_WORK = frozenset({"kernel", "gpu_memcpy", "memcpy", "gpu_memset", "memset"})
_CALLS = frozenset({"cuda_runtime", "cuda_driver", "runtime", "hip_runtime", "hip_driver"})
_OPS = frozenset({"cpu_op", "operator"})
_RANGES = frozenset({"user_annotation", "gpu_user_annotation"})
_DETAILS = ("Input Dims", "Input type", "Input Strides", "Concrete Inputs")
_COLLECTIVE = ("Collective name", "dtype", "In msg nelems", "Out msg nelems", "Group size")


class OpCall(NamedTuple):
    """One way in which an operator was called: what all its calls of this form share.

    Attributes:
        name: Operator, such as `aten::mm`.
        dims: `Input Dims` as recorded; empty without record_shapes=True.
        types: `Input type`.
        strides: `Input Strides`; empty in older traces.
        concrete: `Concrete Inputs`: values of what is no tensor.
        facts: Of a collective: its name, type, elements taken and given, size of the group; empty for all else.
    """

    name: str
    dims: tuple[Any, ...] = ()
    types: tuple[Any, ...] = ()
    strides: tuple[Any, ...] = ()
    concrete: tuple[Any, ...] = ()
    facts: tuple[Any, ...] = ()


class DeviceEvent(NamedTuple):
    """A kernel, copy or fill; times in ns, `moved` in bytes (of copies and fills)."""

    start: int
    end: int
    name: str
    category: str
    correlation: int
    external: int
    moved: int


class MarkedRange(NamedTuple):
    """A range that the program or the profiler marked; `on_device` where it was drawn around the GPU's work."""

    name: str
    start: int
    end: int
    thread: tuple[Any, Any]
    on_device: bool


@dataclass(slots=True)
class HostThread:
    """Operators (start, end, number of the call, external id) and launch calls (start, end, correlation, name)."""

    ops: list[tuple[int, int, int, int]] = field(default_factory=list)
    launches: list[tuple[int, int, int, str]] = field(default_factory=list)


@dataclass(slots=True)
class Recorded:
    """A trace.

    Attributes:
        log: Events of the GPUs, for their timelines.
        calls: Forms of calls, by number.
        events: Kernels, copies and fills.
        threads: By process and thread.
        ranges: Marked ranges.
        shaped: Operators with shapes.
    """

    log: EventLog = field(default_factory=lambda: EventLog(ReportSource("", "chrome-trace", "", "nvidia")))
    calls: dict[OpCall, int] = field(default_factory=dict)
    events: list[DeviceEvent] = field(default_factory=list)
    threads: dict[tuple[Any, Any], HostThread] = field(default_factory=dict)
    ranges: list[MarkedRange] = field(default_factory=list)
    shaped: int = 0
    _forms: dict[tuple[str, str], int] = field(default_factory=dict)

    def watch(self, category: str, event: Mapping[str, object], span: tuple[int, int]) -> None:
        """Take a complete event of the trace."""
        args = event.get("args")
        details: Mapping[str, object] = args if isinstance(args, dict) else {}
        if category in _OPS:
            self._op(event, details, span)
        elif category in _WORK:
            self._work(category, event, details, span)
        elif category in _CALLS:
            launch = (*span, _number(details.get("correlation")), str(event.get("name", "")))
            self._thread(event).launches.append(launch)
        elif category in _RANGES:
            name, thread = str(event.get("name", "")), (event.get("pid"), event.get("tid"))
            self.ranges.append(MarkedRange(name, *span, thread, category.startswith("gpu")))

    def _thread(self, event: Mapping[str, object]) -> HostThread:
        key = (str(event.get("pid")), str(event.get("tid")))
        found = self.threads.get(key)
        if found is None:
            found = self.threads[key] = HostThread()
        return found

    def _op(self, event: Mapping[str, object], details: Mapping[str, object], span: tuple[int, int]) -> None:
        name = str(event.get("name", ""))
        given = tuple(details.get(word) for word in _DETAILS) if "Input Dims" in details else ()
        facts = _frozen([details.get(one) for one in _COLLECTIVE]) if _COLLECTIVE[0] in details else ()
        form = (name, repr((given, facts)))
        number = self._forms.get(form)
        if number is None:
            call = OpCall(name, *(_frozen(one) if isinstance(one, list) else () for one in given))._replace(facts=facts)
            number = self._forms[form] = self.calls.setdefault(call, len(self.calls))
        self.shaped += bool(given)
        self._thread(event).ops.append((*span, number, _number(details.get("External id"))))

    def _work(
        self, category: str, event: Mapping[str, object], details: Mapping[str, object], span: tuple[int, int]
    ) -> None:
        moved = details.get("bytes")
        self.events.append(
            DeviceEvent(
                *span,
                str(event.get("name") or "unnamed"),
                category.removeprefix("gpu_"),
                _number(details.get("correlation")),
                _number(details.get("External id", details.get("external id"))),
                max(_number(moved), 0),
            )
        )


def read_recorded(path: Path) -> Recorded:
    """Return what a torch trace holds; raises `ReportError` for a damaged one, and one without work of a GPU."""
    found = Recorded()
    found.log = chrome_log(path, found.watch)
    return found


def _number(value: object) -> int:
    return value if isinstance(value, int) and 0 <= value < 1 << 62 else -1


def _frozen(values: list[object]) -> tuple[Any, ...]:
    """Return lists as tuples; an object in them says nothing of a tensor and becomes None."""
    return tuple(_frozen(one) if isinstance(one, list) else None if isinstance(one, dict) else one for one in values)
