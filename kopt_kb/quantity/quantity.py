"""Quantities that know where they come from: exact value, dimension, printed form and one of four origins.

A measurement is no quantity: it stays a record of a journal, in seconds, and can't reach a ceiling or target but by
becoming a row of the wiki.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import ClassVar, Literal

from kopt_kb.base.errors import BadInput, KoptError, UnknownData
from kopt_kb.base.wire import Wire
from kopt_kb.quantity import Exactness, Grade
from kopt_kb.quantity.citation import Citation
from kopt_kb.quantity.dimensions import DimensionError, DimensionUnit, product_of, quotient_of
from kopt_kb.quantity.units import format_exact, si_number, si_unit, unit

__all__ = [
    "Absent",
    "Cited",
    "Counted",
    "Derived",
    "DimensionError",
    "Given",
    "NotACeiling",
    "Origin",
    "Quantity",
    "Unknown",
    "counted",
    "given",
    "made",
]


class NotACeiling(KoptError):
    """A value that may not become a ceiling, floor, limit or target: one of its leaves is not a wiki row."""

    code = "KB031"


@dataclass(frozen=True, slots=True)
class Cited:
    """A row of the wiki. Constructed in `wiki.resolve` only."""

    key: str
    grade: Grade
    citation: Citation


@dataclass(frozen=True, slots=True)
class Counted:
    """Work counted from shapes, IR or a profile."""

    what: str
    exactness: Exactness


@dataclass(frozen=True, slots=True)
class Given:
    """A number a person or a policy gave: a flag, or a named factor such as the 90 % of a target."""

    name: str
    is_policy: bool = False


@dataclass(frozen=True, slots=True)
class Derived:
    """The result of a formula over other quantities."""

    formula: str
    parents: tuple[Quantity, ...]
    grade: Grade | None = None
    citation: Citation | None = None
    key: str | None = None


Origin = Cited | Counted | Given | Derived


def _cell_html(text: str, note: str, cited: tuple[str, ...]) -> str:
    from kopt_kb.base.markup.blocks import Cell
    from kopt_kb.base.markup.html import fragment  # what a notebook shows

    return fragment(Cell(text, note, cited))


@dataclass(frozen=True, slots=True)
class Unknown(Wire):
    """A value nobody publishes, or that no row holds; arithmetic with it stays unknown and keeps what is missing.

    Attributes:
        needs: Keys of the rows that are missing, `PLATFORM metric[…]`.
        reason: Why, as the row says; empty when there is no row at all.
        citation: The UNKNOWN row, if there is one.
    """

    WIRE: ClassVar = ("value=_printed", "state=_state", "needs", "reason")
    _state: ClassVar[Literal["UNKNOWN"]] = "UNKNOWN"
    _printed: ClassVar[None] = None
    _number_si: ClassVar[None] = None
    unit: ClassVar[None] = None
    grade_names: ClassVar[None] = None
    needs: tuple[str, ...]
    reason: str = ""
    citation: Citation | None = None
    key: str = ""
    conditions: tuple[tuple[str, str], ...] = ()

    def _join(self, other: object) -> Unknown:
        if isinstance(other, Unknown):
            return Unknown(tuple(dict.fromkeys((*self.needs, *other.needs))), self.reason or other.reason)
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _join

    def __repr__(self) -> str:
        return f"Unknown(needs {', '.join(self.needs)}{f': {self.reason}' if self.reason else ''})"

    def _repr_html_(self) -> str:
        cited = filter(None, [self.citation])
        return _cell_html(f"UNKNOWN: needs {', '.join(self.needs)}", self.reason, tuple(map(str, cited)))

    def error(self) -> UnknownData:
        """Return the refusal that names the rows it needs."""
        reason = f": {self.reason}" if self.reason else ""
        return UnknownData(
            f"{', '.join(self.needs)} is UNKNOWN{reason}",
            where=str(self.citation.location) if self.citation else "",
            fix="add a sourced row to the wiki, or choose a platform that documents it",
            code="KB130",
        )


@dataclass(frozen=True, slots=True)
class Absent(Wire):
    """What the part does not have (a NONE row): neither zero nor unknown."""

    WIRE: ClassVar = ("value=_printed", "state=_state", "key", "reason")
    _state: ClassVar[Literal["NONE"]] = "NONE"
    _printed: ClassVar[None] = None
    key: str
    reason: str
    citation: Citation
    conditions: tuple[tuple[str, str], ...] = ()

    def __repr__(self) -> str:
        return f"Absent({self.key}: {self.reason})"

    def error(self) -> BadInput:
        """Return the refusal to compute with something that does not exist."""
        return BadInput(f"{self.key} is NONE: {self.reason}", where=str(self.citation.location), code="KB032")


@dataclass(frozen=True, slots=True, order=False)
class Quantity(Wire):
    """An exact value with a dimension, a printed form and an origin.

    Attributes:
        si: Value in base units of `dimension`, exact.
        dimension: See `quantity.units.DIMENSIONS`.
        unit: Unit of the printed form.
        origin: Where the value comes from.
        text: Printed number in `unit`; empty means "computed": print as many digits as are meaningful.

    What the constructor or `dataclasses.replace` makes is never a ceiling: `Platform.get` and arithmetic are the ways.
    """

    WIRE: ClassVar = (
        "value=_printed", "unit", "si_value=_number_si", "si_unit", "grades=grade_names", "citations=citation_texts",
    )  # fmt: skip
    needs: ClassVar[None] = None
    si: Fraction
    dimension: str
    unit: str
    origin: Origin
    text: str = field(default="", compare=False)
    _seal: int = field(default=0, compare=False, repr=False)

    __array_ufunc__ = None  # numpy defers to us, and we refuse: a bare array has no source

    def __post_init__(self) -> None:
        if unit(self.unit).dimension != self.dimension:
            raise DimensionError(f"unit {self.unit} is not of dimension {self.dimension}")

    # ---- reading ---------------------------------------------------------------------------------

    @property
    def number(self) -> str:
        """Printed number, without unit."""
        return self.text or format_exact(self.si / unit(self.unit).factor)

    @property
    def _printed(self) -> float:
        return float(self.number)

    @property
    def _number_si(self) -> int | float:
        return si_number(self.si)

    @property
    def si_unit(self) -> str:
        """Symbol of the base unit."""
        return si_unit(self.dimension)

    @property
    def grade_names(self) -> tuple[Grade, ...]:
        """The grades of all cited leaves, sorted."""
        return tuple(sorted(self.grades()))

    @property
    def citation_texts(self) -> tuple[str, ...]:
        """The wiki rows this value rests on, as text."""
        return tuple(str(one) for one in self.citations())

    @property
    def value_si(self) -> float:
        """The value in base units as a float: the one place where exactness ends."""
        return self.si.numerator / self.si.denominator

    def __str__(self) -> str:
        return f"{self.number} {self.unit}" if self.unit not in {"-", "1"} else self.number

    def __repr__(self) -> str:
        cited = self.citations()
        where = f" <- {cited[0].location}" if cited else f" ({type(self.origin).__name__.lower()})"
        more = f" and {len(cited) - 1} more" if len(cited) > 1 else ""
        return f"Quantity({self}{where}{more}{''.join(f', {one}' for one in self.grade_names)})"

    def _repr_html_(self) -> str:
        return _cell_html(str(self), ", ".join(self.grade_names), self.citation_texts)

    def to_float(self, symbol: str) -> float:
        """Return the number in a unit of its dimension as a float; `float(quantity)` would not say in which unit.

        >>> given(90, "GB/s", "a stream").to_float("TB/s")
        0.09

        Raises:
            DimensionError: The unit is of another dimension.
        """
        return float(self.to(symbol).si / unit(symbol).factor)

    def to(self, symbol: str) -> Quantity:
        """Return the same quantity printed in another unit of its dimension."""
        if symbol == self.unit:
            return self
        if unit(symbol).dimension != self.dimension:
            raise DimensionError(f"{self} can't be written in {symbol}", fix=f"its dimension is {self.dimension}")
        seal = _sealed(self.si, self.dimension, symbol, self.origin, "") if self.is_made else 0
        return replace(self, unit=symbol, text="", _seal=seal)

    def leaves(self) -> Iterator[Quantity]:
        """Yield the quantities this one rests on, itself when it rests on nothing."""
        if isinstance(self.origin, Derived) and self.origin.parents:
            for parent in self.origin.parents:
                yield from parent.leaves()
        else:
            yield self

    def grades(self) -> frozenset[Grade]:
        """Return the grades of all cited leaves; never collapsed to one."""
        return frozenset(one.origin.grade for one in self.leaves() if isinstance(one.origin, Cited))

    def citations(self) -> tuple[Citation, ...]:
        """Return the wiki rows this value rests on, a derived row before its parents, each once."""
        found: list[Citation] = []
        if isinstance(self.origin, Cited):
            found.append(self.origin.citation)
        elif isinstance(self.origin, Derived):
            found += [self.origin.citation] if self.origin.citation else []
            found += [one for parent in self.origin.parents for one in parent.citations()]
        return tuple(dict.fromkeys(found))

    @property
    def _measure(self) -> DimensionUnit:
        return self.dimension, self.unit

    @property
    def is_made(self) -> bool:
        """Whether it is as a row, a count or arithmetic gave it."""
        return self._seal == _sealed(self.si, self.dimension, self.unit, self.origin, self.text)

    def as_ceiling(self) -> Quantity:
        """Return itself if every leaf is a wiki row or a policy's share, and no value on the way was put in by hand.

        Raises:
            NotACeiling: A leaf is something else, a share is not above 0 and at most 1, or a value was changed.
        """
        for node in self._nodes():
            if not node.is_made:
                fix = "take it from Platform.get or from arithmetic"
                raise NotACeiling(f"{node} does not come from where it says", fix=fix)
        for leaf in self.leaves():
            policy = isinstance(leaf.origin, Given) and leaf.origin.is_policy
            if not (policy or isinstance(leaf.origin, Cited)):
                raise NotACeiling(
                    f"{leaf} ({type(leaf.origin).__name__}) can't be part of a ceiling or target",
                    fix="a measured or given number becomes a ceiling only by becoming a row of the wiki",
                )
            if policy and not 0 < leaf.si <= 1:
                raise NotACeiling(f"{leaf} is no share of a roof", fix="a policy's factor is above 0 and at most 1")
        return self

    def _nodes(self) -> Iterator[Quantity]:
        """Yield itself and every quantity that it was computed from."""
        yield self
        if isinstance(self.origin, Derived):
            for parent in self.origin.parents:
                yield from parent._nodes()

    # ---- arithmetic ------------------------------------------------------------------------------

    def _derive(self, other: Quantity, sign: str, si: Fraction, dimension: str, symbol: str) -> Quantity:
        return made(si, dimension, symbol, Derived(f"{self} {sign} {other}", (self, other)))

    def _same(self, other: Quantity, sign: str) -> None:
        if self.dimension != other.dimension:
            raise DimensionError(f"can't compute {self} {sign} {other}: different dimensions")

    def __add__(self, other: Quantity | Unknown) -> Quantity | Unknown:
        if isinstance(other, Unknown):
            return other
        if not isinstance(other, Quantity):
            return NotImplemented
        self._same(other, "+")
        return self._derive(other, "+", self.si + other.si, self.dimension, self.unit)

    def __sub__(self, other: Quantity | Unknown) -> Quantity | Unknown:
        if isinstance(other, Unknown):
            return other
        if not isinstance(other, Quantity):
            return NotImplemented
        self._same(other, "-")
        return self._derive(other, "-", self.si - other.si, self.dimension, self.unit)

    def __mul__(self, other: Quantity | Unknown) -> Quantity | Unknown:
        if isinstance(other, Unknown):
            return other
        if not isinstance(other, Quantity):
            return NotImplemented
        dimension, symbol = product_of(self._measure, other._measure)
        return self._derive(other, "*", self.si * other.si, dimension, symbol)

    def __truediv__(self, other: Quantity | Unknown) -> Quantity | Unknown:
        if isinstance(other, Unknown):
            return other
        if not isinstance(other, Quantity):
            return NotImplemented
        if other.si == 0:
            raise BadInput(f"division of {self} by zero", code="KB033")
        dimension, symbol = quotient_of(self._measure, other._measure)
        return self._derive(other, "/", self.si / other.si, dimension, symbol)

    def __lt__(self, other: Quantity) -> bool:
        self._same(other, "<")
        return self.si < other.si

    def __le__(self, other: Quantity) -> bool:
        self._same(other, "<=")
        return self.si <= other.si

    def __gt__(self, other: Quantity) -> bool:
        return other < self

    def __ge__(self, other: Quantity) -> bool:
        return other <= self


_SECRET = int.from_bytes(os.urandom(8))


def _sealed(si: Fraction, dimension: str, symbol: str, origin: Origin, text: str) -> int:
    """Return what only this module can write beside these values; parents count by their own seals."""
    if isinstance(origin, Derived):
        seals = tuple(parent._seal for parent in origin.parents)
        whence: object = (origin.formula, origin.grade, origin.citation, origin.key, seals)
    else:
        whence = origin
    return hash((_SECRET, si, dimension, symbol, whence, text))


def made(si: Fraction, dimension: str, symbol: str, origin: Origin, text: str = "") -> Quantity:
    """Return a quantity that may become a ceiling where its origin allows it; for rows, counts and arithmetic alone."""
    return Quantity(si, dimension, symbol, origin, text, _sealed(si, dimension, symbol, origin, text))


def given(value: Fraction | int, symbol: str, name: str, *, is_policy: bool = False) -> Quantity:
    """Return a quantity a person or policy states: `given(Fraction(9, 10), "1", "target factor", is_policy=True)`."""
    one = unit(symbol)
    return made(Fraction(value) * one.factor, one.dimension, symbol, Given(name, is_policy))


def counted(value: Fraction | int, symbol: str, what: str, exactness: Exactness = "exact") -> Quantity:
    """Return counted work: FLOPs or bytes with what was counted and how exact the count is."""
    one = unit(symbol)
    return made(Fraction(value) * one.factor, one.dimension, symbol, Counted(what, exactness))
