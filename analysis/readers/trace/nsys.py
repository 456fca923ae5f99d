"""Reader of Nsight Systems' SQLite export: kernels, copies, fills and the calls of the host that launched them.

A device is a GPU of the machine: processes number the devices they see, `TARGET_INFO_CUDA_DEVICE` says which GPU each
is. Times are nanoseconds. Tables stand in the file only when there was something to put into them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kopt_kb.analysis.profile import Dim3, KernelProfile, ReportSource
from kopt_kb.analysis.profile.events import NO_LAUNCH, EventLog, TimedKind, kind_of
from kopt_kb.analysis.profile.timeline import Trace
from kopt_kb.analysis.readers.common.base import Reader, ReportHead
from kopt_kb.analysis.readers.common.errors import ReportError
from kopt_kb.analysis.readers.common.sqlite import open_database, text_of, whole_of

__all__ = ["NSYS_SQLITE", "read_nsys"]

_FORMAT = "nsys-sqlite"
_KERNELS, _COPIES, _FILLS, _GRAPHS, _CALLS = (
    f"CUPTI_ACTIVITY_KIND_{one}" for one in ("KERNEL", "MEMCPY", "MEMSET", "GRAPH_TRACE", "RUNTIME")
)
_WORK = (_KERNELS, _COPIES, _FILLS, _GRAPHS)
_STRINGS = "StringIds"
_PID_BITS = 24  # a global identifier is machine, process and thread; the thread has the lowest bits
_CORRELATION_BITS = 40
_FACTS = {
    "registersPerThread": "registers_per_thread",
    "staticSharedMemory": "shared_static_bytes",
    "dynamicSharedMemory": "shared_dynamic_bytes",
    "localMemoryPerThread": "scratch_bytes_per_thread",
}
_AXES = ("gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ")
_WHOLE_GRAPHS = "CUDA graphs are recorded as a whole; nsys profile --cuda-graph-trace=node names their kernels"


def read_nsys(path: Path) -> Trace:
    """Return kernels and devices of an export.

    Raises:
        ReportError: The database is damaged, or holds no work of a GPU.
    """
    with open_database(path) as connection:
        reading = _Reading(
            connection, ReportHead(path).tables, EventLog(ReportSource(str(path), _FORMAT, "nsys", "nvidia"))
        )
        return reading.trace(path)


@dataclass(slots=True)
class _Reading:
    """One database."""

    connection: sqlite3.Connection
    tables: frozenset[str]
    log: EventLog
    names: dict[int, str] = field(default_factory=dict)
    gpus: dict[tuple[int, int], int] = field(default_factory=dict)
    processes: dict[int, int] = field(default_factory=dict)

    def trace(self, path: Path) -> Trace:
        """Read all tables."""
        self.log.source = ReportSource(str(path), _FORMAT, "nsys", "nvidia", self._version())
        self._devices()
        kinds: dict[tuple[object, ...], int] = {}
        for table in _WORK:
            if table in self.tables:
                self._work(table, kinds)
        if self.log.empty:
            raise ReportError(
                "the export holds no work of a GPU",
                where=path,
                fix="record with nsys profile --trace cuda, then nsys export --type sqlite",
                code="KB205",
            )
        if _CALLS in self.tables:
            self._calls()
        if _GRAPHS in self.tables:
            self.log.notes[_WHOLE_GRAPHS] = None
        return self.log.trace()

    def _rows(self, table: str, columns: tuple[str, ...]) -> Iterator[tuple[Any, ...]]:
        """Yield the columns of a table that it has, None for the others."""
        known = {str(row[1]) for row in self.connection.execute(f'PRAGMA table_info("{table}")')}
        chosen = ", ".join(f'"{one}"' if one in known else "NULL" for one in columns)
        yield from self.connection.execute(f'SELECT {chosen} FROM "{table}"')  # noqa: S608 - names of this module

    def _version(self) -> str | None:
        if "META_DATA_EXPORT" not in self.tables:
            return None
        rows = dict(self._rows("META_DATA_EXPORT", ("name", "value")))
        return text_of(rows.get("EXPORT_PRODUCT_VERSION")) or None

    def _devices(self) -> None:
        if "TARGET_INFO_CUDA_DEVICE" in self.tables:
            for gpu, number, pid in self._rows("TARGET_INFO_CUDA_DEVICE", ("gpuId", "cudaId", "pid")):
                if None not in (one := [whole_of(value) for value in (pid, number, gpu)]):
                    self.gpus[one[0] or 0, one[1] or 0] = one[2] or 0
        if "TARGET_INFO_GPU" in self.tables:
            for number, name, major, minor in self._rows(
                "TARGET_INFO_GPU", ("id", "name", "computeMajor", "computeMinor")
            ):
                known = whole_of(major) is not None and whole_of(minor) is not None
                self.log.device(str(whole_of(number) or 0), text_of(name), f"sm_{major}{minor}" if known else "")

    def _text(self, number: object) -> str:
        """Return a string of the table by its id, empty when there is none."""
        key = whole_of(number)
        if key is None or _STRINGS not in self.tables:
            return ""
        if key not in self.names:
            row = self.connection.execute(f"SELECT value FROM {_STRINGS} WHERE id = ?", (key,)).fetchone()  # noqa: S608
            self.names[key] = text_of(row[0]) if row else ""
        return self.names[key]

    def _process(self, identifier: object) -> int:
        """Return a small number of the process in a global identifier."""
        whole = whole_of(identifier) or 0
        return self.processes.setdefault(whole >> _PID_BITS, len(self.processes))

    def _call(self, process: int, correlation: object) -> int:
        whole = whole_of(correlation)
        return NO_LAUNCH if whole is None or whole >> _CORRELATION_BITS else (process << _CORRELATION_BITS) | whole

    def _work(self, table: str, kinds: dict[tuple[object, ...], int]) -> None:
        fixed = ("start", "end", "deviceId", "streamId", "correlationId", "globalPid")
        for row in self._rows(table, fixed + _COLUMNS[table]):
            start, end, device, stream, correlation, identifier, *rest = row
            if not isinstance(start, int) or not isinstance(end, int):
                self.log.impossible += 1
                continue
            pid = ((whole_of(identifier) or 0) >> _PID_BITS) & ((1 << _PID_BITS) - 1)
            key = (table, pid, device, *rest[_BYTES[table] :])
            number = self.log.device(str(self.gpus.get((pid, device), device)))
            kind = kinds.get(key)
            if kind is None:
                kind = kinds[key] = self.log.kind(self._kind(table, number, rest))
            if _BYTES[table] and isinstance(rest[0], int):
                self.log.moved(kind, rest[0])
            call = self._call(self._process(identifier), correlation)
            self.log.add(number, kind, self.log.stream(str(stream)), start, end, call)

    def _kind(self, table: str, device: int, rest: list[Any]) -> TimedKind:
        if table == _COPIES:
            return TimedKind("copy", self._direction(rest[1]), device)
        if table == _FILLS:
            return TimedKind("fill", "Memset", device)
        if table == _GRAPHS:
            return TimedKind("kernel", f"CUDA graph {rest[0]}", device)
        short, full, *numbers = rest
        name = self._text(short) or self._text(full) or f"kernel {short}"
        extents = [whole_of(one) for one in numbers[: len(_AXES)]]
        grid, block = (Dim3(*axes) if all(axes) else None for axes in (extents[:3], extents[3:]))  # type: ignore[arg-type]
        facts = zip(_FACTS.values(), map(whole_of, numbers[len(_AXES) :]), strict=True)
        metrics = tuple((metric, float(value)) for metric, value in facts if value is not None)
        full_name = self._text(full) or name
        return TimedKind(kind_of(full_name), name, device, full_name, grid, block, metrics)

    def _direction(self, number: object) -> str:
        table = "ENUM_CUDA_MEMCPY_OPER"
        if table in self.tables:
            labels: Mapping[Any, Any] = dict(self._rows(table, ("id", "label")))
            return text_of(labels.get(number)) or f"copy kind {number}"
        return f"copy kind {number}"

    def _calls(self) -> None:
        rows = self._rows(_CALLS, ("start", "end", "correlationId", "globalTid", "nameId"))
        for start, end, correlation, identifier, name in rows:
            if not isinstance(start, int) or not isinstance(end, int):
                continue
            if "Synchronize" in self._text(name):
                self.log.wait(start, end)
            else:
                self.log.launch(self._call(self._process(identifier), correlation), start, end)


_COLUMNS: Mapping[str, tuple[str, ...]] = {
    _KERNELS: ("shortName", "demangledName", *_AXES, *_FACTS),
    _COPIES: ("bytes", "copyKind"),
    _FILLS: ("bytes",),
    _GRAPHS: ("graphId",),
}
_BYTES: Mapping[str, int] = {_KERNELS: 0, _COPIES: 1, _FILLS: 1, _GRAPHS: 0}
"""How many of the columns, the first ones, are bytes and no part of what an event is."""


def _is_nsys(head: ReportHead) -> bool:
    return (_STRINGS in head.tables and any(one.startswith("CUPTI_ACTIVITY_KIND_") for one in head.tables)) or (
        {"META_DATA_EXPORT", _STRINGS} <= head.tables
    )


def _profiles(path: Path) -> Iterator[KernelProfile]:
    yield from read_nsys(path).profiles


NSYS_SQLITE = Reader(_FORMAT, "Nsight Systems SQLite export", _is_nsys, _profiles, trace=read_nsys)
