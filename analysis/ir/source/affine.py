"""Exact integer expressions of a kernel: sums of products of names, and index vectors along the axes of a tile.

A name stands for the value it has at one assignment (`name#version`), so that two equal sums are equal values and a
sum can be written down again wherever its names still have those values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

__all__ = ["ONE", "ZERO", "Affine", "Axis", "Poly", "atom"]


@dataclass(frozen=True, slots=True)
class Poly:
    """A sum of products with integer coefficients.

    Attributes:
        terms: Sorted factors of a product → its coefficient, never zero.
    """

    terms: tuple[tuple[tuple[str, ...], int], ...] = ()

    @staticmethod
    def of(terms: Mapping[tuple[str, ...], int]) -> Poly:
        """Return the sum of these products."""
        return Poly(tuple(sorted((key, value) for key, value in terms.items() if value)))

    @staticmethod
    def number(value: int) -> Poly:
        """Return a constant."""
        return Poly.of({(): value})

    def __add__(self, other: Poly) -> Poly:
        """Return the sum."""
        terms = dict(self.terms)
        for key, value in other.terms:
            terms[key] = terms.get(key, 0) + value
        return Poly.of(terms)

    def __neg__(self) -> Poly:
        """Return the sum with the other sign."""
        return Poly(tuple((key, -value) for key, value in self.terms))

    def __sub__(self, other: Poly) -> Poly:
        """Return the difference."""
        return self + -other

    def __mul__(self, other: Poly) -> Poly:
        """Return the product."""
        terms: dict[tuple[str, ...], int] = {}
        for one, a in self.terms:
            for two, b in other.terms:
                key = tuple(sorted((*one, *two)))
                terms[key] = terms.get(key, 0) + a * b
        return Poly.of(terms)

    def over(self, other: Poly) -> Poly | None:
        """Return the quotient by a single product when it is exact in every term, or None."""
        if len(other.terms) != 1:
            return None
        (divisor, number) = other.terms[0]
        terms = {}
        for key, value in self.terms:
            rest = list(key)
            for one in divisor:
                if one not in rest:
                    return None
                rest.remove(one)
            if value % number:
                return None
            terms[tuple(rest)] = value // number
        return Poly.of(terms)

    @property
    def constant(self) -> int | None:
        """The number that it is, or None."""
        if not self.terms:
            return 0
        return self.terms[0][1] if self.terms[0][0] == () and len(self.terms) == 1 else None

    @property
    def single(self) -> str | None:
        """The one name that it is, or None."""
        only = len(self.terms) == 1 and self.terms[0][1] == 1 and len(self.terms[0][0]) == 1
        return self.terms[0][0][0] if only else None

    def names(self) -> frozenset[tuple[str, int]]:
        """Return every name with its version."""
        return frozenset(each for key, _ in self.terms for one in key for each in _parts(one))

    def text(self, wide: bool = False) -> str:
        """Return Python for it.

        Args:
            wide: Multiply in 64 bits.
        """
        products = []
        for key, value in self.terms:
            factors = [one.partition("|")[0] for one in key]
            if wide and factors:
                factors[0] = f"tl.cast({factors[0]}, tl.int64)"
            number = [] if abs(value) == 1 and factors else [str(abs(value))]
            products.append(("- " if value < 0 else "+ ") + " * ".join([*number, *factors]))
        joined = " ".join(products)
        return joined.removeprefix("+ ").replace("- ", "-", 1) if joined.startswith("- ") else joined[2:] or "0"


ZERO = Poly()
ONE = Poly.number(1)


def atom(text: str, names: Mapping[str, int]) -> Poly:
    """Return an expression nothing more is known of, with the versions of the names in it."""
    return Poly.of({(f"{text}|{','.join(f'{name}#{version}' for name, version in sorted(names.items()))}",): 1})


def _parts(one: str) -> list[tuple[str, int]]:
    inside = one.partition("|")[2]
    return [(each.partition("#")[0], int(each.partition("#")[2])) for each in inside.split(",") if each]


@dataclass(frozen=True, slots=True)
class Axis:
    """`scale * (origin + arange(0, size))` along one axis.

    Attributes:
        scale: What a step along it is worth.
        origin: Where it begins.
        size: How many lanes.
        wrap: Modulus taken of the index, if any.
    """

    scale: Poly
    origin: Poly
    size: Poly
    wrap: Poly | None = None


@dataclass(frozen=True, slots=True)
class Affine:
    """A scalar, pointer or number, plus index vectors.

    Attributes:
        base: Scalar part; a pointer is a name in it.
        axes: Position of an axis → its index vector.
        rank: Number of axes of the whole.
    """

    base: Poly = ZERO
    axes: tuple[tuple[int, Axis], ...] = ()
    rank: int = 0

    def plus(self, other: Affine) -> Affine | None:
        """Return the sum, or None where it is no such form."""
        if self.rank == 1 and other.rank == 2:  # lanes of a vector lie along the last axis of a tile
            return placed.plus(other) if (placed := self.placed(1, 2)) is not None else None
        if self.rank == 2 and other.rank == 1:
            return other.plus(self)
        if {at for at, _ in self.axes} & {at for at, _ in other.axes}:
            return None
        for one, two in ((self, other), (other, self)):
            if not two.axes and one.is_index:
                at, axis = one.axes[0]
                return replace(one, axes=((at, replace(axis, origin=axis.origin + two.base)),))
        return Affine(
            self.base + other.base,
            tuple(sorted((*self.axes, *other.axes), key=lambda one: one[0])), max(self.rank, other.rank),
        )  # fmt: skip

    @property
    def is_index(self) -> bool:
        """Whether it is one index vector and nothing else, so that a number added moves its origin."""
        if self.base.terms or len(self.axes) != 1:
            return False
        return self.axes[0][1].scale == ONE and self.axes[0][1].wrap is None

    def times(self, factor: Poly) -> Affine:
        """Return it multiplied by a number."""
        axes = tuple((at, replace(one, scale=one.scale * factor)) for at, one in self.axes)
        return Affine(self.base * factor, axes, self.rank)

    def placed(self, at: int, rank: int) -> Affine | None:
        """Return a vector as one axis of a tile."""
        if self.rank != 1 or len(self.axes) != 1:
            return None
        return replace(self, axes=((at, self.axes[0][1]),), rank=rank)
