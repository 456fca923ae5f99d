"""One launch while its lines are read: identity, metrics and rules, checked for contradictions."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from kopt_kb.analysis.profile import Dim3, ProfiledLaunch, RawMetric, ReportPlace, StoredRule
from kopt_kb.analysis.readers.common.errors import ReportError
from kopt_kb.analysis.readers.common.numerals import Decimal, number
from kopt_kb.analysis.readers.common.units import base_unit
from kopt_kb.analysis.readers.nvidia.ncu_launch import launch_of
from kopt_kb.analysis.readers.nvidia.ncu_names import NUMERIC

__all__ = ["LaunchParts", "extents", "metric_of", "target_of"]

_ABSENT = frozenset({"", "n/a", "nan", "-nan", "inf", "-inf", "-nan(ind)", "nan(ind)", "no data"})
_AGAIN = "export the page again"


@dataclass(slots=True)
class LaunchParts:
    """What has been read of one launch.

    Attributes:
        file: The report.
        line: Line of its first row.
        id: Launch id.
        name: Kernel name as printed.
        shape: Printed grid, block and compute capability, compared over the rows of a launch.
        raw: Metrics so far.
        rules: Verdicts so far.
        sections: Section that each metric was first printed in.
    """

    file: Path
    line: int
    id: str
    name: str
    shape: tuple[str, str, str]
    raw: dict[str, RawMetric] = field(default_factory=dict)
    rules: list[StoredRule] = field(default_factory=list)
    sections: dict[str, str] = field(default_factory=dict)

    def put(self, name: str, metric: RawMetric | None, section: str, line: int) -> None:
        """Store a metric; raises `ReportError` when its section already has another number for it.

        Sections may print one metric with different precision, or reuse a label: the first one counts.
        """
        if metric is None:
            return
        held = self.raw.setdefault(name, metric)
        first = self.sections.setdefault(name, section)
        if held != metric and first == section:
            raise ReportError(f"a second value of {name} for launch {self.id}", where=self.file, line=line, fix=_AGAIN)

    def launch(self) -> ProfiledLaunch:
        """Return the launch; raises `ReportError` for a unit that can't be."""
        grid, block, capability = self.shape
        device = self.raw.get("device__attribute_display_name")
        stated = ProfiledLaunch(
            id=self.id,
            name=self.name,
            place=ReportPlace(str(self.file), f"line {self.line}"),
            device=device.value if device is not None and isinstance(device.value, str) else "",
            target=target_of(capability),
            grid=extents(grid),
            block=extents(block),
            rules=tuple(self.rules),
        )
        try:
            return launch_of(stated, self.raw)
        except ReportError as error:
            raise ReportError(error.what, where=self.file, line=self.line, fix=error.fix) from error


def metric_of(name: str, cell: str, unit: str, decimal: Decimal, where: tuple[Path, int]) -> RawMetric | None:
    """Return a printed metric in base units, None when the cell says that it was not collected.

    Raises:
        ReportError: A metric that is a number by definition has text.
    """
    text = cell.strip()
    if text.lower() in _ABSENT:
        return None
    value = number(text, decimal)
    if value is None:
        if name in NUMERIC:
            raise ReportError(f"{name} is {text[:40]!r}, no number", where=where[0], line=where[1], fix=_AGAIN)
        return RawMetric(text, "")
    scaled = base_unit(unit)
    return RawMetric(scaled.apply(value), scaled.unit)


def extents(cell: str) -> Dim3 | None:
    """Return `(64, 1, 1)` as extents, None for anything else."""
    match = re.fullmatch(r"\(?\s*(\d+)\s*[,;]\s*(\d+)\s*[,;]\s*(\d+)\s*\)?", cell.strip())
    return Dim3(*(int(one) for one in match.groups())) if match else None


def target_of(capability: str) -> str:
    """Return `sm_90` for compute capability `9.0`, empty for anything else."""
    match = re.fullmatch(r"(\d+)[.,](\d)", capability.strip())
    return f"sm_{match[1]}{match[2]}" if match else ""
