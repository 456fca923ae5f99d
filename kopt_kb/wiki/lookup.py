"""The answer to a lookup: every row that fits, read again from its line, with source, conflicts and siblings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kopt_kb.wiki.answers import DocumentRef, NoValue, Spec, no_row, no_value, spec
from kopt_kb.wiki.names import Identity
from kopt_kb.wiki.registry import Platform, checked_conditions, parse_key
from kopt_kb.wiki.resolve import reread
from kopt_kb.wiki.row import Row
from kopt_kb.wiki.sheet import Sheet
from kopt_kb.wiki.vocabulary import asked, canonical_key, fits, metric
from kopt_kb.wire import Wire

__all__ = ["Lookup", "lookup"]


@dataclass(frozen=True, slots=True)
class Lookup(Wire):
    """Rows of one product.

    Attributes:
        specs: Rows with a value or word.
        unknown: Rows nobody publishes a value for.
        unsupported: NONE rows: the part does not have it.
        rejected: The losing sides of conflicts; shown, never used.
        absent_key: What was asked for when no row answers it at all.
    """

    WIRE: ClassVar = (
        "platform=identity.platform", "sku=identity.sku", "vendor=identity.vendor", "arch=identity.arch",
        "target=identity.target", "specs=_specs", "unknown=_unknown", "unsupported=_unsupported", "siblings",
        "conflicts=_conflicts",
    )  # fmt: skip
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
    def _unknown(self) -> tuple[NoValue, ...]:
        absent = (no_row(self.absent_key, *parse_key(self.absent_key)),) if self.absent_key else ()
        return (*(no_value(row) for row in self.unknown), *absent)

    @property
    def _unsupported(self) -> tuple[NoValue, ...]:
        return tuple(no_value(row) for row in self.unsupported)


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
        checked_conditions(name, wanted)
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
