"""The answer to a lookup: every row that fits, read again from its line, with source, conflicts and siblings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from kopt_kb.base.wire import Wire
from kopt_kb.quantity.units import UNITS, si_number, si_unit
from kopt_kb.wiki.answers import DocumentRef, NoValue, Spec, no_row, no_value, spec
from kopt_kb.wiki.names import Identity
from kopt_kb.wiki.registry import Product, checked_conditions, parse_key, platform_of
from kopt_kb.wiki.resolve import reread
from kopt_kb.wiki.row import Row
from kopt_kb.wiki.sheet import Sheet, row_value
from kopt_kb.wiki.vocabulary import asked, canonical_key, fits, metric

if TYPE_CHECKING:
    import pandas
    import polars

    from kopt_kb.base.frames import Record

__all__ = ["COLUMNS", "Lookup", "lookup"]


@dataclass(frozen=True, slots=True)
class Lookup(Wire):
    """Rows of one product.

    Attributes:
        specs: Rows with a value or word.
        unknown: Rows nobody publishes a value for.
        unsupported: NONE rows: the part does not have it.
        rejected: The losing sides of conflicts; shown, never used.
        ceilings: What the target allows its products at most; no value of this one, which may be cut.
        absent_key: What was asked for when no row answers it at all.
    """

    WIRE: ClassVar = (
        "platform=identity.platform", "sku=identity.sku", "vendor=identity.vendor", "arch=identity.arch",
        "target=identity.target", "specs=_specs", "unknown=_unknown", "unsupported=_unsupported", "siblings",
        "conflicts=_conflicts", "ceilings?=_ceilings",
    )  # fmt: skip
    identity: Identity
    sheet: Sheet
    specs: tuple[Row, ...]
    unknown: tuple[Row, ...]
    unsupported: tuple[Row, ...]
    rejected: tuple[Row, ...]
    siblings: tuple[str, ...]
    absent_key: str = ""
    ceilings: tuple[Row, ...] = ()

    def __repr__(self) -> str:
        values = "1 value" if len(self.specs) == 1 else f"{len(self.specs)} values"
        counts = (
            values,
            f"{len(self.unknown) + bool(self.absent_key)} UNKNOWN",
            f"{len(self.unsupported)} unsupported",
        )
        return f"Lookup({self.identity.platform}: {', '.join(counts)})"

    def _repr_html_(self) -> str:
        from kopt_kb.base.markup.blocks import Cell, TableBlock
        from kopt_kb.base.markup.html import fragment

        rows = tuple(
            (
                str(record["key"]),
                Cell(f"{record['value']} {record['unit'] or ''}".strip(), str(record["document"] or "")),
                str(record["grade"] or ""),
                str(record["citation"] or ""),
            )
            for record in self.records()
        )
        return fragment(
            TableBlock(f"{self.identity.platform} ({self.identity.sku})", ("key", "value", "grade", "line"), rows)
        )

    def records(self) -> list[Record]:
        """Return one row a wiki row: those with a value, UNKNOWN ones (`state` says so) and those the part lacks."""
        rows = [_record(row, self.source(row)) for row in (*self.specs, *self.unknown, *self.unsupported)]
        rows += [{**_record(row, self.source(row)), "state": "ceiling"} for row in self.ceilings]
        if self.absent_key:
            values = (self.absent_key, parse_key(self.absent_key)[0], "UNKNOWN", "unknown", "no row in the wiki")
            rows.append(dict(zip(("key", "metric", "value", "state", "document"), values, strict=True)))
        return [{"platform": self.identity.platform, **dict.fromkeys(COLUMNS[1:]), **row} for row in rows]

    def to_pandas(self) -> pandas.DataFrame:
        """Return one row a wiki row as a pandas DataFrame; raises `MissingTool` without pandas."""
        from kopt_kb.base.frames import pandas_frame

        return pandas_frame(self.records(), COLUMNS)

    def to_polars(self) -> polars.DataFrame:
        """Return the same for polars."""
        from kopt_kb.base.frames import polars_frame

        return polars_frame(self.records(), COLUMNS)

    @property
    def is_unknown(self) -> bool:
        """Whether all that was asked for is UNKNOWN."""
        return not self.specs and not self.unsupported

    def source(self, row: Row) -> DocumentRef:
        """Return the first document a row cites: title, locator, url, day read."""
        return DocumentRef.of(row, self.sheet.footnotes.get(row.path, {}))

    @property
    def _specs(self) -> tuple[Spec, ...]:
        return tuple(spec(row, source=self.source(row)) for row in self.specs)

    @property
    def _conflicts(self) -> tuple[Spec, ...]:
        return tuple(spec(row, source=self.source(row)) for row in self.rejected)

    @property
    def _ceilings(self) -> tuple[Spec, ...] | None:
        return tuple(spec(row, source=self.source(row)) for row in self.ceilings) or None

    @property
    def _unknown(self) -> tuple[NoValue, ...]:
        absent = (no_row(self.absent_key, *parse_key(self.absent_key)),) if self.absent_key else ()
        return (*(no_value(row) for row in self.unknown), *absent)

    @property
    def _unsupported(self) -> tuple[NoValue, ...]:
        return tuple(no_value(row) for row in self.unsupported)


def _record(row: Row, source: DocumentRef) -> dict[str, str | int | float | None]:
    value = row_value(row) if row.kind == "value" else None
    number = None if value is None else si_number(value)
    unit = row.unit if row.kind == "value" and row.unit != "-" else None
    base = si_unit(UNITS[unit].dimension) if unit in UNITS else None
    own = (row.key, row.metric, row.value, unit, number, base, row.grade if row.grade != "-" else None, row.kind)
    cited = f"<gpu-wiki>/{row.path}:L{row.line}"
    return dict(zip(COLUMNS[1:], (*own, cited, source.title or source.locator, source.url), strict=True))


COLUMNS = (
    "platform", "key", "metric", "value", "unit", "si_value", "si_unit", "grade", "state", "citation", "document",
    "url",
)  # fmt: skip
"""Columns of a lookup's rows; `value` is as printed, `si_value` a number."""


def lookup(product: Product, metric_name: str | None = None, /, **axes: str) -> Lookup:
    """Return the rows of a product, all of them or those of one metric under conditions.

    Args:
        product: The exact product, or its name.
        metric_name: Metric id, alias, or key `metric[axis=value;…]`; None for everything.
        **axes: Further conditions.

    Raises:
        WikiFaults: A row that was asked for does not load.
        UnknownMetric: The metric is not in the vocabulary.
    """
    platform = platform_of(product)
    wanted: dict[str, str] = {}
    name = None
    if metric_name is not None:
        name, wanted = parse_key(metric_name)
        wanted = {**wanted, **axes}
        checked_conditions(name, wanted)
    platform.refuse_faults(name)
    conditions = asked(wanted, unnamed="any")
    fitting = [row for row in platform.sheet.rows if name in {None, row.metric} and fits(dict(row.axes), conditions)]
    for row in fitting:
        reread(platform.wiki, row)
    chosen = [row for row in fitting if row.chosen is not False and not (row.is_ceiling and row.kind == "value")]
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
        tuple(row for row in fitting if row.is_ceiling and row.kind == "value" and row.chosen is not False),
    )
