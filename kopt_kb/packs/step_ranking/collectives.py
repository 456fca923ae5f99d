"""Collectives: what a rank sends by the ring algorithm, and the least time that takes at the sourced rate of its links.

A rank of a ring of n sends 2 (n-1)/n of an all-reduce's bytes, and (n-1)/n of what an all-gather gives or what a
reduce-scatter or an exchange takes, as nccl-tests counts bus bandwidth. Groups of up to 8 are taken to be one node.
"""

from __future__ import annotations

from fractions import Fraction

from kopt_kb.packs.step_ranking.operands import MOST_ELEMENTS
from kopt_kb.packs.step_ranking.recorded import OpCall
from kopt_kb.quantity.quantity import Quantity
from kopt_kb.wiki.registry import Platform

__all__ = ["link_time", "sent_bytes"]

_NODE = 8
_WIDTHS = {
    "Double": 8, "Long": 8, "Float": 4, "Int": 4, "BFloat16": 2, "Half": 2, "Short": 2, "Byte": 1, "Char": 1, "Bool": 1,
    "Float8_e4m3fn": 1, "Float8_e5m2": 1,
}  # fmt: skip
_RINGS = (("allreduce", 2, False), ("allgather", 1, True), ("reducescatter", 1, False), ("alltoall", 1, False))
"""Start of a collective's name, how often its bytes go around, and whether they are those of the result."""


def sent_bytes(call: OpCall) -> Fraction | None:
    """Return the bytes that a rank sends; None for other collectives, and where the trace lacks a size."""
    if len(call.facts) != 5:
        return None
    name, dtype, taken, given, group = call.facts
    width = _WIDTHS.get(dtype) if isinstance(dtype, str) else None
    if not isinstance(name, str) or width is None or not isinstance(group, int) or not 1 < group <= _NODE:
        return None
    for start, turns, is_result in _RINGS:
        amount = given if is_result else taken
        if name.replace("_", "").startswith(start) and isinstance(amount, int) and 0 < amount <= MOST_ELEMENTS:
            return Fraction(turns * (group - 1) * amount * width, group)
    return None


def link_time(call: OpCall, platform: Platform) -> tuple[float, str] | None:
    """Return the least time of a collective in seconds and the link; None where its bytes or the rate are not known."""
    sent = sent_bytes(call)
    rows = [row for row in platform.rows("link_bandwidth", direction="each") if dict(row.axes).get("scope") != "link"]
    rates = [(value, row) for row in rows if isinstance(value := platform.quantity(row), Quantity)]
    if sent is None or not rates:
        return None
    rate, row = max(rates, key=lambda one: one[0].si)
    return float(sent / rate.si), dict(row.axes)["link"]
