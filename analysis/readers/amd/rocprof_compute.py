"""Reader of rocprof-compute (omniperf) workload folders: wide and long counter tables of releases 1 to 3."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from kopt_kb.analysis.profile import KernelProfile, ReportSource
from kopt_kb.analysis.readers.amd.amd_collect import AmdCollector
from kopt_kb.analysis.readers.amd.amd_csv import Columns, folded, header_of
from kopt_kb.analysis.readers.amd.amd_devices import Devices, device_of_sysinfo
from kopt_kb.analysis.readers.amd.amd_roofline import read_roofline
from kopt_kb.analysis.readers.amd.amd_store import DispatchStore
from kopt_kb.analysis.readers.amd.amd_wide import WideReader, read_wide, rows_with_text
from kopt_kb.analysis.readers.amd.rocprofv3_rows import TableReader
from kopt_kb.analysis.readers.common.base import Reader, ReportHead
from kopt_kb.analysis.readers.common.errors import ReportError

__all__ = ["ROCPROF_COMPUTE", "ROOFLINE", "SYSINFO", "read_rocprof_compute", "system_of"]

_FORMAT = "rocprof-compute"
_MAIN = "pmc_perf.csv"
_PARTS = ("pmc_perf_*.csv", "results_*.csv")
SYSINFO = "sysinfo.csv"
_TIMES = "timestamps.csv"
_WAVES = "SQ_LEVEL_WAVES.csv"
ROOFLINE = "roofline.csv"
_WAVE_COUNTERS = {
    "SQ_ACCUM_PREV_HIRES": "SQ_ACCUM_PREV_HIRES__SQ_LEVEL_WAVES",
    "GRBM_GUI_ACTIVE": "GRBM_GUI_ACTIVE__SQ_LEVEL_WAVES",
}


def read_rocprof_compute(path: Path) -> Iterator[KernelProfile]:
    """Yield the profiles of a workload folder, or of one counter table inside one.

    Times come from the counter table, else from `timestamps.csv`; those of several passes become their median.

    Raises:
        ReportError: A row is damaged, or no counter table has a row.
    """
    folder = path if path.is_dir() else path.parent
    devices, version = system_of(folder / SYSINFO)
    collector = AmdCollector(ReportSource(str(path), _FORMAT, "rocprof-compute", "amd", version))
    store = DispatchStore(collector)
    tables = _tables(folder) if path.is_dir() else [path]
    if sum(_read(table, devices, store) for table in tables) == 0:
        raise ReportError(
            "no counter table of the workload has a row", where=path, fix="profile the workload again", code="KB205"
        )
    if path.is_dir() and len(devices.in_order) == 1:
        collector.peaks(read_roofline(folder / ROOFLINE, devices.in_order[0].target, version))
    _extras(folder, devices, store, timed=all(_columns(table).has("start", "end") for table in tables))
    store.flush()
    yield from collector.profiles()


def _tables(folder: Path) -> list[Path]:
    main = folder / _MAIN
    if main.is_file():
        return [main]
    found = {file for pattern in _PARTS for file in folder.glob(pattern) if file.is_file()}
    return sorted(found)


def _read(table: Path, devices: Devices, store: DispatchStore) -> int:
    if _columns(table).has("counter", "value"):
        return TableReader(table, devices, store, by_row=True).read(quick=False)
    return read_wide(WideReader(table, devices, store))


def _columns(table: Path) -> Columns:
    return Columns(header_of(ReportHead(table).text))


def _extras(folder: Path, devices: Devices, store: DispatchStore, *, timed: bool) -> None:
    """Add the times of old releases, and the pass that accumulates resident waves."""
    times, waves = folder / _TIMES, folder / _WAVES
    if times.is_file() and not timed:
        read_wide(WideReader(times, devices, store, only={"": ""}))
    if waves.is_file():
        read_wide(WideReader(waves, devices, store, only=_WAVE_COUNTERS, times=False))


def system_of(path: Path) -> tuple[Devices, str | None]:
    """Return the device of `sysinfo.csv` and the tool's version; old logs leave commas of the command unquoted."""
    devices = Devices()
    if not path.is_file():
        return devices, None
    rows = rows_with_text(path, "command")
    header = [folded(one) for one in next(rows, (0, []))[1]]
    for _, cells in rows:
        info = dict(zip(header, cells, strict=True))
        devices.add(device_of_sysinfo(info), None)
        return devices, info.get("version") or None
    return devices, None


def _is_workload(head: ReportHead) -> bool:
    if head.is_folder:
        return any(_is_table(ReportHead(file)) for file in _tables(head.path)[:1])
    return _is_table(head)


def _is_table(head: ReportHead) -> bool:
    columns = Columns(header_of(head.text))
    return columns.has("kernel", "dispatch") and {"gpu_id", "lds_per_workgroup"} <= set(columns.header)


ROCPROF_COMPUTE = Reader(_FORMAT, "rocprof-compute workload folder", _is_workload, read_rocprof_compute)
