"""Readers of rocprof v1 and v2 output: result tables, statistics tables and the trace database."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from kopt_kb.analysis.profile import KernelProfile, ReportSource
from kopt_kb.analysis.readers.amd.amd_collect import AmdCollector
from kopt_kb.analysis.readers.amd.amd_csv import header_of
from kopt_kb.analysis.readers.amd.amd_devices import Devices
from kopt_kb.analysis.readers.amd.amd_dispatch import Dispatch, DispatchShape
from kopt_kb.analysis.readers.amd.amd_stats import is_stats, read_stats
from kopt_kb.analysis.readers.amd.amd_store import DispatchStore
from kopt_kb.analysis.readers.amd.amd_wide import WideReader, read_wide, rows_with_text
from kopt_kb.analysis.readers.common.base import Reader, ReportHead
from kopt_kb.analysis.readers.common.errors import ReportError
from kopt_kb.analysis.readers.common.sqlite import open_database, text_of

__all__ = ["ROCPROF_V1", "ROCPROF_V1_DB", "read_rocprof_v1", "read_rocprof_v1_db"]

_FORMAT = "rocprof-v1"
_DB_FORMAT = "rocprof-v1-db"
_SHAPE = frozenset({"grd", "wgr", "gpu_id", "durationns"})


def read_rocprof_v1(path: Path) -> Iterator[KernelProfile]:
    """Yield the profiles of a results or statistics CSV; one with counters only has no times.

    Raises:
        ReportError: A row is damaged, or the table has no row.
    """
    source = ReportSource(str(path), _FORMAT, "rocprof", "amd")
    if is_stats(_header(ReportHead(path))):
        yield from read_stats(path, source)
        return
    collector = AmdCollector(source)
    store = DispatchStore(collector)
    count = read_wide(WideReader(path, Devices(), store), rows_with_text(path, "kernelname", store.note))
    store.flush()
    if count == 0:
        raise ReportError(
            "the table has a header and no row", where=path, line=1, fix="check the kernel filter", code="KB205"
        )
    yield from collector.profiles()


def read_rocprof_v1_db(path: Path) -> Iterator[KernelProfile]:
    """Yield the profiles of a rocprof v1 trace database; the operations of its table OPS are the dispatches.

    Raises:
        ReportError: The database is damaged or holds no operation.
    """
    collector = AmdCollector(ReportSource(str(path), _DB_FORMAT, "rocprof", "amd"))
    devices = Devices()
    with open_database(path) as connection:
        rows = connection.execute('SELECT rowid, Name, "dev-id", EndNs - BeginNs FROM OPS')
        for row, name, device, span_ns in rows:
            shape = DispatchShape(text_of(name) or "unnamed", devices.find(str(device)))
            dispatch = Dispatch(row, str(path), f"OPS row {row}", shape)
            if isinstance(span_ns, int):
                dispatch.span(0, span_ns)
            collector.add(dispatch)
    if collector.empty:
        raise ReportError(
            "the database holds no kernel", where=path, fix="record with --hip-trace or --hsa-trace", code="KB205"
        )
    yield from collector.profiles()


def _header(head: ReportHead) -> tuple[str, ...]:
    return header_of(head.text)


def _is_table(head: ReportHead) -> bool:
    header = frozenset(_header(head))
    return ("kernelname" in header and bool(header & _SHAPE)) or is_stats(tuple(header))


def _is_database(head: ReportHead) -> bool:
    return "OPS" in head.tables and bool(head.tables & {"KERN", "COPY", "HIP", "HSA"})


ROCPROF_V1 = Reader(_FORMAT, "rocprof v1 CSV", _is_table, read_rocprof_v1)
ROCPROF_V1_DB = Reader(_DB_FORMAT, "rocprof v1 database", _is_database, read_rocprof_v1_db)
