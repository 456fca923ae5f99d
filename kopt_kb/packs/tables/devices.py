"""The product of a table's device, by the wiki; a row may name its own."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property

from kopt_kb.analysis.occupancy.limits import Limits
from kopt_kb.base.errors import BadInput
from kopt_kb.launch.counts.limits import limits_of
from kopt_kb.problem.tuned_table import TunedTable
from kopt_kb.quantity.quantity import Quantity
from kopt_kb.wiki.registry import Platform, Registry

__all__ = ["DeviceNames", "Resolved"]

_UNITS = re.compile(r"(gfx[0-9a-f]+)?(?::(\d+))?")


@dataclass(frozen=True, slots=True)
class Resolved:
    """The devices of a table.

    Attributes:
        names: As the table says them; empty where it says none.
        platform: The one product that all of them are; None where there is none, or several.
        reasons: Why a name is no product.
    """

    names: tuple[str, ...]
    platform: Platform | None
    reasons: tuple[str, ...]


@dataclass
class DeviceNames:
    """Names of devices as products of a wiki; each name is looked up once."""

    registry: Registry
    _known: dict[str, Platform | str] = field(default_factory=dict)
    _limits: dict[str, Limits] = field(default_factory=dict)

    def of(self, table: TunedTable) -> Resolved:
        """Return the product of a table's device."""
        names = dict.fromkeys(one for one in (table.device, *(row.device for row in table.rows)) if one)
        platforms: dict[str, Platform] = {}
        reasons: list[str] = []
        for name in names:
            found = self._asked(name)
            if isinstance(found, str):
                reasons.append(found)
            else:
                platforms[found.id] = found
        one = next(iter(platforms.values())) if len(platforms) == 1 and not reasons else None
        return Resolved(tuple(names), one, tuple(reasons))

    def named(self, name: str) -> Platform | None:
        """Return the product of a device's name; None where it is none, or several."""
        found = self._asked(name)
        return None if isinstance(found, str) else found

    def _asked(self, name: str) -> Platform | str:
        if name not in self._known:
            self._known[name] = self._product(name)
        return self._known[name]

    def limits(self, platform: Platform) -> Limits:
        """Return what a block may use on a product."""
        if platform.id not in self._limits:
            self._limits[platform.id] = limits_of(platform)
        return self._limits[platform.id]

    def _product(self, name: str) -> Platform | str:
        """Return a product, or why a name is none; `gfx942:304` is a target with its number of compute units."""
        said = _UNITS.fullmatch(name)
        if said is None:
            try:
                return self.registry.platform(name)
            except BadInput as error:
                return error.what
        if not said[1]:
            return f"{said[2]} compute units are named, and no target"
        fits = [one for one in self._targets.get(said[1], ()) if not said[2] or _units(one) == int(said[2])]
        if len(fits) == 1:
            return fits[0]
        units = f" with {said[2]} compute units" if said[2] else ""
        if not fits:
            return f"no page for a product of {said[1]}{units}"
        return f"{said[1]}{units} is {', '.join(one.id for one in fits)}: not one product"

    @cached_property
    def _targets(self) -> dict[str, list[Platform]]:
        found: dict[str, list[Platform]] = {}
        for name in self.registry.platforms():
            one = self.registry.platform(name)
            found.setdefault(str(one.identity.target), []).append(one)
        return found


def _units(platform: Platform) -> int | None:
    value = platform.get("sm_count")
    return value.si.numerator if isinstance(value, Quantity) else None
