"""Reader of RocmProfileData (`.rpd`): operations of AMD GPUs and the calls that launched them, in SQLite.

Times are nanoseconds. An operation is a kernel, a copy or a fill by its type; its name, when it has one, stands in the
description.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kopt_kb.analysis.profile import Dim3, KernelProfile, ReportSource
from kopt_kb.analysis.profile.events import NO_LAUNCH, EventLog, TimedKind, kind_of
from kopt_kb.analysis.profile.timeline import EventKind, Trace
from kopt_kb.analysis.readers.common.base import Reader, ReportHead
from kopt_kb.analysis.readers.common.errors import ReportError
from kopt_kb.analysis.readers.common.sqlite import open_database, text_of, whole_of

__all__ = ["RPD", "RPD_TABLES", "read_rpd"]

RPD_TABLES = frozenset({"rocpd_op", "rocpd_api", "rocpd_string"})
_FORMAT = "rpd"
_NO_WORK = frozenset({"Marker", "Barrier"})
"""Types that mark others or hold the queue: no work of the device. `Task` is work: kernels of a graph."""
_OPS = 'SELECT id, gpuId, queueId, start, "end", description_id, opType_id FROM rocpd_op'
_CALLS = 'SELECT id, start, "end", apiName_id FROM rocpd_api'


def read_rpd(path: Path) -> Trace:
    """Return kernels and devices of a database.

    Raises:
        ReportError: The database is damaged, or holds no operation.
    """
    log = EventLog(ReportSource(str(path), _FORMAT, "rpd", "amd"))
    with open_database(path) as connection:
        tables = ReportHead(path).tables
        names = {key: text_of(value) for key, value in connection.execute("SELECT id, string FROM rocpd_string")}
        launched = _pairs(connection, "SELECT op_id, api_id FROM rocpd_api_ops") if "rocpd_api_ops" in tables else {}
        shapes = _shapes(connection) if "rocpd_kernelapi" in tables else {}
        sizes = _pairs(connection, "SELECT api_ptr_id, size FROM rocpd_copyapi") if "rocpd_copyapi" in tables else {}
        _add_operations(connection, log, names, launched, shapes, sizes)
        for key, start, end, name in connection.execute(_CALLS):
            if isinstance(start, int) and isinstance(end, int):
                if "Synchronize" in names.get(name, ""):
                    log.wait(start, end)
                else:
                    log.launch(_call(key), start, end)
    if log.empty:
        raise ReportError("the database holds no operation of a GPU", where=path, fix="record with runTracer.sh",
                          code="KB205")  # fmt: skip
    return log.trace()


def _call(key: object) -> int:
    whole = whole_of(key)
    return NO_LAUNCH if whole is None else whole


def _pairs(connection: sqlite3.Connection, query: str) -> dict[Any, Any]:
    return dict(connection.execute(query).fetchall())


def _shapes(connection: sqlite3.Connection) -> dict[Any, tuple[Dim3 | None, Dim3 | None]]:
    """Return grid in workgroups and workgroup by call."""
    rows = connection.execute(
        "SELECT api_ptr_id, gridX, gridY, gridZ, workgroupX, workgroupY, workgroupZ FROM rocpd_kernelapi"
    )
    return {key: (_extents(axes[:3]), _extents(axes[3:])) for key, *axes in rows}


def _extents(values: list[Any]) -> Dim3 | None:
    whole = [whole_of(one) for one in values]
    return Dim3(*whole) if all(whole) else None  # type: ignore[arg-type]


def _add_operations(
    connection: sqlite3.Connection,
    log: EventLog,
    names: dict[Any, str],
    launched: dict[Any, Any],
    shapes: dict[Any, tuple[Dim3 | None, Dim3 | None]],
    sizes: dict[Any, Any],
) -> None:
    for key, gpu, queue, start, end, description, operation in connection.execute(_OPS):
        word = names.get(operation, "")
        if word in _NO_WORK:
            continue
        if not isinstance(start, int) or not isinstance(end, int):
            log.impossible += 1
            continue
        device = log.device(str(gpu))
        call = launched.get(key)
        kind, name = _named(word, names.get(description, ""))
        grid, block = shapes.get(call, (None, None)) if kind in {"kernel", "communication"} else (None, None)
        number = log.kind(TimedKind(kind, name, device, name, grid, block))
        size = whole_of(sizes.get(call))
        if kind == "copy" and size is not None:
            log.moved(number, size)
        log.add(device, number, log.stream(str(queue)), start, end, _call(call))


def _named(operation: str, description: str) -> tuple[EventKind, str]:
    if operation.startswith("Copy"):
        return "copy", operation.removeprefix("Copy")
    if operation.startswith("Fill"):
        return "fill", operation
    name = description or operation or "unnamed"
    return kind_of(name), name


def _is_rpd(head: ReportHead) -> bool:
    return head.tables >= RPD_TABLES and "rocpd_kernel_dispatch" not in head.tables


def _profiles(path: Path) -> Iterator[KernelProfile]:
    yield from read_rpd(path).profiles


RPD = Reader(_FORMAT, "RocmProfileData (.rpd)", _is_rpd, _profiles, trace=read_rpd)
