"""Rules on links: what one link of a generation carries, both directions beside each, what a slot of the host is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from kopt_kb.quantity.units import UNITS
from kopt_kb.wiki.physics.base import EXACT, PRODUCT_TOLERANCE, Facts, PhysicsFinding, compare, one, rows, within
from kopt_kb.wiki.sheet import row_value

__all__ = ["both_beside_each", "host_slot", "link_generation"]

_GB = UNITS["GB/s"].factor
_NVLINK = {"nvlink2": 50, "nvlink3": 50, "nvlink4": 50, "nvlink5": 100}
"""GB/s of one link, both directions, by generation (NVIDIA, NVLink and NVSwitch, table of generations)."""
_NVLINK_MOST = 18
"""Most links of one GPU in these generations (same table)."""
_PCIE = re.compile(r"pcie(?P<generation>[3-7])x(?P<lanes>8|16)")
_PCIE_LANE = Fraction(2)
"""GB/s of one lane of generation 3, both directions, as vendors round it; each generation doubles it (PCI-SIG)."""
_PCIE_FIRST = 3
_PCIE_PAYLOAD = Fraction(128, 130)
_PCIE_ROUNDING = Fraction(1, 200)
"""Some sheets print 31.5 or 63 GB/s, the payload after 128b/130b encoding: either is met within half a per cent."""


def link_generation(facts: Facts) -> Iterator[PhysicsFinding]:
    """One link carries what its generation does (2 %); a total is a whole number of links."""
    for row in rows(facts, "link_bandwidth", direction="both", scope="link"):
        each = _NVLINK.get(dict(row.axes)["link"])
        if each is not None:
            yield compare(row, each * _GB, PRODUCT_TOLERANCE, "what one link of this generation carries")
    for row in rows(facts, "link_bandwidth", direction="both"):
        each = _NVLINK.get(dict(row.axes)["link"])
        if each is not None:
            links = row_value(row) / _GB / each
            good = within(links, Fraction(round(links)), PRODUCT_TOLERANCE) and 1 <= round(links) <= _NVLINK_MOST
            yield PhysicsFinding(
                row, "pass" if good else "fail", f"{row.key} = {row.value} {row.unit} is {float(links):.2f} links"
            )
            count = one(facts, "link_count", link=dict(row.axes)["link"])
            if count is not None:
                yield compare(count, Fraction(round(links)), EXACT, "the total by the bandwidth of one link")


def both_beside_each(facts: Facts) -> Iterator[PhysicsFinding]:
    """A link's bandwidth of one direction stands beside that of both: sheets print the total."""
    found = [*facts.by_metric.get("link_bandwidth", ()), *facts.by_metric.get("host_bandwidth", ())]
    for row, axes in found:
        if axes.get("direction") == "each":
            total = one(facts, row.metric, **{**axes, "direction": "both"})
            good = total is not None and within(row_value(total), 2 * row_value(row), PRODUCT_TOLERANCE)
            yield PhysicsFinding(row, "pass" if good else "fail", f"{row.key} beside the same link in both directions")


def host_slot(facts: Facts) -> Iterator[PhysicsFinding]:
    """A PCIe slot carries its lanes times the rate of its generation or the payload of it (0.5 %), half each way."""
    for row in rows(facts, "host_bandwidth"):
        axes = dict(row.axes)
        match = _PCIE.fullmatch(axes["link"])
        if match is not None:
            lane = (
                _PCIE_LANE * 2 ** (int(match["generation"]) - _PCIE_FIRST) / (1 if axes["direction"] == "both" else 2)
            )
            whole = int(match["lanes"]) * lane * _GB
            nearest = min((whole, whole * _PCIE_PAYLOAD), key=lambda each: abs(each - row_value(row)))
            yield compare(row, nearest, _PCIE_ROUNDING, "lanes * rate of the generation")
