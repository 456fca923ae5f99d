"""The answer to a lookup: every row that fits, read again from its line, with source, conflicts and siblings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kopt_kb.quantity.units import UNITS, si_number, si_unit
from kopt_kb.wiki.names import Identity
from kopt_kb.wiki.registry import Platform, parse_key
from kopt_kb.wiki.resolve import citation_of, reread
from kopt_kb.wiki.row import Row
from kopt_kb.wiki.sheet import Sheet, row_value
from kopt_kb.wiki.vocabulary import asked, canonical_key, fits, metric

__all__ = ["Lookup", "lookup", "row_json"]


@dataclass(frozen=True, slots=True)
class Lookup:
    """Rows of one product.

    Attributes:
        specs: Rows with a value or word.
        unknown: Rows nobody publishes a value for.
        unsupported: NONE rows: the part does not have it.
        rejected: The losing sides of conflicts; shown, never used.
        absent_key: What was asked for when no row answers it at all.
    """

    identity: Identity
    sheet: Sheet
    specs: tuple[Row, ...]
    unknown: tuple[Row, ...]
    unsupported: tuple[Row, ...]
    rejected: tuple[Row, ...]
    siblings: tuple[str, ...]
    absent_key: str = ""

    @property
    def is_unknown(self) -> bool:
        """Whether all that was asked for is UNKNOWN."""
        return not self.specs and not self.unsupported

    def source(self, row: Row) -> dict[str, Any]:
        """Return the first document a row cites: title, locator, url, day read."""
        if not row.sources:
            return {"title": "", "locator": row.note("formula"), "url": "", "read": ""}
        first = row.sources[0]
        note = self.sheet.footnotes[row.path][first.id]
        return {
            "title": note.title, "publisher": note.publisher, "locator": first.locator, "quote": first.quote,
            "url": note.url, "revision": note.revision, "read": note.read,
        }  # fmt: skip

    def to_json(self) -> dict[str, Any]:
        """Return the CLI's JSON."""
        one = self.identity
        unknown = [_state_json(row) for row in self.unknown]
        if self.absent_key:
            name, axes = parse_key(self.absent_key)
            unknown.append(
                {
                    "metric": name,
                    "key": self.absent_key,
                    "conditions": axes,
                    "reason": "no row in the wiki",
                    "citation": None,
                }
            )
        return {
            "platform": one.platform,
            "sku": one.sku,
            "vendor": one.vendor,
            "arch": one.arch,
            "target": one.target,
            "specs": [{**row_json(row), "source": self.source(row)} for row in self.specs],
            "unknown": unknown,
            "unsupported": [_state_json(row) for row in self.unsupported],
            "siblings": list(self.siblings),
            "conflicts": [{**row_json(row), "source": self.source(row)} for row in self.rejected],
        }


def _state_json(row: Row) -> dict[str, Any]:
    return {
        "metric": row.metric, "key": row.key, "conditions": dict(row.axes),
        "reason": row.note("reason"), "citation": str(citation_of(row)),
    }  # fmt: skip


def row_json(row: Row) -> dict[str, Any]:
    """Return a row as the contract's spec object, without its source."""
    value: Any = row.value
    si_value: Any = None
    if row.kind == "value":
        value = int(row.value) if row.value.isdigit() else float(row.value)
        si_value = si_number(row_value(row))
    dimension = UNITS[row.unit].dimension
    return {
        "metric": row.metric, "value": value, "text": row.value, "unit": row.unit, "si_value": si_value,
        "si_unit": si_unit(dimension), "key": row.key, "conditions": dict(row.axes), "grade": row.grade,
        "citation": str(citation_of(row)), "heading": row.heading, "row_sha256": row.sha,
        "notes": [{"tag": tag, "text": text} for tag, text in row.notes],
    }  # fmt: skip


def lookup(platform: Platform, metric_name: str | None = None, **axes: str) -> Lookup:
    """Return the rows of a platform, all of them or those of one metric under conditions.

    Args:
        platform: The product.
        metric_name: Metric id, alias, or key `metric[axis=value;…]`; None for everything.
        **axes: Further conditions.

    Raises:
        WikiFaults: A row that was asked for does not load.
        UnknownMetric: The metric is not in the vocabulary.
    """
    wanted: dict[str, str] = {}
    name = None
    if metric_name is not None:
        name, wanted = parse_key(metric_name)
        wanted = {**wanted, **axes}
        parse_key(f"{name}[{';'.join(f'{a}={v}' for a, v in wanted.items())}]")
    platform.refuse_faults(name)
    conditions = asked(wanted, unnamed="any")
    fitting = [row for row in platform.sheet.rows if name in {None, row.metric} and fits(dict(row.axes), conditions)]
    for row in fitting:
        reread(platform.wiki, row)
    chosen = [row for row in fitting if row.chosen is not False]
    absent = canonical_key(metric(name), wanted) if name and not chosen else ""
    return Lookup(
        platform.identity,
        platform.sheet,
        tuple(row for row in chosen if row.kind in {"value", "token"}),
        tuple(row for row in chosen if row.kind == "unknown"),
        tuple(row for row in chosen if row.kind == "none"),
        tuple(row for row in fitting if row.chosen is False),
        platform.siblings,
        absent,
    )
