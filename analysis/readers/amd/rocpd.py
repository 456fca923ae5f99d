"""Reader of rocpd databases (rocprofv3 since ROCm 7): dispatches and counters of all processes in one file.

The views without a suffix join the tables of every process (GUID) of a file; they are what is read. Times are
nanoseconds there, grids are work-items, and the counter view has already added up the instances of a counter.
"""

from __future__ import annotations

import json
import sqlite3
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from kopt_kb.analysis.profile import Dim3, KernelProfile, ReportPlace, ReportSource
from kopt_kb.analysis.profile.amd_counters import AmdDevice
from kopt_kb.analysis.profile.tally import DurationTally
from kopt_kb.analysis.readers.amd.amd_collect import AmdCollector, CounterSum
from kopt_kb.analysis.readers.amd.amd_devices import device_of_agent
from kopt_kb.analysis.readers.amd.amd_dispatch import Dispatch, DispatchShape
from kopt_kb.analysis.readers.common.base import Reader, ReportHead
from kopt_kb.analysis.readers.common.errors import ReportError
from kopt_kb.analysis.readers.common.sqlite import open_database, text_of, whole_of

__all__ = ["ROCPD", "PassRow", "databases", "pass_counters", "pass_dispatches", "read_rocpd"]

_FORMAT = "rocpd"
_BATCH = 1 << 16
_KEPT = 2000
_MAX_DEPTH = 4
_AXES = "workgroup_size_x, workgroup_size_y, workgroup_size_z, grid_size_x, grid_size_y, grid_size_z"
_DISPATCHES = f"""SELECT "end" - start, dispatch_id, guid, kernel_id, agent_id, {_AXES}, group_segment_size,
    private_segment_size FROM rocpd_kernel_dispatch"""  # noqa: S608 - column names of this module
_ONE_PROCESS = _DISPATCHES.replace("guid,", "NULL,")
_COUNTERS = f"""SELECT counter_name, value, duration, dispatch_id, guid, kernel_id, agent_id, {_AXES}, lds_block_size,
    scratch_size FROM counters_collection"""  # noqa: S608 - column names of this module
_VIEWS = frozenset({"rocpd_kernel_dispatch", "rocpd_info_kernel_symbol", "rocpd_info_agent"})
_RPD = frozenset({"rocpd_op", "rocpd_api"})

_PASS = _DISPATCHES.replace('"end" - start', 'start, "end"')

SqlRow = tuple[Any, ...]


class PassRow(NamedTuple):
    """A dispatch of one pass: its process, number and configuration, with its times or with a counter."""

    process: str
    number: int
    shape: DispatchShape
    start_ns: int | None = None
    end_ns: int | None = None
    counter: str = ""
    value: float = 0.0


@dataclass(slots=True)
class _Names:
    """Kernels and GPUs of a file by (guid, id); `only` is the guid of a file of one process."""

    kernels: dict[tuple[Any, Any], tuple[str, tuple[tuple[str, float], ...]]]
    devices: dict[tuple[Any, Any], AmdDevice]
    path: Path
    only: object = None
    device: AmdDevice | None = None
    shapes: dict[SqlRow, DispatchShape] = field(default_factory=dict)

    def shape(self, key: SqlRow) -> DispatchShape:
        """Return the configuration of (guid, kernel, agent, six extents, LDS, scratch)."""
        found = self.shapes.get(key)
        if found is None:
            found = self.shapes[key] = self._build(key)
        return found

    def _build(self, key: SqlRow) -> DispatchShape:
        process, kernel, agent, *axes, lds, scratch = key
        guid = self.only if process is None else process
        known = self.kernels.get((guid, kernel))
        if known is None:
            raise ReportError(f"a dispatch of kernel {kernel!r}, which has no symbol", where=self.path)
        name, registers = known
        block, threads = _extents(axes[:3]), _extents(axes[3:])
        sizes = (("shared_block_bytes", whole_of(lds)), ("scratch_bytes_per_thread", whole_of(scratch)))
        extra = (*registers, *((metric, float(value)) for metric, value in sizes if value is not None))
        device = self.device or self.devices.get((guid, agent), AmdDevice())
        return DispatchShape(name, device, threads, block, extra=extra)


@dataclass(slots=True)
class _Spans:
    """Times of one configuration: packed first, then counted."""

    first: int
    launches: int = 0
    waiting: array[int] = field(default_factory=lambda: array("q"))
    times: DurationTally = field(default_factory=DurationTally)

    def settle(self) -> None:
        self.launches += len(self.waiting)
        self.times.add_all(self.waiting)
        del self.waiting[:]


def _extents(values: list[Any]) -> Dim3 | None:
    x, y, z = (whole_of(one) for one in values)
    return Dim3(x, y, z) if x and y and z else None


def read_rocpd(path: Path) -> Iterator[KernelProfile]:
    """Yield the profiles of a rocpd database or of a folder of them; nothing is written.

    Memory doesn't grow with the dispatches. Dispatches are kept apart by (GUID, id): ids alone collide.

    Raises:
        ReportError: A database is damaged, is of RocmProfileData, or none holds a dispatch.
    """
    files = databases(path) if path.is_dir() else [path]
    version: str | None = None
    collector: AmdCollector | None = None
    for file in files:
        tables = ReportHead(file).tables
        if not tables >= _VIEWS:
            raise _foreign(file, tables)
        with open_database(file) as connection:
            version = version or _version(connection, tables)
            collector = collector or AmdCollector(ReportSource(str(path), _FORMAT, "rocprofv3", "amd", version))
            _add_file(connection, tables, collector, file)
    if collector is None or collector.empty:
        raise ReportError(
            "no database holds a kernel dispatch", where=path, fix="record with --kernel-trace", code="KB205"
        )
    yield from collector.profiles()


def pass_dispatches(connection: sqlite3.Connection, path: Path, device: AmdDevice | None) -> Iterator[PassRow]:
    """Yield the dispatches of a database with their times; `device` takes the place of the agents when given.

    Raises:
        ReportError: A dispatch has no symbol.
    """
    names = _Names(_kernels(connection), _devices(connection), path, device=device)
    for start, end, number, *key in connection.execute(_PASS):
        times = (start, end) if isinstance(start, int) and isinstance(end, int) else (None, None)
        yield PassRow(text_of(key[0]), whole_of(number) or 0, names.shape(tuple(key)), *times)


def pass_counters(
    connection: sqlite3.Connection, tables: frozenset[str], path: Path, device: AmdDevice | None
) -> Iterator[PassRow]:
    """Yield the counters of a database, their instances added up; none where it holds none."""
    if not {"counters_collection", "rocpd_pmc_event"} <= tables or not _any(connection, "rocpd_pmc_event"):
        return
    names = _Names(_kernels(connection), _devices(connection), path, device=device)
    for name, value, _, number, *key in connection.execute(_COUNTERS):
        if isinstance(value, (int, float)) and isinstance(name, str):
            shape = names.shape(tuple(key))
            yield PassRow(text_of(key[0]), whole_of(number) or 0, shape, counter=name, value=value)


def _add_file(connection: sqlite3.Connection, tables: frozenset[str], collector: AmdCollector, path: Path) -> None:
    kernels = _kernels(connection)
    guids = {guid for guid, _ in kernels}
    single = len(guids) == 1 and sum(one.startswith("rocpd_kernel_dispatch_") for one in tables) == 1
    names = _Names(kernels, _devices(connection), path, next(iter(guids)) if single else None)
    kept = _kept(connection, names, path)
    _add_dispatches(connection, collector, names, path)
    if {"counters_collection", "rocpd_pmc_event"} <= tables and _any(connection, "rocpd_pmc_event"):
        _add_counters(connection, collector, names, kept)
    for dispatch in kept.values():
        collector.keep(dispatch)


def databases(folder: Path) -> list[Path]:
    """Return the rocpd databases of a folder and of the folders in it, in order of their paths."""
    found = [file for depth in range(_MAX_DEPTH) for file in folder.glob("/".join(["*"] * depth + ["*.db"]))]
    return sorted(file for file in found if file.is_file() and ReportHead(file).tables >= _VIEWS)


def _foreign(path: Path, tables: frozenset[str]) -> ReportError:
    if tables >= _RPD:
        return ReportError(
            "a RocmProfileData (.rpd) database, which is not rocpd", where=path, fix="use rocprofv3", code="KB204"
        )
    missing = ", ".join(sorted(_VIEWS - tables))
    return ReportError(f"a rocpd database without its views {missing}", where=path, fix="copy or record it again")


def _any(connection: sqlite3.Connection, view: str) -> bool:
    """Return whether a view has a row; the joins behind the counter view are not worth it for none."""
    return connection.execute(f"SELECT 1 FROM {view} LIMIT 1").fetchone() is not None  # noqa: S608 - a name of this module


def _version(connection: sqlite3.Connection, tables: frozenset[str]) -> str | None:
    if "rocpd_metadata" not in tables:
        return None
    row = connection.execute("SELECT value FROM rocpd_metadata WHERE tag = 'schema_version'").fetchone()
    return f"schema {row[0]}" if row is not None else None


def _kernels(connection: sqlite3.Connection) -> dict[tuple[Any, Any], tuple[str, tuple[tuple[str, float], ...]]]:
    ids = ("registers_per_thread", "accum_registers_per_thread", "scalar_registers_per_wave")
    rows = connection.execute(
        "SELECT guid, id, display_name, kernel_name, arch_vgpr_count, accum_vgpr_count, sgpr_count"
        " FROM rocpd_info_kernel_symbol"
    )
    found: dict[tuple[Any, Any], tuple[str, tuple[tuple[str, float], ...]]] = {}
    for guid, key, shown, symbol, *counts in rows:
        registers = tuple(
            (metric, float(count))
            for metric, count in zip(ids, map(whole_of, counts), strict=True)
            if count is not None
        )
        found[guid, key] = (text_of(shown) or text_of(symbol) or f"kernel {key}", registers)
    return found


def _devices(connection: sqlite3.Connection) -> dict[tuple[Any, Any], AmdDevice]:
    rows = connection.execute("SELECT guid, id, name, product_name, extdata FROM rocpd_info_agent WHERE type = 'GPU'")
    return {(guid, key): device_of_agent(_agent(name, product, extra)) for guid, key, name, product, extra in rows}


def _agent(name: object, product: object, extra: object) -> dict[str, object]:
    try:
        found = json.loads(text_of(extra) or "{}")
    except (ValueError, RecursionError):
        found = {}
    known: dict[str, object] = found if isinstance(found, dict) else {}
    return {**known, "name": name, "product_name": product}


def _kept(connection: sqlite3.Connection, names: _Names, path: Path) -> dict[tuple[Any, Any], Dispatch]:
    """Return the first dispatches by (guid, dispatch id); ids alone collide between processes."""
    found: dict[tuple[Any, Any], Dispatch] = {}
    for span, number, *key in connection.execute(f"{_DISPATCHES} LIMIT {_KEPT}"):
        dispatch = Dispatch(number, str(path), f"dispatch {number}", names.shape(tuple(key)))
        if isinstance(span, int):
            dispatch.span(0, span)
        found[key[0], number] = dispatch
    return found


def _add_dispatches(connection: sqlite3.Connection, collector: AmdCollector, names: _Names, path: Path) -> None:
    groups: dict[SqlRow, _Spans] = {}
    waiting = 0
    for row in connection.execute(_DISPATCHES if names.only is None else _ONE_PROCESS):
        key = row[2:]
        spans = groups.get(key)
        if spans is None:
            spans = groups[key] = _Spans(row[1])
        try:
            spans.waiting.append(row[0])
        except (TypeError, OverflowError):
            spans.waiting.append(0)
        waiting += 1
        if waiting == _BATCH:
            waiting = 0
            for one in groups.values():
                one.settle()
    for key, spans in groups.items():
        spans.settle()
        place = ReportPlace(str(path), f"dispatch {spans.first}")
        collector.add_sums(names.shape(key), place, spans.launches, spans.times)


def _add_counters(
    connection: sqlite3.Connection,
    collector: AmdCollector,
    names: _Names,
    kept: dict[tuple[Any, Any], Dispatch],
) -> None:
    sums: dict[tuple[SqlRow, str], CounterSum] = {}
    for name, value, span, number, *key in connection.execute(_COUNTERS):
        if not isinstance(value, (int, float)) or not isinstance(name, str):
            continue
        row = tuple(key)
        held = sums.get((row, name))
        if held is None:
            held = sums[row, name] = CounterSum()
        held.add(value, span if isinstance(span, int) and span > 0 else None)
        dispatch = kept.get((row[0], number))
        if dispatch is not None:
            dispatch.counters[name] = value
    for (row, name), held in sums.items():
        collector.add_counter(names.shape(row), ReportPlace(str(names.path), "counters_collection"), name, held)


def _is_rocpd(head: ReportHead) -> bool:
    if head.is_folder:
        return bool(databases(head.path))
    return (
        "rocpd_kernel_dispatch" in head.tables
        or head.tables >= _RPD
        or any(one.startswith("rocpd_kernel_dispatch_") for one in head.tables)
    )


ROCPD = Reader(_FORMAT, "rocpd database", _is_rocpd, read_rocpd)
