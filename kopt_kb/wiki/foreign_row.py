"""One value of somebody else's table, with its place: in the words of our vocabulary, or refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction

from kopt_kb.base.errors import BadInput
from kopt_kb.quantity.units import UNITS, unit
from kopt_kb.wiki.vocabulary import AXES, METRICS, Metric, metric

__all__ = ["FIELDS", "ForeignRow", "foreign_row"]

FIELDS = ("platform", "metric", "value", "unit", "conditions")
"""Names of the fields of a row."""
_BINARY = {"kB": "KiB", "MB": "MiB", "GB": "GiB", "TB": "TiB"}
_LARGEST_EXPONENT = 30


@dataclass(frozen=True, slots=True)
class ForeignRow:
    """One value of a foreign table.

    Attributes:
        platform: Product as the table names it.
        metric: Metric id of the vocabulary.
        axes: Conditions the table states.
        value: Number as printed.
        text: The number's text.
        where: `file:line`, or the table and its key.
    """

    platform: str
    metric: str
    axes: tuple[tuple[str, str], ...]
    value: Fraction
    unit: str
    text: str
    where: str

    @property
    def si(self) -> Fraction:
        """The value in base units; printed KB and MB of on-chip sizes are binary, as vendors mean them."""
        binary = METRICS[self.metric].binary and self.unit in _BINARY
        return self.value * UNITS[_BINARY[self.unit] if binary else self.unit].factor


def _number(text: str, where: str) -> Fraction:
    try:
        number = Decimal(text.strip())
    except InvalidOperation:
        raise BadInput(
            f"{text[:40]!r} is not a number", where=where, fix="write one plain number", code="KB012"
        ) from None
    if not number.is_finite() or number < 0 or abs(number.adjusted()) > _LARGEST_EXPONENT:
        raise BadInput(f"{text[:40]!r} is not a finite positive number", where=where, code="KB012")
    return Fraction(number)


def _axes(one: Metric, given: Mapping[str, str], where: str) -> tuple[tuple[str, str], ...]:
    allowed = (*one.axes, "scope", "config")
    for name, word in given.items():
        if name not in allowed:
            raise BadInput(
                f"{one.id} has no axis {name!r}", where=where, fix=f"its axes: {', '.join(allowed)}", code="KB021"
            )
        if AXES[name] and word not in AXES[name]:
            raise BadInput(
                f"{name}={word} is not in the vocabulary",
                where=where,
                fix=f"{name}: {', '.join(AXES[name])}",
                code="KB022",
            )
    return tuple((name, given[name]) for name in allowed if name in given)


def _key_axes(text: str, where: str) -> tuple[str, dict[str, str]]:
    name, _, rest = text.partition("[")
    return name, _pairs(rest.removesuffix("]"), where)


def _pairs(text: str, where: str) -> dict[str, str]:
    found = {}
    for part in filter(None, (piece.strip() for piece in text.split(";"))):
        axis, equals, word = part.partition("=")
        if not equals:
            raise BadInput(f"condition {part[:40]!r} is not axis=value", where=where, code="KB055")
        found[axis.strip()] = word.strip()
    return found


def foreign_row(fields: Mapping[str, object], where: str) -> ForeignRow:
    """Return the row in these fields: platform, metric (or key), value, unit, conditions, and axes by name.

    Raises:
        BadInput: A field is missing or not in the vocabulary; `where` is named.
    """
    lacking = [name for name in FIELDS[:4] if not str(fields.get(name) or "").strip() and fields.get(name) != 0]
    if lacking:
        raise BadInput(
            f"the row lacks {', '.join(lacking)}", where=where, fix="give platform, metric, value, unit", code="KB057"
        )
    name, axes = _key_axes(str(fields["metric"]), where)
    try:
        one, symbol = metric(name), unit(str(fields["unit"]).strip())
    except BadInput as error:
        raise error.restated(where=where) from None
    if symbol.dimension != one.dimension:
        raise BadInput(
            f"{symbol.symbol} does not measure {one.id}", where=where, fix=f"dimension {one.dimension}", code="KB024"
        )
    stated = fields.get("conditions") or {}
    axes |= {str(k): str(v) for k, v in stated.items()} if isinstance(stated, Mapping) else _pairs(str(stated), where)
    axes |= {k: str(v).strip() for k, v in fields.items() if k in AXES and str(v or "").strip()}
    text = str(fields["value"]).strip()
    number = _number(text, where)
    return ForeignRow(
        str(fields["platform"]).strip(), one.id, _axes(one, axes, where), number, symbol.symbol, text, where
    )
