"""Reader of rocprofv3 CSV: counter and kernel tables of ROCm 6 and 7 and of `rocpd convert`, files or folders."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from kopt_kb.analysis.profile import KernelProfile, ReportSource
from kopt_kb.analysis.readers.amd.amd_collect import AmdCollector
from kopt_kb.analysis.readers.amd.amd_csv import Columns, header_of
from kopt_kb.analysis.readers.amd.amd_devices import Devices, agent_table_beside
from kopt_kb.analysis.readers.amd.amd_stats import is_stats, read_stats
from kopt_kb.analysis.readers.amd.amd_store import DispatchStore
from kopt_kb.analysis.readers.amd.rocprofv3_plain import read_plain, read_plain_trace
from kopt_kb.analysis.readers.amd.rocprofv3_rows import TableReader
from kopt_kb.analysis.readers.common.base import Reader, ReportHead, without_collection
from kopt_kb.analysis.readers.common.errors import ReportError

__all__ = ["ROCPROFV3_CSV", "read_rocprofv3_csv", "table_kind"]

CsvKind = Literal["counters", "trace", "stats", "other", ""]
_FORMAT = "rocprofv3-csv"
_HEAD_BYTES = 1 << 16
_LARGE_BYTES = 1 << 25
_MAX_FILES = 4096
_MAX_DEPTH = 4
_PASS = re.compile(r"pass_\d+")
_OTHER: tuple[frozenset[str], ...] = (
    frozenset({"kind", "direction", "source_agent_id"}),
    frozenset({"kind", "operation", "agent_id", "start_timestamp"}),
    frozenset({"domain", "function", "correlation_id", "start_timestamp"}),
    frozenset({"sample_timestamp", "instruction", "dispatch_id"}),
    frozenset({"agent_type", "node_id", "gfx_target_version"}),
)
_NEEDED = "read the kernel_trace or counter_collection table of the same run"


def table_kind(text: str) -> CsvKind:
    """Return what a rocprofv3 CSV text holds by its header, "" for a text that is none."""
    header = header_of(text)
    columns = Columns(header)
    names = frozenset(header)
    if columns.has("kernel", "dispatch", "counter", "value") and "agent_id" in names:
        return "counters"
    if columns.has("kernel", "dispatch", "start", "end") and "agent_id" in names:
        return "trace"
    if is_stats(header) and "minns" in names:
        return "stats"
    if any(one <= names for one in _OTHER):
        return "other"
    return ""


def read_rocprofv3_csv(path: Path) -> Iterator[KernelProfile]:
    """Yield the profiles of one table, or of all tables of a folder put together by dispatch.

    Folders `pass_1`, `pass_2`, … are passes over the same dispatches: their times and the counters that several of
    them hold become medians.

    Raises:
        ReportError: A row is damaged, or no table holds a kernel.
    """
    source = ReportSource(str(path), _FORMAT, "rocprofv3", "amd")
    if path.is_dir():
        yield from _folder(path, source)
        return
    kind = _kind_of(path)
    if kind == "stats":
        yield from read_stats(path, source)
        return
    if kind == "other":
        raise ReportError("a rocprofv3 table without kernels", where=path, line=1, fix=_NEEDED, code="KB205")
    devices = _devices(path, kind)
    collector = None
    if kind == "trace" and path.stat().st_size >= _LARGE_BYTES:
        with without_collection():
            collector = _by_blocks(path, devices, source)
    if collector is None:
        with without_collection():
            collector = (read_plain if kind == "counters" else read_plain_trace)(path, devices, source)
    if collector is None:
        collector = AmdCollector(source)
        store = DispatchStore(collector)
        TableReader(path, devices, store).read()
        store.flush()
    if collector.empty:
        raise ReportError(
            "the table has a header and no row", where=path, line=1, fix="check the kernel filter", code="KB205"
        )
    yield from collector.profiles()


def _by_blocks(path: Path, devices: Devices, source: ReportSource) -> AmdCollector | None:
    """Return a large trace read by blocks; None where numpy is not installed or the table is of another form."""
    try:
        from kopt_kb.analysis.readers.amd.rocprofv3_blocks import read_trace_blocks
    except ImportError:
        return None
    return read_trace_blocks(path, devices, source)


def _folder(path: Path, source: ReportSource) -> Iterator[KernelProfile]:
    collector = AmdCollector(source)
    store = DispatchStore(collector)
    scopes = _Scopes()
    for file in _tables(path):
        TableReader(file, _devices(file, _kind_of(file)), store, scopes.of(file.relative_to(path))).read()
    store.flush()
    if collector.empty:
        raise ReportError(
            "no table of the folder holds a dispatch", where=path, fix="check the kernel filter", code="KB205"
        )
    yield from collector.profiles()


class _Scopes:
    """Scopes of dispatch ids: the process, or its rank in the pass for runs repeated in `pass_<n>` folders."""

    def __init__(self) -> None:
        self._ranks: dict[str, dict[str, str]] = {}

    def of(self, file: Path) -> _Scope:
        turn = next((one for one in file.parts[:-1] if _PASS.fullmatch(one)), "")
        return _Scope(self._ranks.setdefault(turn, {}) if turn else None, file.stem.split("_")[0])


class _Scope:
    def __init__(self, ranks: dict[str, str] | None, stem: str) -> None:
        self._ranks = ranks
        self._stem = stem

    def __call__(self, process: str) -> str:
        if self._ranks is None:
            return process or (self._stem if self._stem.isdigit() else "")
        return self._ranks.setdefault(process or self._stem, f"rank {len(self._ranks)}")


def _tables(folder: Path) -> list[Path]:
    """Kernel tables first: they print the axes that counter tables leave out."""
    found: list[tuple[bool, Path]] = []
    for depth in range(_MAX_DEPTH):
        for file in folder.glob("/".join(["*"] * depth + ["*.csv"])):
            kind = _kind_of(file) if file.is_file() and len(found) < _MAX_FILES else ""
            if kind in {"counters", "trace"}:
                found.append((kind == "counters", file))
    return [file for _, file in sorted(found)]


def _kind_of(path: Path) -> CsvKind:
    head = ReportHead(path)
    return table_kind(head.text[:_HEAD_BYTES])


def _devices(path: Path, kind: CsvKind) -> Devices:
    return agent_table_beside(path, "counter_collection" if kind == "counters" else "kernel_trace")


def _is_rocprofv3(head: ReportHead) -> bool:
    if head.is_folder:
        return bool(_tables(head.path))
    return table_kind(head.text[:_HEAD_BYTES]) != ""


ROCPROFV3_CSV = Reader(_FORMAT, "rocprofv3 CSV", _is_rocprofv3, read_rocprofv3_csv)
