"""What counts under a roof is what that engine computes or that level moves, nothing else."""

from __future__ import annotations

import pytest

from kopt_kb.workspace.roof_use import roof_amount, roof_uses

WORK = {
    "flops": [
        {"dtype": "bf16", "engine": "matrix", "useful": {"value": 600}},
        {"dtype": "fp32", "engine": "vector", "useful": {"value": 50}},
    ],
    "bytes": [
        {"level": "dram", "direction": "read", "compulsory": {"value": 20}},
        {"level": "dram", "direction": "write", "compulsory": {"value": 10}},
        {"level": "l2", "direction": "both", "compulsory": {"value": 400}},
    ],
}


def quantity(si_value: object) -> dict[str, object]:
    """A value as the journal keeps it; None: UNKNOWN."""
    return {"value": si_value, "si_value": si_value}


@pytest.mark.parametrize(
    ("name", "amount"), [("bf16 matrix", 600), ("fp32 vector", 50), ("dram", 30), ("l2", 400), ("fp8 matrix", 0)]
)
def test_amounts(name: str, amount: int) -> None:
    """One engine's operations, one level's bytes."""
    assert roof_amount(WORK, name) == amount


def test_shares_of_both_kinds_of_roof() -> None:
    """30 B in 2 s are 15 B/s: half of 30 documented, above 12 measured; an UNKNOWN roof has no share."""
    ceilings = [
        {"name": "dram", "documented": quantity(30), "measured": quantity(12)},
        {"name": "bf16 matrix", "documented": quantity(None), "measured": None},
    ]
    dram, matrix = roof_uses({"work": WORK, "ceilings": ceilings}, 2.0)
    assert (dram.achieved_per_s, dram.documented_share, dram.measured_share) == (15.0, 0.5, 1.25)
    assert (matrix.unit, matrix.achieved_per_s, matrix.documented_share, matrix.measured_share) == (
        "FLOP/s", 300.0, None, None
    )  # fmt: skip
