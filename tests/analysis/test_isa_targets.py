"""The goals of machine code, by vendor."""

from __future__ import annotations

from kopt_kb.analysis.isa_targets import isa_targets


def test_both_vendors_track_spills_and_widths() -> None:
    """Codes are unique; every goal has a condition and a reason."""
    for vendor in ("NVIDIA", "AMD"):
        goals = isa_targets(vendor)
        codes = [one.code for one in goals]
        assert len(set(codes)) == len(codes)
        assert {"spill", "wide-global", "matrix"} <= set(codes)
        assert all(one.condition and one.reason for one in goals)


def test_other_vendors_have_none() -> None:
    """Nothing is invented for a vendor we do not know."""
    assert isa_targets("Intel") == ()
