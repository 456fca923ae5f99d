"""The entry: one report of any known format into kernel profiles."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from kopt_kb.analysis.profile import KernelProfile
from kopt_kb.analysis.profile.names import kernel_pattern
from kopt_kb.analysis.profile.timeline import DeviceTimeline
from kopt_kb.analysis.readers.common.base import Reader, ReportHead
from kopt_kb.analysis.readers.common.errors import NoKernelMatches, ReportError
from kopt_kb.analysis.readers.foreign import kind_of_foreign
from kopt_kb.analysis.readers.table import READERS
from kopt_kb.doors.table import behind

__all__ = ["read_profiles", "read_report", "reader_of"]

_LFS_MARK = b"version https://git-lfs.github.com/spec/"
_NAMES_SHOWN = 8


def read_profiles(path: str | Path, *, kernel: str | None = None, source: bool = False) -> Iterator[KernelProfile]:
    """Return the kernel profiles of a report, recognised by content and never by suffix.

    Args:
        path: A file or, for formats of several files, a folder.
        kernel: Regular expression searched in the names; None takes every kernel.
        source: Whether costs of single instructions are read too, where that takes time of its own.

    Raises:
        ReportError: The report is missing, empty, foreign, truncated or damaged (file and line or offset).
        NoKernelMatches: `kernel` matches none of the names.
        MissingTool: A package the format needs is not installed.
    """
    return read_report(path, kernel=kernel, source=source)[0]


def read_report(
    path: str | Path, *, kernel: str | None = None, source: bool = False
) -> tuple[Iterator[KernelProfile], tuple[DeviceTimeline, ...] | None]:
    """Return the kernel profiles of a report and, for a trace, what its devices did; None for a report of counters.

    Args and errors are those of `read_profiles`.
    """
    pattern = _pattern(kernel)
    report = Path(path)
    reader = reader_of(report)
    if reader.trace is not None:
        trace = reader.trace(report)
        return _selected(iter(trace.profiles), pattern, report), trace.devices
    profiles = reader.read(report)
    if source and reader.source is not None:
        profiles = reader.source(report, profiles)
    return _selected(profiles, pattern, report), None


def reader_of(path: str | Path) -> Reader:
    """Return the reader whose test the content passes; raises `ReportError` for none."""
    report = Path(path)
    if not report.exists():
        raise ReportError("no such report", where=report, fix="check the path", code="KB110")
    if not (report.is_file() or report.is_dir()):
        raise ReportError(
            "neither a file nor a folder",
            where=report,
            fix="give the report itself, not a pipe or device",
            code="KB207",
        )
    head = ReportHead(report)
    try:
        _refuse_pointer(head)
        found = _recognised(head, READERS) or _recognised(head, _of_packs())
    except OSError as error:
        raise ReportError(f"can't be read: {error.strerror}", where=report, code="KB111") from error
    if found is None and report.suffix == ".ncu-rep":
        raise ReportError(
            "no .ncu-rep report: the magic NVR is missing", where=report, fix="record the report again", code="KB204"
        )
    if found is not None:
        return found
    kind = kind_of_foreign(head)
    if kind is not None:
        raise ReportError(kind.what, where=report, fix=kind.fix, code="KB204")
    known = ", ".join(one.what for one in (*READERS, *_of_packs()))
    raise ReportError("no profiler report that is known here", where=report, fix=f"known are {known}", code="KB204")


def _recognised(head: ReportHead, readers: Iterable[Reader]) -> Reader | None:
    return next((one for one in readers if one.sniff(head)), None)


def _of_packs() -> Iterator[Reader]:
    """Yield the readers that packs bring; they are asked for when no built-in one takes a report."""
    return (reader for _, reader in behind("readers"))


def _refuse_pointer(head: ReportHead) -> None:
    if head.is_folder:
        return
    if not head.data:
        raise ReportError("the file is empty", where=head.path, fix="record the report again", code="KB205")
    if head.data.startswith(_LFS_MARK):
        raise ReportError(
            "this is a Git LFS pointer, not the report", where=head.path, fix="run git lfs pull", code="KB204"
        )


def _pattern(kernel: str | None) -> re.Pattern[str] | None:
    return None if kernel is None else kernel_pattern(kernel)


def _selected(
    profiles: Iterator[KernelProfile], pattern: re.Pattern[str] | None, report: Path
) -> Iterator[KernelProfile]:
    if pattern is None:
        yield from profiles
        return
    seen: dict[str, None] = {}
    matched = False
    for profile in profiles:
        seen[profile.function] = None
        if pattern.search(profile.name) or pattern.search(profile.demangled):
            matched = True
            yield profile
    if not matched:
        raise _no_match(pattern.pattern, list(seen), report)


def _no_match(pattern: str, names: list[str], report: Path) -> NoKernelMatches:
    near = difflib.get_close_matches(pattern, names, n=_NAMES_SHOWN, cutoff=0.0) if names else []
    more = f" and {len(names) - len(near)} more" if len(names) > len(near) else ""
    return NoKernelMatches(
        f"no kernel matches {pattern!r}", where=report, fix=f"the report has {', '.join(near) or 'no kernel'}{more}"
    )
