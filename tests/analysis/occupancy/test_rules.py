"""Claims about one residency rule."""

from __future__ import annotations

import pytest

from kopt_kb.analysis.occupancy.limits import Limits, Resources
from kopt_kb.analysis.occupancy.rules import ResourceRule, known, warps_per_block
from kopt_kb.base.errors import UnknownData


def test_a_partly_filled_warp_counts_whole():
    """33 threads take two warps of 32."""
    assert warps_per_block(Resources(33), Limits("nvidia", warp_size=32)) == 2


def test_an_unknown_limit_is_named():
    """The error says which one."""
    with pytest.raises(UnknownData, match="warp_size is UNKNOWN"):
        known(Limits("nvidia"), "warp_size")


def test_a_rule_applies_when_used_and_known():
    """It names the limits it misses, and stays out when the kernel doesn't use the resource."""
    rule = ResourceRule("blocks", ("blocks_per_sm",), lambda _u, h: h.blocks_per_sm, used=lambda u, _h: u.barriers > 0)
    have = Limits("nvidia", blocks_per_sm=16)
    assert rule.missing(Limits("nvidia")) == ("blocks_per_sm",)
    assert rule.applies(Resources(32), have)
    assert not rule.applies(Resources(32), Limits("nvidia"))
    assert not rule.applies(Resources(32, barriers=0), have)
