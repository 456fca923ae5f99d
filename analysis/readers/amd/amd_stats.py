"""Statistics tables of rocprof and rocprofv3: calls and times by name, without single launches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from kopt_kb.analysis.profile import DurationStats, KernelProfile, ReportPlace, ReportSource
from kopt_kb.analysis.readers.amd.amd_csv import csv_rows, folded, number_in, whole_in
from kopt_kb.analysis.readers.amd.amd_names import plain_name
from kopt_kb.analysis.readers.common.errors import ReportError

__all__ = ["is_stats", "read_stats"]

_NEEDED = frozenset({"name", "calls", "totaldurationns", "averagens", "percentage"})
_API = ("hip", "__hip", "hsa_", "roctx", "MEMORY_", "Copy")
_NS_PER_S = 1e9
_MEANS = "a statistics table prints no single times: where it has no minimum, maximum or median the mean stands"


def is_stats(header: Sequence[str]) -> bool:
    """Return whether folded column names are those of a statistics table."""
    return set(header) >= _NEEDED


def read_stats(path: Path, source: ReportSource) -> Iterator[KernelProfile]:
    """Yield one profile a row; raises `ReportError` for a damaged row or a table of API calls or copies."""
    notes: list[str] = []
    rows = csv_rows(path, notes.append)
    header = [folded(one) for one in next(rows, (0, []))[1]]
    found = [_profile(dict(zip(header, cells, strict=True)), line, path, source) for line, cells in rows]
    if not found:
        raise ReportError(
            "the table has a header and no row", where=path, line=1, fix="check the kernel filter", code="KB205"
        )
    if all(one.name.startswith(_API) for one in found):
        raise ReportError(
            "a table of API calls or copies holds no kernel", where=path, fix="read the kernel table", code="KB205"
        )
    yield from (replace(one, notes=(*one.notes, *notes)) for one in found)


def _profile(row: dict[str, str], line: int, path: Path, source: ReportSource) -> KernelProfile:
    calls = whole_in(row["calls"], path, line)
    total_ns = number_in(row["totaldurationns"], path, line)
    name = row["name"].strip()
    if not name or not calls or total_ns is None:
        raise ReportError("a row without name, calls or time", where=path, line=line, fix="record the report again")
    mean_ns = total_ns / calls
    least_ns, most_ns = (number_in(row.get(one, ""), path, line) for one in ("minns", "maxns"))
    durations = DurationStats(
        count=calls,
        total_s=total_ns / _NS_PER_S,
        median_s=mean_ns / _NS_PER_S,
        min_s=(mean_ns if least_ns is None else least_ns) / _NS_PER_S,
        max_s=(mean_ns if most_ns is None else most_ns) / _NS_PER_S,
    )
    timed = total_ns > 0
    return KernelProfile(
        name=name,
        demangled=plain_name(name),
        source=source,
        place=ReportPlace(str(path), f"line {line}"),
        launch_count=calls,
        metrics={"duration_s": durations.median_s} if timed else {},
        durations=durations if timed else None,
        notes=() if calls == 1 else (_MEANS,),
    )
