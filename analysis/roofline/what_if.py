"""What a product would allow if values of it were others: supposed values, on which no target can rest."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

from kopt_kb.analysis.roofline.recorded import Bound
from kopt_kb.analysis.roofline.roofline import limits, roofs_of
from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import Wire
from kopt_kb.problem.work import Work
from kopt_kb.quantity.quantity import Absent, Quantity, Unknown, given
from kopt_kb.quantity.readable import duration, factor
from kopt_kb.quantity.units import is_positive
from kopt_kb.wiki.registry import Platform, Product, parse_key, platform_of
from kopt_kb.wiki.row import Row
from kopt_kb.wiki.vocabulary import asked, fits

__all__ = ["Standing", "Supposed", "SupposedRoofline", "SupposedRooflines", "WhatIf", "what_if"]

NOTE = "supposed values, not those of the product: no target and no Stop Condition can rest on them"
"""What every result of a supposition says of itself."""


class _SupposedPlatform(Platform):
    """A product with values multiplied; what they become is derived from a given number and refused as a ceiling."""

    def __init__(self, platform: Platform, factors: dict[str, Fraction]) -> None:
        super().__init__(platform.wiki, platform.identity)
        self._factors = factors

    def quantity(self, row: Row) -> Quantity | Unknown | Absent:
        value = super().quantity(row)
        if row.key not in self._factors or not isinstance(value, Quantity):
            return value
        changed = given(self._factors[row.key], "1", f"what if {row.metric}") * value
        return changed.to(value.unit) if isinstance(changed, Quantity) else changed


@dataclass(frozen=True, slots=True)
class Supposed(Wire):
    """One value that is supposed to be another.

    Attributes:
        key: The row.
        factor: What it is multiplied by.
        now: What the row says.
        supposed: What is supposed.
        citation: Where the row stands.
    """

    WIRE: ClassVar = ("key", "factor=_factor", "now", "supposed", "citation")
    key: str
    factor: Fraction
    now: str
    supposed: str
    citation: str

    @property
    def _factor(self) -> float:
        return float(self.factor)


@dataclass(frozen=True, slots=True)
class Standing(Wire):
    """A work under documented roofs: what limits it, and the least time; None where a roof is UNKNOWN."""

    bound: Bound
    limiter: str
    least_s: float | None


@dataclass(frozen=True, slots=True)
class SupposedRoofline(Wire):
    """A work on a product as it is and as it is supposed.

    Attributes:
        now: Under the documented roofs.
        supposed: Under the same with the changed values.
        speedup: Least time now over the least time supposed; None where one is UNKNOWN.
        notes: That no target rests on it, and changed values that are no roof of this work.
    """

    platform: str
    work: Work
    changes: tuple[Supposed, ...]
    now: Standing
    supposed: Standing
    speedup: float | None
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        times = " -> ".join(
            "UNKNOWN" if one.least_s is None else duration(one.least_s) for one in (self.now, self.supposed)
        )
        gain = "" if self.speedup is None else f", {factor(self.speedup)}"
        bounds = " -> ".join(dict.fromkeys(filter(None, (self.now.limiter, self.supposed.limiter))))
        return f"SupposedRoofline({self.platform} {self.work.op}: at least {times}{gain}, by {bounds or 'UNKNOWN'})"


@dataclass(frozen=True, slots=True)
class SupposedRooflines(Wire):
    """Several works, or one on several products, under the same supposition."""

    rooflines: tuple[SupposedRoofline, ...]


@dataclass(frozen=True, slots=True)
class WhatIf(Wire):
    """A product with supposed values. It is no product: targets and Stop Conditions of it are refused."""

    WIRE: ClassVar = ("platform=_name", "changes", "note=_note")
    no_product: ClassVar[str] = f"a what-if has {NOTE}; ask its own .roofline(work)"
    product: Platform
    changes: tuple[Supposed, ...]
    _platform: _SupposedPlatform = field(repr=False, compare=False)

    def __repr__(self) -> str:
        said = ", ".join(f"{one.key} {one.now} -> {one.supposed}" for one in self.changes)
        return f"WhatIf({self._name}: {said}; supposed)"

    def roofline(self, work: Work) -> SupposedRoofline:
        """Return a work under the product's documented roofs and under the supposed ones."""
        now, then = (_standing(work, one) for one in (self.product, self._platform))
        both = now.least_s is not None and then.least_s is not None
        metrics = dict.fromkeys(one.key.partition("[")[0] for one in self.changes)
        idle = [f"{one} is no roof of this work" for one in metrics if not self._matters(one, work)]
        speedup = now.least_s / then.least_s if both and now.least_s and then.least_s else None
        return SupposedRoofline(self._name, work, self.changes, now, then, speedup, (NOTE, *idle))

    def _matters(self, metric: str, work: Work) -> bool:
        """Return whether the supposed values of one metric change a roof of a work."""
        own = {one.key: one.factor for one in self.changes if one.key.partition("[")[0] == metric}
        return _roofs(work, self.product) != _roofs(work, _SupposedPlatform(self.product, own))

    @property
    def _name(self) -> str:
        return str(self.product.id)

    @property
    def _note(self) -> str:
        return NOTE


def what_if(product: Product, /, **factors: float | Fraction) -> WhatIf:
    """Return a product with some of its documented values multiplied.

    Rows that are derived from a changed one keep their value: with `sm_count=2` the peaks stay, with `peak_compute=2`
    they double.

    Args:
        product: The exact product, or its name.
        **factors: Metric (or key, `**{"peak_compute[dtype=bf16;engine=matrix]": 2}`) to factor: `memory_bandwidth=2`.

    Raises:
        BadInput: A metric that is not in the vocabulary, a factor that is not above 0, nothing to change.
        UnknownData: The product has no value of a metric.
    """
    platform = platform_of(product)
    if not factors:
        raise BadInput(
            "what_if changes nothing", fix="give a metric and a factor, such as memory_bandwidth=2", code="KB102"
        )
    exact: dict[str, Fraction] = {}
    for name, one in factors.items():
        exact |= dict.fromkeys(_keys(platform, name), _factor(name, one))
    supposed = _SupposedPlatform(platform, exact)
    changes = tuple(_change(platform, supposed, key, one) for key, one in exact.items())
    return WhatIf(platform, changes, supposed)


def _keys(platform: Platform, name: str) -> list[str]:
    """Return the rows with a value that a metric or key means."""
    metric, axes = parse_key(name)
    platform.refuse_faults(metric)
    rows = [row for row in platform.sheet.chosen().values() if row.metric == metric]
    conditions = asked(axes, unnamed="any")
    keys = [row.key for row in rows if row.kind == "value" and not row.is_ceiling and fits(dict(row.axes), conditions)]
    if not keys:
        raise Unknown((f"{platform.id} {name}",), "no row of the wiki has a value of it").error()
    return keys


def _factor(name: str, value: float | Fraction) -> Fraction:
    if not is_positive(value):
        raise BadInput(f"{name}={value!r} is no factor", fix="give a number above 0: memory_bandwidth=2", code="KB105")
    return Fraction(str(value)) if isinstance(value, float) else Fraction(value)


def _change(platform: Platform, supposed: Platform, key: str, times: Fraction) -> Supposed:
    row = platform.sheet.chosen()[key]
    now, then = platform.quantity(row), supposed.quantity(row)
    cited = str(now.citations()[0]) if isinstance(now, Quantity) else ""
    return Supposed(key, times, str(now), str(then), cited)


def _roofs(work: Work, platform: Platform) -> list[Fraction]:
    found = roofs_of(work, platform)
    values = [one.documented for one in (*found.compute, found.memory, *found.levels)]
    return [value.si for value in values if isinstance(value, Quantity)]


def _standing(work: Work, platform: Platform) -> Standing:
    times = roofs_of(work, platform).times(work, "documented")
    bound, limiter = limits(times)
    known = [value.value_si for value in times.values() if isinstance(value, Quantity)]
    return Standing(bound, limiter, max(known) if bound != "unknown" else None)
