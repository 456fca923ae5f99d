"""Which shapes no row of a tuned table serves: from a torch trace with shapes, by time, or from an engine's log."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from kopt_kb.analysis.readers.common.json_stream import JsonStream
from kopt_kb.base.errors import BadInput
from kopt_kb.base.files import open_input
from kopt_kb.base.wire import Wire
from kopt_kb.doors.table import behind
from kopt_kb.doors.table_form import TableForm
from kopt_kb.packs.tables.devices import DeviceNames
from kopt_kb.problem.tuned_table import TunedRow, TunedTable

__all__ = ["MissedShape", "Misses", "misses"]

_FAR = 2
_MOST_LINE = 1 << 16
_ABSENT = re.compile(r"(?:onfig file not found at|Fallback to triton version \S+ and use \S+ \S+ \S+ from) (.+)")
_FILE = re.compile(r"[^/\\\s]*[A-Za-z]+=\d+(?:[^/\\]*?)\.json")
_AITER = re.compile(r"shape is (.*?),? not found tuned config in (\S+?),? will use")
_EXTENT = re.compile(r"\b([A-Za-z_]+):(\d+)")


@dataclass(frozen=True, slots=True)
class MissedShape(Wire):
    """A shape that no row serves, or only one that is far away.

    Attributes:
        what: Operation, or the file that the engine looked for.
        extents: By name.
        reason: Why it is missed, in one line.
        count: Calls, or lines of a log.
        seconds: Time on the GPU, in seconds; None where a log says none.
        share: Share of all time of kernels in the trace; None likewise.
        line: First line of a log that says so; 0 in a trace.
    """

    what: str
    extents: Mapping[str, int]
    reason: str
    count: int
    seconds: float | None = None
    share: float | None = None
    line: int = 0


@dataclass(frozen=True, slots=True)
class Misses(Wire):
    """What a log or a trace says.

    Attributes:
        file: It.
        device: Device of the trace; empty where it says none.
        shapes: Most time first, then most calls.
        served: Calls, or groups of them, whose shape has a row.
        tables: Tables that were looked into.
    """

    WIRE: ClassVar = ("file", "device", "tables", "served", "shapes")
    file: str
    device: str
    shapes: tuple[MissedShape, ...]
    served: int
    tables: int


def misses(path: Path, tables: Iterable[TunedTable], devices: DeviceNames) -> Misses:
    """Return the shapes of a log or a trace that no row serves.

    Args:
        path: Log of an engine, or trace of torch's profiler with shapes.
        tables: Tables that the engine reads; a log says itself what it did not find.
        devices: Products; tables of another product than the trace's are left out.

    Raises:
        BadInput: It is neither, or a trace without shapes.
    """
    with open_input(path) as stream:
        head = stream.read(64).lstrip()
    if head[:1] in {b"{", b"["} or head[:2] == b"\x1f\x8b":
        return _of_trace(path, tuple(tables), devices)
    return _of_log(path)


# ---- traces ------------------------------------------------------------------------------------


@dataclass
class _Ops:
    """Operations of a trace with their shapes, and the time of kernels by the operation that launched them."""

    calls: dict[int, tuple[str, tuple[tuple[int, ...], ...]]] = field(default_factory=dict)
    times: dict[int, float] = field(default_factory=dict)
    total: float = 0.0
    device: str = ""

    def take(self, event: Any) -> None:
        """Take one element of `traceEvents`."""
        details = event.get("args") if isinstance(event, dict) else None
        if not isinstance(details, dict):
            return
        number = details.get("External id")
        if event.get("cat") == "kernel" and isinstance(event.get("dur"), int | float):
            seconds = float(event["dur"]) / 1e6
            self.total += seconds
            if isinstance(number, int):
                self.times[number] = self.times.get(number, 0.0) + seconds
        elif event.get("cat") == "cpu_op" and isinstance(number, int) and isinstance(details.get("Input Dims"), list):
            self.calls[number] = (str(event.get("name", "")), tuple(_extents(one) for one in details["Input Dims"]))


def _extents(value: object) -> tuple[int, ...]:
    whole = isinstance(value, list) and all(isinstance(one, int) for one in value)
    return tuple(value) if whole and isinstance(value, list) else ()


def _of_trace(path: Path, tables: tuple[TunedTable, ...], devices: DeviceNames) -> Misses:
    ops = _read_trace(path)
    if not ops.calls:
        fix = "record with torch.profiler.profile(record_shapes=True)"
        raise BadInput("has no operation with its shapes", where=str(path), fix=fix, code="KB205")
    known: dict[str, TableForm] = {form.name: form for _, form in behind("table_forms")}
    here = [one for one in tables if _is_here(one, ops.device, devices)]
    found: dict[tuple[str, tuple[tuple[str, int], ...]], list[float]] = {}
    reasons: dict[tuple[str, tuple[tuple[str, int], ...]], str] = {}
    served = 0
    for number, (name, dims) in ops.calls.items():
        for form in known.values():
            extents = form.asks(name, dims) if form.asks is not None else None
            if extents is None:
                continue
            reason = _missed(form, extents, [one for one in here if one.form == form.name])
            if not reason:
                served += 1
                continue
            key = (name, tuple(extents.items()))
            reasons[key] = reason
            found.setdefault(key, []).append(ops.times.get(number, 0.0))
    shapes = [
        MissedShape(name, dict(extents), reasons[name, extents], len(times), sum(times), sum(times) / (ops.total or 1))
        for (name, extents), times in found.items()
    ]
    ordered = sorted(shapes, key=lambda one: (-(one.seconds or 0), -one.count))
    return Misses(str(path), ops.device, tuple(ordered), served, len(here))


def _read_trace(path: Path) -> _Ops:
    ops = _Ops()
    with JsonStream(path) as stream:
        if stream.peek() == "[":
            for _ in stream.elements():
                ops.take(stream.value())
            return ops
        for key in stream.members():
            if key == "traceEvents" and stream.peek() == "[":
                for _ in stream.elements():
                    ops.take(stream.value())
            elif key == "deviceProperties":
                value = stream.value()
                first = value[0] if isinstance(value, list) and value else {}
                ops.device = str(first.get("name", "")) if isinstance(first, dict) else ""
            else:
                stream.skip()
    return ops


def _is_here(table: TunedTable, device: str, devices: DeviceNames) -> bool:
    """Return whether a table may be for a device: it is not known to be for another product."""
    if not device:
        return True
    ours, theirs = devices.of(table).platform, devices.named(device)
    return ours is None or theirs is None or ours.id == theirs.id


def _missed(form: TableForm, extents: Mapping[str, int], tables: list[TunedTable]) -> str:
    """Return why no row serves a shape well; empty where one does."""
    fits = [one for one in tables if one.shape.items() <= extents.items()]
    if not fits:
        named = ", ".join(f"{name}={value}" for name, value in extents.items() if not tables or name in tables[0].shape)
        return f"no table for {named}" if tables else "no table was named"
    reasons = [_reason(form, table, extents) for table in fits]
    return "" if "" in reasons else reasons[0]


def _reason(form: TableForm, table: TunedTable, extents: Mapping[str, int]) -> str:
    row: TunedRow | None = form.serves(table, extents) if form.serves is not None else None
    if row is None:
        return f"{table.file} has no row"
    for name, size in row.sizes.items():
        wanted = extents.get(name, size)
        if max(wanted, size) > _FAR * min(wanted, size):
            return f"row {row.key} of {table.file} serves {name} {wanted}"
    return ""


# ---- logs --------------------------------------------------------------------------------------


def _of_log(path: Path) -> Misses:
    found: dict[tuple[str, tuple[tuple[str, int], ...], str], list[int]] = {}
    with path.open("r", encoding="utf-8", errors="replace") as stream:
        for number, line in _lines(stream):
            for key in _said(line):
                found.setdefault(key, []).append(number)
    if not found:
        what = "says of no shape that it was not found, and is no trace"
        fix = "give the log of vLLM, SGLang or AITER from its start, or a trace of torch's profiler"
        raise BadInput(what, where=str(path), fix=fix, code="KB116")
    shapes = [
        MissedShape(what, dict(extents), reason, len(lines), line=lines[0])
        for (what, extents, reason), lines in found.items()
    ]
    return Misses(str(path), "", tuple(sorted(shapes, key=lambda one: (-one.count, one.line))), 0, 0)


def _lines(stream: Iterable[str]) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(stream, 1):
        yield number, line[:_MOST_LINE]


def _said(line: str) -> Iterator[tuple[str, tuple[tuple[str, int], ...], str]]:
    """Yield what a line says was not found."""
    if absent := _ABSENT.search(line):
        file = _FILE.search(absent[1])
        if file is not None:
            sizes = tuple((name, int(size)) for name, size in re.findall(r"(?:^|,)([A-Za-z]+)=(\d+)(?=,)", file[0]))
            stale = "Fallback" in absent[0]
            yield (
                file[0],
                sizes,
                "a table of another Triton serves it" if stale else "no such file: the default serves it",
            )
    elif said := _AITER.search(line):
        sizes = tuple((name, int(size)) for name, size in _EXTENT.findall(said[1]))
        yield Path(said[2]).name, sizes, "no row: the default serves it"
