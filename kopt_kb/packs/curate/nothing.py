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
    yield from _linked(wiki)
    yield from _formats(wiki)
    for target, keys in by_target.items():
        page = wiki.page(f"targets/{target}.md")
        rated = {_plain_key(row)[1:] for row in (page.rows if page else ()) if _rated(row)}
        for (metric, *axes), found in keys.items():
            without = [row for row in found if row.kind == "none"]
            rate = metric == "peak_compute" and tuple(axes) in rated
            odd = rate or len(found) > 2 * len(without)
            why = "its target has a rate for it" if rate else f"most products of {target} have one"
            yield from (_judged(row, why, odd=odd) for row in without if odd != _excused(row))


_LINKS = ("link_bandwidth", "link_count")


def _linked(wiki: Wiki) -> Iterator[Fault]:
    """Yield each NONE about a link that another row of the same product has a value of."""
    for identity in wiki.names.identities.values():
        found = [row for row in wiki.sheet(identity).rows if row.metric in _LINKS and row.path.startswith("hardware/")]
        had = {dict(row.axes).get("link") for row in found if row.kind == "value" and row.chosen is not False}
        for row in found:
            if row.kind == "none" and dict(row.axes).get("link") in had and not _excused(row):
                yield _judged(row, "other rows of the page have values of this link", odd=True)


_RATES = ("peak_compute", "measured_compute", "acceptance_compute")


def _formats(wiki: Wiki) -> Iterator[Fault]:
    """Yield each rate of a format that the same product is said not to have on the same engine."""
    for identity in wiki.names.identities.values():
        chosen = [row for row in wiki.sheet(identity).rows if row.metric in _RATES and row.chosen is not False]
        lacks = {dict(row.axes)["dtype"] for row in chosen if _dense_none(row)}
        for row in chosen:
            dtype = dict(row.axes)["dtype"]
            if row.kind == "value" and dtype in lacks and _on_matrix(row) and row.path.startswith("hardware/"):
                message = f"{row.key} = {row.value}: another row of the page says that the part has no {dtype}"
                yield Fault("WK406", row.path, row.line, message, "read both again")
        yield from _unheard(wiki.sheet(identity).rows)


_BESIDE = ("ops_per_clock_per_sm", "lanes_per_sm", "peak_compute")


def _unheard(rows: list[Row]) -> Iterator[Fault]:
    """Yield each measured or demanded rate of a format of which neither the target nor the page says anything else."""
    said = {dict(row.axes)["dtype"] for row in rows if row.metric in _BESIDE and row.kind in {"value", "unknown"}}
    for row in rows:
        dtype = dict(row.axes).get("dtype", "")
        if row.metric in _RATES and row.kind == "value" and dtype not in said and row.path.startswith("hardware/"):
            message = f"{row.key} = {row.value}: no other row of the part or its target is of {dtype}"
            yield Fault(
                "WK406", row.path, row.line, message, "read the document again; a rate of a new format has a peak"
            )


def _on_matrix(row: Row) -> bool:
    return dict(row.axes).get("engine", "matrix") == "matrix"


def _dense_none(row: Row) -> bool:
    return row.kind == "none" and row.metric == "peak_compute" and _on_matrix(row) and ("sparsity", "dense") in row.axes
