"""NONE beside the kin of a product: what its target has a rate for, what most products of its target have."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from kopt_kb.wiki.faults import Fault
from kopt_kb.wiki.row import Row
from kopt_kb.wiki.wiki import Wiki

__all__ = ["wrongly_none"]

_FREE_AXES = ("acc", "clock")
"""What documents leave open: a format is had or not, whatever its accumulator or clock."""


def _plain_key(row: Row) -> tuple[object, ...]:
    return row.metric, *(pair for pair in row.axes if pair[0] not in _FREE_AXES)


def _rated(row: Row) -> bool:
    return row.metric == "ops_per_clock_per_sm" and row.kind == "value" and row.chosen is not False


def _excused(row: Row) -> bool:
    return any(tag == "exception" and text.startswith("KIN: NONE, ") for tag, text in row.notes)


def _judged(row: Row, why: str, *, odd: bool) -> Fault:
    if not odd:
        return Fault("WK303", row.path, row.line, f"{row.key} = NONE as its kin", "remove the exception")
    fix = "read it again, or declare `exception KIN: NONE, why`"
    return Fault("WK406", row.path, row.line, f"{row.key} = NONE: {why}", fix)


def wrongly_none(wiki: Wiki) -> Iterator[Fault]:
    """Yield each NONE of a product where its target has a rate for it, or most products of the target have a value."""
    by_target: dict[str, dict[tuple[object, ...], list[Row]]] = defaultdict(lambda: defaultdict(list))
    for identity in wiki.names.identities.values():
        for row in wiki.sheet(identity).rows:
            if row.kind in {"value", "none"} and row.chosen is not False and row.path.startswith("hardware/"):
                by_target[identity.target][_plain_key(row)].append(row)
    for target, keys in by_target.items():
        page = wiki.page(f"targets/{target}.md")
        rated = {_plain_key(row)[1:] for row in (page.rows if page else ()) if _rated(row)}
        for (metric, *axes), found in keys.items():
            without = [row for row in found if row.kind == "none"]
            rate = metric == "peak_compute" and tuple(axes) in rated
            odd = rate or len(found) > 2 * len(without)
            why = "its target has a rate for it" if rate else f"most products of {target} have one"
            yield from (_judged(row, why, odd=odd) for row in without if odd != _excused(row))
