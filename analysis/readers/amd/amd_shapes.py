"""Launch configurations out of CSV cells, each distinct one built once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from pathlib import Path

from kopt_kb.analysis.profile import Dim3
from kopt_kb.analysis.profile.amd_counters import AmdDevice
from kopt_kb.analysis.readers.amd.amd_csv import Columns, whole_in
from kopt_kb.analysis.readers.amd.amd_devices import Devices
from kopt_kb.analysis.readers.amd.amd_dispatch import DispatchShape
from kopt_kb.analysis.readers.common.errors import ReportError

__all__ = ["ShapeReader"]

_CACHED = 1 << 16
_EXTRA = {
    "lds": "shared_block_bytes",
    "scratch": "scratch_bytes_per_thread",
    "vgpr": "registers_per_thread",
    "agpr": "accum_registers_per_thread",
    "sgpr": "scalar_registers_per_wave",
    "wave": "wave_threads",
}
_USED = (
    "kernel", "agent", "threads", "threads_x", "threads_y", "threads_z", "block", "block_x", "block_y", "block_z",
    *_EXTRA,
)  # fmt: skip


class ShapeReader:
    """Reads configurations from rows of one file.

    Args:
        path: The file, for messages.
        columns: Its columns.
        devices: The GPUs that agent cells name.
    """

    def __init__(self, path: Path, columns: Columns, devices: Devices) -> None:
        self._path = path
        self._columns = columns
        self._devices = devices
        self._used = tuple(at for one in _USED if (at := columns.at(one)) is not None)
        self.key: Callable[[Sequence[str]], tuple[str, ...]] = (
            itemgetter(*self._used) if len(self._used) > 1 else self._key
        )
        self._named_by = self._used[:1] if columns.has("kernel") else ()
        self._known: dict[tuple[str, ...], DispatchShape] = {}
        self._nameless: dict[tuple[str, ...], DispatchShape] = {}

    def read(self, cells: Sequence[str], line: int) -> DispatchShape:
        """Return the configuration of a row; raises `ReportError` for sizes that are no counts."""
        key = self.key(cells)
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= _CACHED:
                self._known.clear()
            found = self._known[key] = self._named(key, cells, line)
        return found

    def _key(self, cells: Sequence[str]) -> tuple[str, ...]:
        """Return the cells that make a configuration."""
        return tuple(cells[at] for at in self._used)

    def _named(self, key: tuple[str, ...], cells: Sequence[str], line: int) -> DispatchShape:
        """Return a configuration from one that differs by its name at most: many kernels share few launch shapes."""
        rest = key[len(self._named_by) :]
        found = self._nameless.get(rest)
        if found is None or not self._named_by:
            if len(self._nameless) >= _CACHED:
                self._nameless.clear()
            found = self._nameless[rest] = self._build(cells, line)
            return found
        name = self._text("kernel", cells)
        if not name:
            raise ReportError("a row without a kernel name", where=self._path, line=line)
        return DispatchShape(
            name, found.device, found.threads, found.block, found.grid_threads, found.block_threads, found.extra
        )

    def _build(self, cells: Sequence[str], line: int) -> DispatchShape:
        name = self._text("kernel", cells)
        if not name:
            raise ReportError("a row without a kernel name", where=self._path, line=line)
        extra = ((metric, self._whole(known, cells, line)) for known, metric in _EXTRA.items())
        return DispatchShape(
            name=name,
            device=self._device(cells),
            threads=self._extents("threads", cells, line),
            block=self._extents("block", cells, line),
            grid_threads=self._whole("threads", cells, line),
            block_threads=self._whole("block", cells, line),
            extra=tuple((metric, float(value)) for metric, value in extra if value is not None),
        )

    def _device(self, cells: Sequence[str]) -> AmdDevice:
        label = self._text("agent", cells)
        return self._devices.find(label) if label else AmdDevice()

    def _text(self, known: str, cells: Sequence[str]) -> str:
        at = self._columns.at(known)
        return "" if at is None else cells[at].strip()

    def _whole(self, known: str, cells: Sequence[str], line: int) -> int | None:
        at = self._columns.at(known)
        return None if at is None else whole_in(cells[at], self._path, line)

    def _extents(self, stem: str, cells: Sequence[str], line: int) -> Dim3 | None:
        x, y, z = (self._whole(f"{stem}_{axis}", cells, line) for axis in "xyz")
        if x is None or y is None or z is None or 0 in {x, y, z}:
            return None
        return Dim3(x, y, z)
