"""Reader of rocprof-compute workload folders since release 3.9: a rocpd database a pass, no counter tables.

The program runs once a pass, so a dispatch stands in every database. Its launch counts once, its time is the median
over the passes, and its counters are put together. Where the tool did not put the counters into the database yet, they
stand beside it in `<pid>_native_counter_collection.csv`, packed or not.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast

from kopt_kb.analysis.profile import KernelProfile, ReportSource
from kopt_kb.analysis.profile.amd_counters import AmdDevice
from kopt_kb.analysis.readers.amd.amd_collect import AmdCollector
from kopt_kb.analysis.readers.amd.amd_roofline import read_roofline
from kopt_kb.analysis.readers.amd.amd_store import DispatchStore
from kopt_kb.analysis.readers.amd.rocpd import databases, pass_counters, pass_dispatches
from kopt_kb.analysis.readers.amd.rocprof_compute import ROOFLINE, SYSINFO, system_of
from kopt_kb.analysis.readers.common.base import Reader, ReportHead
from kopt_kb.analysis.readers.common.errors import ReportError
from kopt_kb.analysis.readers.common.sqlite import open_database
from kopt_kb.analysis.readers.common.unpacked import open_unpacked

__all__ = ["ROCPROF_COMPUTE_PASSES", "read_passes"]

_FORMAT = "rocprof-compute-rocpd"
_NATIVE = "_native_counter_collection.csv"
_COLUMNS = ("dispatch_id", "counter_name", "counter_value")
_WAVES, _CLOCK = "SQ_LEVEL_WAVES_ACCUM", "GRBM_GUI_ACTIVE"
_OF_WAVES = "__SQ_LEVEL_WAVES"
_ACCUMULATED = "SQ_ACCUM_PREV_HIRES"
_CHUNK_BYTES = 1 << 18


def read_passes(path: Path) -> Iterator[KernelProfile]:
    """Yield the profiles of a workload folder.

    Raises:
        ReportError: A database or table is damaged, or none holds a dispatch.
    """
    devices, version = system_of(path / SYSINFO)
    device = devices.in_order[0] if len(devices.in_order) == 1 else None
    collector = AmdCollector(ReportSource(str(path), _FORMAT, "rocprof-compute", "amd", version))
    store = DispatchStore(collector)
    for file in databases(path):
        _read_pass(file, device, store)
    store.flush()
    if collector.empty:
        raise ReportError("no pass holds a kernel dispatch", where=path, fix="profile the workload again", code="KB205")
    if device is not None:
        collector.peaks(read_roofline(path / ROOFLINE, device.target, version))
    yield from collector.profiles()


def _read_pass(file: Path, device: AmdDevice | None, store: DispatchStore) -> None:
    counted: dict[tuple[str, int], dict[str, float]] = {}
    with open_database(file) as connection:
        for row in pass_counters(connection, ReportHead(file).tables, file, device):
            counted.setdefault((row.process, row.number), {})[row.counter] = row.value
        native = {} if counted else _native(file)
        processes: dict[str, int] = {}
        for row in pass_dispatches(connection, file, device):
            # processes have other names in every pass, their order stays
            scope = str(processes.setdefault(row.process, len(processes)))
            record = store.open(scope, row.number, row.shape, str(file), f"dispatch {row.number}")
            if row.start_ns is not None and row.end_ns is not None:
                record.span(row.start_ns, row.end_ns)
            counters = counted.get((row.process, row.number)) or native.get(row.number, {})
            for name, value in _renamed(counters).items():
                record.count(name, value)


def _renamed(counters: dict[str, float]) -> dict[str, float]:
    """Return counters by the names of the formulas: resident waves go with the clock of the pass that counted them."""
    found = dict(counters)
    if _WAVES in found:
        found[_ACCUMULATED + _OF_WAVES] = found.pop(_WAVES)
        if _CLOCK in found:
            found[_CLOCK + _OF_WAVES] = found[_CLOCK]
    return found


def _native(database: Path) -> dict[int, dict[str, float]]:
    """Return counters by dispatch out of the table that belongs to a database: its process stands in both names."""
    process = database.stem.partition("_")[0]
    found: dict[int, dict[str, float]] = {}
    for folder in (database.parent, database.parent.parent):
        for table in (folder / f"{process}{_NATIVE}", folder / f"{process}{_NATIVE}.gz"):
            if table.is_file() and not found:
                for number, name, value in _rows(table):
                    held = found.setdefault(number, {})
                    held[name] = held.get(name, 0.0) + value
    return found


def _rows(table: Path) -> Iterator[tuple[int, str, float]]:
    stream = open_unpacked(table)
    try:
        reader = csv.reader(_lines(stream))
        header = next(reader, [])
        if not set(_COLUMNS) <= set(header):
            raise ReportError(f"no column {', '.join(sorted(set(_COLUMNS) - set(header)))}", where=table)
        at = [header.index(one) for one in _COLUMNS]
        for line, cells in enumerate(reader, 2):
            try:
                number, name, value = (cells[one] for one in at)
                yield int(number), name, float(value)
            except (IndexError, ValueError) as error:
                raise ReportError(
                    "a row that is cut or no number", where=table, line=line, fix="profile the workload again"
                ) from error
    except csv.Error as error:
        raise ReportError(f"damaged CSV: {error}", where=table) from error
    finally:
        stream.close()


def _lines(stream: object) -> Iterator[str]:
    """Yield lines of a file that may be unpacked while it is read."""
    source = cast("IO[bytes]", stream)
    rest = b""
    while data := source.read(_CHUNK_BYTES):
        *lines, rest = (rest + data).split(b"\n")
        for one in lines:
            yield one.decode("utf-8", errors="replace")
    if rest:
        yield rest.decode("utf-8", errors="replace")


def _is_workload(head: ReportHead) -> bool:
    return head.is_folder and (head.path / SYSINFO).is_file() and bool(databases(head.path))


ROCPROF_COMPUTE_PASSES = Reader(_FORMAT, "rocprof-compute workload of rocpd databases", _is_workload, read_passes)
