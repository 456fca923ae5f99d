"""What counts under a roof is what that engine computes or that level moves, nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kopt_kb.analysis.roofline.recorded import DRAM, roof_uses
from kopt_kb.quantity.recorded import RecordedUnknown
from kopt_kb.workspace.workspace import Workspace


def test_shares_of_both_kinds_of_roof(workspace: Workspace) -> None:
    """134,225,920 B in 100 us are 1.342 TB/s: 67 % of 2 TB/s; the vector roof counts its own operations."""
    (first, *_) = workspace.state().rooflines
    uses = {one.name: one for one in roof_uses(first, 1e-4)}
    assert (uses[DRAM].unit, uses[DRAM].achieved_per_s) == ("B/s", pytest.approx(134_225_920 / 1e-4))
    assert uses[DRAM].documented_share == pytest.approx(134_225_920 / 1e-4 / 2e12)
    vector = uses["fp32 vector"]
    operations = sum(one.useful.value for one in first.work.flops)
    assert (vector.unit, vector.achieved_per_s) == ("FLOP/s", pytest.approx(operations / 1e-4))
    assert vector.measured_share is None


def test_an_unknown_roof_has_no_share(workspace: Workspace) -> None:
    """The rate is known, what it is a share of is not; a measured roof may be beaten."""
    (first, *_) = workspace.state().rooflines
    memory = first.ceiling(DRAM)
    unknown = replace(memory, documented=RecordedUnknown(None, "UNKNOWN", ("memory_bandwidth",), "no sheet"))
    (one,) = roof_uses(replace(first, ceilings=(unknown,)), 1e-4)
    assert (one.documented_share, one.measured_share) == (None, None)
    measured = replace(memory, measured=replace(memory.documented, si_value=10**12))
    (one,) = roof_uses(replace(first, ceilings=(measured,)), 1e-4)
    assert one.measured_share == pytest.approx(1.34225920)
