"""Kernel profiles as a compact plain-text table for people."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from kopt_kb.analysis.profile.kernel_profile import KernelProfile

__all__ = ["render_profiles"]

_NAME_CHARS = 40
_ABSENT = "-"
_PREFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
_TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))

Cell = Callable[[KernelProfile], str]


def render_profiles(profiles: Iterable[KernelProfile]) -> str:
    """Return one line a kernel: launches, median time, ncu's class, throughputs, occupancy, DRAM rate.

    A value that was not collected prints as `-`. Lines under the table hold the notes of the readers and the full
    name of kernels whose name was cut.
    """
    shown = list(profiles)
    rows = [[title for title, _ in _COLUMNS], *([cell(one) for _, cell in _COLUMNS] for one in shown)]
    widths = [max(len(row[index]) for row in rows) for index in range(len(_COLUMNS))]
    lines = [_line(row, widths) for row in rows]
    names = {one.demangled: None for one in shown if len(one.function) > _NAME_CHARS}
    notes = {f"{one.source.file}: {note}": None for one in shown for note in one.notes}
    return "\n".join([*lines, *(f"  {name}" for name in names), *(f"note: {note}" for note in notes)]) + "\n"


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first = cells[0].ljust(widths[0])
    rest = (cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True))
    return "  ".join([first, *rest]).rstrip()


def _name(profile: KernelProfile) -> str:
    name = profile.function
    return name if len(name) <= _NAME_CHARS else name[: _NAME_CHARS - 1] + "…"


def _time(profile: KernelProfile) -> str:
    seconds = profile.duration_s
    if seconds is None:
        return _ABSENT
    scale, unit = next(((scale, unit) for scale, unit in _TIMES if seconds >= scale), _TIMES[-1])
    return f"{seconds / scale:.4g} {unit}"


def _pct(metric: str) -> Cell:
    def cell(profile: KernelProfile) -> str:
        value = profile.get(metric)
        return _ABSENT if value is None else f"{value:.1f}"

    return cell


def _rate(profile: KernelProfile) -> str:
    value = profile.get("dram_bytes_per_s")
    if value is None:
        return _ABSENT
    scale, prefix = next(((scale, prefix) for scale, prefix in _PREFIXES if value >= scale), (1.0, ""))
    return f"{value / scale:.4g} {prefix}B/s"


def _whole(metric: str) -> Cell:
    def cell(profile: KernelProfile) -> str:
        value = profile.get(metric)
        return _ABSENT if value is None else f"{value:.0f}"

    return cell


_COLUMNS: tuple[tuple[str, Cell], ...] = (
    ("kernel", _name),
    ("launches", lambda one: str(one.launch_count)),
    ("time", _time),
    ("class", lambda one: one.sol_class or _ABSENT),
    ("SM %", _pct("sm_sol_pct")),
    ("memory %", _pct("memory_sol_pct")),
    ("DRAM %", _pct("dram_sol_pct")),
    ("DRAM", _rate),
    ("occupancy %", _pct("achieved_occupancy_pct")),
    ("registers", _whole("registers_per_thread")),
    ("limited by", lambda one: "+".join(sorted(one.occupancy_limiters)) or _ABSENT),
)
