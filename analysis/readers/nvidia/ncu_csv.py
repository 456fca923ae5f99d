"""Reader of ncu's CSV output: recognises the page, reads metric pages, refuses the others with advice."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from kopt_kb.analysis.profile import Collector, KernelProfile, ReportSource
from kopt_kb.analysis.readers.common.base import Reader, ReportHead
from kopt_kb.analysis.readers.common.errors import ReportError
from kopt_kb.analysis.readers.nvidia.ncu_long import read_long
from kopt_kb.analysis.readers.nvidia.ncu_parts import LaunchParts
from kopt_kb.analysis.readers.nvidia.ncu_rows import HEADER, Noise, lines_of
from kopt_kb.analysis.readers.nvidia.ncu_wide import read_wide

__all__ = ["NCU_CSV", "NCU_OTHER_PAGE", "read_ncu_csv"]

_RAW_ADVICE = "export the metrics with ncu --import REPORT --page raw --csv --print-units base"
_OTHER_PAGES = (
    ('"Launch Attribute","Value"', "ncu's session page, which holds no metrics"),
    ('"Session Attribute","Value"', "ncu's session page, which holds no metrics"),
    ('"#","Source"', "ncu's source page, which is not read"),
    ('"#","Address"', "ncu's source page, which is not read"),
    ('"Address","Source"', "ncu's source page, which is not read"),
)


def read_ncu_csv(path: Path) -> Iterator[KernelProfile]:
    """Yield the profiles of an ncu CSV file (pages raw and details, or printed while profiling).

    Raises:
        ReportError: A row is damaged or contradicts its neighbours (with the line), or the file has no row.
    """
    header = _header(path)
    wide = "Metric Value" not in header
    read: Callable[[Path, Noise], Iterator[LaunchParts]] = read_wide if wide else read_long
    noise = Noise()
    collector = Collector(ReportSource(str(path), "ncu-csv-raw" if wide else "ncu-csv", "ncu", "nvidia"))
    launches = 0
    for parts in read(path, noise):
        collector.add(parts.launch())
        launches += 1
    if launches == 0 and noise.cut_line:
        raise ReportError("the only row is cut off", where=path, line=noise.cut_line, fix=_RAW_ADVICE, code="KB205")
    if launches == 0:
        raise ReportError("the table has a header and no row", where=path, fix=_RAW_ADVICE, code="KB205")
    yield from collector.profiles(*filter(None, (noise.note, noise.cut_note)))


def _header(path: Path) -> str:
    return next((text for _, text in lines_of(path) if HEADER.match(text)), "")


def _is_csv(head: ReportHead) -> bool:
    if head.is_folder:
        return False
    if any(HEADER.match(line) and "Kernel Name" in line for line in head.text.splitlines()):
        return True
    return head.text.startswith("==PROF==") and "Kernel Name" in _header(head.path)


def _other_page(head: ReportHead) -> str:
    return next((what for mark, what in _OTHER_PAGES if mark in head.text), "")


def _refuse(path: Path) -> Iterator[KernelProfile]:
    raise ReportError(f"this is {_other_page(ReportHead(path))}", where=path, fix=_RAW_ADVICE, code="KB204")


NCU_CSV = Reader("ncu-csv", "ncu CSV (pages raw and details)", _is_csv, read_ncu_csv)
NCU_OTHER_PAGE = Reader("ncu-csv-other", "other ncu pages (refused)", lambda head: bool(_other_page(head)), _refuse)
