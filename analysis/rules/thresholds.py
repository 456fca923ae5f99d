"""Threshold tables of the wiki: at which value of which metric a rule fires, and who says so.

A page holds one table `| Code | Metric | Op | Value | Unit | Source | Note |` and footnotes as every wiki page has. The
source is `[^id] locator quote="…"`, or `kopt-kb zoo` with a note `reason: …`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from kopt_kb.analysis.evidence import OPERATORS, Threshold, ThresholdFault
from kopt_kb.analysis.profile.families import Vendor
from kopt_kb.wiki.footnotes import Footnote, read_footnotes
from kopt_kb.wiki.places import default_root
from kopt_kb.wiki.tables import NO_ROW, rows_under

__all__ = ["HEADER", "OWN_SOURCE", "Thresholds", "load_thresholds", "read_thresholds"]

HEADER = ("Code", "Metric", "Op", "Value", "Unit", "Source", "Note")
OWN_SOURCE = "kopt-kb zoo"
_PAGES: Mapping[Vendor, tuple[str, ...]] = {
    "nvidia": ("counters/nvidia_thresholds.md", "counters/trace_thresholds.md"),
    "amd": ("counters/nvidia_thresholds.md", "counters/trace_thresholds.md", "counters/amd_thresholds.md"),
}
"""Pages in the order they are read: a later one replaces rows."""
_CODE = re.compile(r"BN-[A-Z0-9-]+")
_METRIC = re.compile(r"[a-z][a-z0-9_.]*")
_SOURCE = re.compile(r'\[\^(?P<id>[A-Za-z0-9_.\-]+)\]\s+(?P<locator>[^;|"]+?)\s+quote="(?P<quote>[^"]{1,60})"')


@dataclass(frozen=True, slots=True)
class Thresholds:
    """All rows by (code, metric)."""

    rows: Mapping[tuple[str, str], Threshold]

    def row(self, code: str, metric: str) -> Threshold:
        """Return a row; raises `ThresholdFault` when the page lacks it."""
        found = self.rows.get((code, metric))
        if found is None:
            where = _PAGES["nvidia"][0]
            raise ThresholdFault(f"no threshold for {code} {metric}", where=where, fix="add the row", code="KB213")
        return found

    def of(self, code: str) -> tuple[Threshold, ...]:
        """Return the rows of a rule in page order."""
        return tuple(one for one in self.rows.values() if one.code == code)


@lru_cache(maxsize=8)
def load_thresholds(root: Path | None = None, vendor: Vendor = "nvidia") -> Thresholds:
    """Return the thresholds for reports of a vendor's tools.

    Args:
        root: Folder of the wiki; None takes KOPT_GPU_WIKI, else the packaged one.
        vendor: Whose tools recorded.

    Raises:
        ThresholdFault: A page is missing or breaks the grammar.
    """
    rows: dict[tuple[str, str], Threshold] = {}
    for page in _PAGES[vendor]:
        path = (root or default_root()) / page
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ThresholdFault("the page of thresholds can't be read", where=str(path)) from error
        rows.update(read_thresholds(text, page).rows)
    return Thresholds(rows)


def read_thresholds(text: str, path: str) -> Thresholds:
    """Return the rows of one page; raises `ThresholdFault` with the line of the first fault."""
    lines = text.splitlines()
    notes, bad = read_footnotes(lines)
    if bad:
        raise ThresholdFault(bad[0][1], where=f"{path}:{bad[0][0]}")
    rows: dict[tuple[str, str], Threshold] = {}
    for number, cells in rows_under(lines, HEADER):
        row = _row(cells, notes, f"{path}:{number}")
        if (row.code, row.metric) in rows:
            raise ThresholdFault(f"{row.code} {row.metric} stands twice", where=row.citation)
        rows[row.code, row.metric] = row
    if not rows:
        raise ThresholdFault("the page has no table of thresholds", where=path)
    return Thresholds(rows)


def _row(cells: list[str] | None, notes: Mapping[str, Footnote], where: str) -> Threshold:
    if cells is None:
        raise ThresholdFault("no table row", where=where, fix=NO_ROW)
    if len(cells) != len(HEADER):
        raise ThresholdFault(f"{len(cells)} cells under a header of {len(HEADER)}", where=where)
    code, metric, op, value, unit, source, note = cells
    if not _CODE.fullmatch(code) or not _METRIC.fullmatch(metric):
        raise ThresholdFault(f"{code!r} {metric!r} is no code and metric", where=where)
    if op not in OPERATORS:
        raise ThresholdFault(f"{op!r} is none of {', '.join(OPERATORS)}", where=where)
    return Threshold(code, metric, op, _number(value, where), unit, _source(source, note, notes, where), where)


def _number(text: str, where: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise ThresholdFault(f"{text!r} is no number", where=where) from error


def _source(source: str, note: str, notes: Mapping[str, Footnote], where: str) -> str:
    reason = note.removeprefix("reason:").strip()
    if source == OWN_SOURCE:
        if not note.startswith("reason:") or not reason:
            raise ThresholdFault("a threshold of our own needs a note `reason: …`", where=where)
        return f"{OWN_SOURCE}: {reason}"
    cited = _SOURCE.fullmatch(source)
    if cited is None or cited["id"] not in notes:
        raise ThresholdFault(f'the source is neither {OWN_SOURCE} nor `[^id] locator quote="…"`', where=where)
    return f"{notes[cited['id']].title}, {cited['locator']}"
