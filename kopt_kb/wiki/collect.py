"""The values of products as exports need them: chosen rows, each read again, and what stands where none is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from kopt_kb.wiki.footnotes import Footnote
from kopt_kb.wiki.names import Identity
from kopt_kb.wiki.registry import Registry
from kopt_kb.wiki.resolve import citation_of, reread
from kopt_kb.wiki.row import Row
from kopt_kb.wiki.sheet import row_value
from kopt_kb.wiki.version import DataVersion, data_version
from kopt_kb.wiki.vocabulary import AXIS_DEFAULTS, INT_DTYPES

__all__ = ["Absence", "Collection", "Peak", "ProductPeaks", "cited_key", "collect", "plain_number"]

_CITED = re.compile(r"(?P<key>[a-z][a-z0-9_]*(?:\[[^\]]*\])?): \S+(?: \S+)? <- <gpu-wiki>/\S+")
_CLOCKS = ("boost", "max", "unstated")
"""Clocks of a peak in order of preference; a base or sustained clock is no peak's."""


@dataclass(frozen=True, slots=True)
class Peak:
    """One value row.

    Attributes:
        si: The value in base units, exact.
    """

    row: Row
    si: Fraction

    @property
    def cite(self) -> str:
        """The citation with grade and row hash, as a comment carries it."""
        return f"{citation_of(self.row)} ({self.row.grade}, row {self.row.sha})"


@dataclass(frozen=True, slots=True)
class Absence:
    """Why a form's field has no value: `UNKNOWN`, `NONE` or `no row`, and the reason."""

    state: str
    reason: str

    def __str__(self) -> str:
        return f"{self.state}: {self.reason}" if self.reason else self.state


@dataclass(frozen=True, slots=True)
class ProductPeaks:
    """One product: its rows with a value, and those that say UNKNOWN or NONE."""

    identity: Identity
    peaks: tuple[Peak, ...]
    without: tuple[Row, ...]
    footnotes: Mapping[str, Mapping[str, Footnote]]

    def get(self, metric: str, **axes: str) -> Peak | Absence:
        """Return the one value of a metric under these conditions, for the GPU as shipped; `class` is `class_`."""
        wanted = {**AXIS_DEFAULTS, **{name.rstrip("_"): word for name, word in axes.items()}}
        found = [one for one in self.peaks if one.row.metric == metric and _fits(one.row, wanted)]
        return found[0] if found else self._absence(metric, wanted)

    def rate(self, dtype: str, engine: str, sparsity: str = "dense") -> Peak | Absence:
        """Return the documented rate of a number format.

        Floats of the matrix units accumulate in FP32 where that is told apart: the rate with a narrower accumulator
        is another one, and no form has a place to say so.
        """
        wide = {"fp64": "fp64", "fp32": "fp32"}.get(dtype, "int32" if dtype in INT_DTYPES else "fp32")
        narrow = ("fp16",) if engine == "vector" and dtype in {"fp16", "bf16"} else ()
        for acc in (wide, *narrow, "unstated"):
            for clock in _CLOCKS:
                axes = {"dtype": dtype, "engine": engine, "sparsity": sparsity, "acc": acc, "clock": clock}
                found = self.get("peak_compute", **axes)
                if isinstance(found, Peak):
                    return found
        return self._absence("peak_compute", {"dtype": dtype, "engine": engine, "sparsity": sparsity})

    def clock(self, ops: str = "matrix") -> Peak | Absence:
        """Return the clock that the rates are for: boost, else the largest, else one whose class is not stated."""
        for name in _CLOCKS:
            for kind in (ops, "all"):
                found = self.get("sm_clock", class_=name, ops=kind)
                if isinstance(found, Peak):
                    return found
        return self._absence("sm_clock", {})

    def measured(self, metric: str, **axes: str) -> Peak | None:
        """Return the highest measurement of a metric under these conditions, None without one."""
        fitting = [one for one in self.peaks if one.row.metric == metric and _fits(one.row, axes)]
        return max(fitting, key=lambda one: one.si, default=None)

    def _absence(self, metric: str, wanted: Mapping[str, str]) -> Absence:
        for row in self.without:
            if row.metric == metric and _fits(row, wanted):
                return Absence(row.kind.upper(), row.note("reason"))
        return Absence("no row", "")


@dataclass(frozen=True, slots=True)
class Collection:
    """What is exported: products in the order that was asked for, and the state of the data they are from."""

    products: tuple[ProductPeaks, ...]
    data: DataVersion


def _fits(row: Row, wanted: Mapping[str, str]) -> bool:
    have = {**AXIS_DEFAULTS, **dict(row.axes)}
    return all(have.get(axis) == word for axis, word in wanted.items())


def collect(registry: Registry, names: Iterable[str] = ()) -> Collection:
    """Return the values of these products, of all when none is named; each cited line is read again.

    Raises:
        WikiFaults: A page has a fault: nothing of it may be spread.
        BadInput: No page has a name.
    """
    products = []
    for name in names or registry.platforms():
        platform = registry.platform(name)
        platform.refuse_faults()
        chosen = platform.sheet.chosen().values()
        for row in chosen:
            reread(platform.wiki, row)
        peaks = tuple(Peak(row, row_value(row)) for row in chosen if row.kind == "value")
        without = tuple(row for row in chosen if row.kind in {"unknown", "none"})
        products.append(ProductPeaks(platform.identity, peaks, without, platform.sheet.footnotes))
    return Collection(tuple(products), data_version(registry.wikis))


def cited_key(text: str) -> str | None:
    """Return the key of the first citation in a comment, None without one."""
    found = _CITED.search(text)
    return found["key"] if found else None


def plain_number(value: Fraction) -> str:
    """Return a number as YAML, JSON and Python read it: at most 12 significant digits, whole numbers whole.

    YAML takes an exponent only behind a point.

    >>> plain_number(Fraction(4 * 10**12)), plain_number(Fraction(1, 3))
    ('4.0e+12', '0.333333333333')
    """
    mantissa, mark, power = f"{float(value):.12g}".partition("e")
    return f"{mantissa if '.' in mantissa else mantissa + '.0'}e{power}" if mark else mantissa
