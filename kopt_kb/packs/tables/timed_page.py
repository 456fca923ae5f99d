"""A check or a tuned table for people: in a terminal, and as a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kopt_kb.base.markup.blocks import FactsBlock, ReportPage, Section, TableBlock
from kopt_kb.cli.kit.output import printable, table
from kopt_kb.packs.tables.bouts import Bout
from kopt_kb.packs.tables.check import CheckedRow, TableCheck
from kopt_kb.packs.tables.tune import TableTune, TunedSize
from kopt_kb.problem.tuned_table import Setting
from kopt_kb.quantity.readable import duration, percent

__all__ = ["check_text", "timed_page", "tune_text"]

_CHECKED = ("row", "tokens", "against the default", "change", "interval", "time", "of roof", "right", "neighbours")
_BEYOND = "above the roof: weights came from a cache, or the time or --platform is wrong"
_TUNED = ("tokens", "now", "best", "change", "interval", "time", "of roof", "tried", "ended")
_THAN: Mapping[str, str] = {"faster": "faster than", "slower": "slower than", "equal": "equal to"}


def check_text(found: TableCheck) -> str:
    """Return a check for a terminal."""
    rows = [_CHECKED, *map(_checked_cells, found.rows)]
    reasons = [f"  {one.key}: {one.problem or one.bout.reason}" for one in found.rows if one.fails]
    reasons += [f"  {one.key}: {_BEYOND}" for one in found.rows if (one.share or 0.0) > 1.0]
    counts = ", ".join(f"{number} {verdict}" for verdict, number in found.counts.items())
    last = f"{len(found.rows)} row(s), {counts}; {_layer(found)}; {found.seconds:.0f} s"
    body = table(rows, right=(1, 3, 4, 5, 6))
    title = printable(f"{found.file} on {found.platform}: {found.verdict}")
    return "\n".join([title, body, *map(printable, (*reasons, last))])


def tune_text(found: TableTune) -> str:
    """Return a tuned table for a terminal."""
    rows = [_TUNED, *map(_tuned_cells, found.sizes)]
    where = found.written or "nowhere: give --out FILE or --in-place"
    last = f"{found.accepted} of {len(found.sizes)} sizes are faster; written {where}; {_layer(found)}; "
    body = table(rows, right=(0, 3, 4, 5, 6, 7))
    reasons = [f"  {one.tokens}: {one.bout.reason}" for one in found.sizes if one.bout.verdict == "fault"]
    reasons += [f"  {one.tokens}: {_BEYOND}" for one in found.sizes if (one.share or 0.0) > 1.0]
    said = (*reasons, f"{last}{found.seconds:.0f} s")
    return "\n".join([printable(f"{found.file} on {found.platform}"), body, *map(printable, said)])


def timed_page(found: TableCheck | TableTune, program: str, data: str) -> ReportPage:
    """Return the page of a check or of a tuned table.

    Args:
        found: It.
        program: Program and version that made it.
        data: Version and date of the wiki's data.
    """
    is_check = isinstance(found, TableCheck)
    versions = ", ".join(f"{name} {one}" for name, one in sorted(found.versions.items()))
    facts = (
        ("Table", found.file), ("Product", found.platform), ("Engine", f"{found.engine} {found.version}".strip()),
        ("Layer", _layer(found)), ("Recorded with", versions), ("Wiki", data),
        ("Took", f"{found.seconds:.0f} s"),
    )  # fmt: skip
    head, cells = (_CHECKED, [*map(_checked_cells, found.rows)]) if isinstance(found, TableCheck) else (
        _TUNED, [*map(_tuned_cells, found.sizes)])  # fmt: skip
    title = "Rows of a tuned table against the engine's default" if is_check else "A tuned table"
    block = TableBlock(f"{len(cells)} row(s)", head, tuple(cells), frozenset({3, 4, 5, 6}))
    why = tuple(_reasons(found))
    sections = [Section("Why", (TableBlock("Reasons", ("Row", "What was seen"), why, frozenset()),))] if why else []
    return ReportPage(title, (FactsBlock(facts), block), sections, program)


def _reasons(found: TableCheck | TableTune) -> list[tuple[str, str]]:
    if isinstance(found, TableCheck):
        return [(one.key, one.problem or one.bout.reason) for one in found.rows]
    return [(str(one.tokens), f"{_settings(one.settings or one.now)}: {one.bout.reason}") for one in found.sizes]


def _checked_cells(row: CheckedRow) -> tuple[str, ...]:
    right = "" if row.right is None else "yes" if row.right else "no"
    near = ", ".join(f"{_THAN.get(one.bout.verdict, one.bout.verdict)} {one.key}" for one in row.neighbours)
    seconds = "" if row.bout.head_s is None else duration(row.bout.head_s)
    return (row.key, str(row.tokens), row.bout.verdict, *_change(row.bout), seconds, _share(row.share), right, near)


def _tuned_cells(size: TunedSize) -> tuple[str, ...]:
    taken = size.bout.head_s if size.settings is not None else size.bout.base_s
    seconds = "" if taken is None else duration(taken)
    now = f"row {size.source}" if size.source else "default"
    return (
        str(size.tokens), now, size.bout.verdict, *_change(size.bout), seconds, _share(size.share), str(size.tried),
        size.ended,
    )  # fmt: skip


def _change(bout: Bout) -> Sequence[str]:
    change = "" if bout.change_pct is None else f"{bout.change_pct:+.2f} %"
    both = "" if bout.least_pct is None or bout.most_pct is None else f"{bout.least_pct:+.2f} to {bout.most_pct:+.2f}"
    return change, both


def _share(share: float | None) -> str:
    return "" if share is None else percent(share)


def _settings(settings: Mapping[str, Setting]) -> str:
    return ", ".join(f"{name} {value}" for name, value in settings.items())


def _layer(found: TableCheck | TableTune) -> str:
    depth = f"{found.hidden:,} deep, {found.top_k} experts a token, {found.activation}"
    return f"{depth}, {found.routing} routing, kernel and default of {found.engine} {found.version}".strip()
