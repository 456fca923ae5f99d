"""Files that are no report that is read here, by name: what each is, and the command or option that gives one that is.

By content where a kind has a mark; the suffix decides only between words, never between readers.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from kopt_kb.analysis.readers.common.base import GZIP_MAGIC, SQLITE_MAGIC, ReportHead
from kopt_kb.analysis.readers.common.errors import ReportError

__all__ = ["FileKind", "kind_of_foreign"]


class FileKind(NamedTuple):
    """What a file is, and what to do."""

    what: str
    fix: str


_NSYS_REPORT = b"NVIDIA Tegra Profiler Report"
_NSYS_STREAM = b"NVIDIA Nsight Systems Stream"
_TRACED = "give the JSON that torch.profiler's export_chrome_trace writes, or rocprofv3 --output-format csv"
_NAMES_SHOWN = 5
_HEAD_CHARS = 4096
_STATISTICS = re.compile(r'^"?Time \(%\)"?,"?Total Time', re.MULTILINE)
_MEMBER = re.compile(r'"([A-Za-z_][\w .-]{0,40})"\s*:')

_PACKED = (
    (b"\xfd7zXZ\x00", "xz", "xz -dk"),
    (b"BZh", "bzip2", "bzip2 -dk"),
    (b"PK\x03\x04", "zip", "unzip"),
    (b"\x1f\x9d", "compress", "uncompress -k"),
)
_MARKED = (
    (b"PAR1", "a Parquet file", "export SQLite: nsys export --type sqlite"),
    (b"ARROW1", "an Arrow file", "export SQLite: nsys export --type sqlite"),
    (b"\x89HDF", "an HDF5 file", "export SQLite: nsys export --type sqlite"),
    (b"%PDF", "a PDF document", "give the profiler's own file"),
    (b"\x89PNG", "a picture", "give the profiler's own file"),
    (b"\x7fELF", "a program or code object", "give what the profiler recorded; kb isa reads machine code"),
    (b"\x80\x02", "a Python pickle, which could run code", _TRACED),
    (b"\x80\x04", "a Python pickle, which could run code", _TRACED),
    (b"\x80\x05", "a Python pickle, which could run code", _TRACED),
)


def kind_of_foreign(head: ReportHead) -> FileKind | None:
    """Return what a file that no reader takes is, None when nothing tells."""
    if head.is_folder:
        return FileKind("a folder without reports in it", "give one of its files, or the folder that holds them")
    tests: tuple[Callable[[ReportHead], FileKind | None], ...] = (_nsys, _packed, _marked, _sqlite, _text)
    return next((found for test in tests if (found := test(head)) is not None), None)


def _quoted(path: Path) -> str:
    return shlex.quote(str(path))


def _nsys(head: ReportHead) -> FileKind | None:
    if head.data.startswith(_NSYS_REPORT):
        export = f"nsys export --type sqlite --output {_quoted(head.path.with_suffix('.sqlite'))} {_quoted(head.path)}"
        return FileKind("an Nsight Systems report, which only nsys reads", export)
    if _NSYS_STREAM in head.data[:64]:
        command = f"QdstrmImporter --input-file {_quoted(head.path)}, then nsys export --type sqlite"
        return FileKind("an unfinished Nsight Systems recording (.qdstrm)", command)
    return None


def _packed(head: ReportHead) -> FileKind | None:
    if head.data.startswith(GZIP_MAGIC):
        return FileKind("a gzip file without a trace in it", f"gunzip -k {_quoted(head.path)}, and give what it holds")
    for magic, name, command in _PACKED:
        if head.data.startswith(magic):
            return FileKind(f"a file packed by {name}", f"{command} {_quoted(head.path)}, and give what it holds")
    return None


def _marked(head: ReportHead) -> FileKind | None:
    for magic, what, fix in _MARKED:
        if head.data.startswith(magic):
            return FileKind(what, fix)
    if head.data[:1] == b"\x0a" and head.path.suffix in {".pftrace", ".perfetto-trace", ".proto"}:
        return FileKind("a Perfetto trace", "rocprofv3 --output-format rocpd, or torch.profiler's JSON")
    if head.path.suffix == ".otf2":
        return FileKind("an OTF2 archive", "rocprofv3 --output-format rocpd")
    if head.path.suffix == ".att":
        return FileKind("a raw thread trace", "give the ui_output folder or the stats CSV that rocprofv3 --att writes")
    return None


def _sqlite(head: ReportHead) -> FileKind | None:
    if not head.data.startswith(SQLITE_MAGIC):
        return None
    try:
        tables = sorted(head.tables)
    except ReportError:
        return FileKind("a damaged SQLite file", "copy or record the report again")
    if any(one.startswith("CUPTI_ACTIVITY_KIND_") for one in tables):
        return FileKind(
            "an nvprof database, without the strings of Nsight Systems", "record with nsys profile --trace cuda"
        )
    if not tables:
        return FileKind("an empty SQLite database", "record the report again")
    more = f" and {len(tables) - _NAMES_SHOWN} more" if len(tables) > _NAMES_SHOWN else ""
    known = "databases of Nsight Systems, rocprofv3, rocprof-compute and RocmProfileData are read"
    return FileKind(
        f"a SQLite database of no profiler known here (tables {', '.join(tables[:_NAMES_SHOWN])}{more})", known
    )


def _text(head: ReportHead) -> FileKind | None:
    text = head.text[:_HEAD_CHARS].lstrip("\ufeff \t\r\n")
    if _STATISTICS.search(text):
        return FileKind("statistics that nsys stats prints", "nsys export --type sqlite of the report itself")
    if text[:15].lower().startswith(("<!doctype", "<html")):
        return FileKind("an HTML page", "give the profiler's own file; a download page may stand in its place")
    if text.startswith(("{", "[")):
        names = list(dict.fromkeys(_MEMBER.findall(text)))[:_NAMES_SHOWN]
        told = f" (members {', '.join(names)})" if names else ""
        known = "Chrome traces, proton trees and rocprofv3's JSON are read"
        return FileKind(f"JSON of no profiler known here{told}", known)
    return None
