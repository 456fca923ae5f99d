"""What a new compiler loses, by kind, and the configuration beside the old one that loses nothing."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.compile.request import OpCase
from kopt_kb.launch.counts import upgrade as module
from kopt_kb.launch.counts.upgrade import Side, losses, upgrade

GOOD = Side(
    {"triton": "1"}, registers=128, spill_bytes=0, shared_bytes=1024, occupancy_pct=50.0, bulk_copies=3,
    matrix={"HGMMA": 4}, wide_share=1.0,
)  # fmt: skip
FILE = """
OP = "softmax"
TUNING_SPACE = {"BLOCK": [64, 128], "num_warps": [4, 8], "num_stages": [2, 3]}
"""


@pytest.mark.parametrize(
    ("change", "kinds"),
    [
        ({}, []),
        ({"registers": 200, "shared_bytes": 4096}, []),
        ({"spill_bytes": 16}, ["spills"]),
        ({"bulk_copies": 0}, ["bulk_copies"]),
        ({"bulk_copies": 2}, []),
        ({"matrix": {"HMMA": 64}}, ["matrix_instructions"]),
        ({"occupancy_pct": 25.0}, ["occupancy"]),
        ({"wide_share": 0.2, "bulk_copies": 0}, ["bulk_copies", "access_width"]),
        ({"wgmma_serialised": True}, ["wgmma_serialised"]),
        ({"refused": "does not compile"}, ["refused"]),
    ],
)
def test_losses_by_kind(change, kinds) -> None:
    """More registers alone are none; what was worse before is none."""
    worse = replace(GOOD, **change)
    assert [one.kind for one in losses(GOOD, worse)] == kinds
    assert losses(worse, worse) == ()


def test_a_refusal_on_both_sides_is_no_loss() -> None:
    """Nothing was there to lose."""
    refused = replace(GOOD, refused="no")
    assert losses(refused, refused) == ()
    assert losses(refused, GOOD) == ()


def test_the_neighbour_with_most_warps_repairs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the configurations that lose nothing; the others are left."""
    path = tmp_path / "k.py"
    path.write_text(FILE)
    asked: list[dict[str, object]] = []

    def sides(case, _target, pool, _limits):
        if pool.python == "old":
            return {"k": GOOD}
        asked.append(dict(case.config))
        if case.config.get("num_stages") == 2:
            return {"k": replace(GOOD, occupancy_pct=62.5)}
        return {"k": GOOD if case.config.get("num_warps") == 8 else replace(GOOD, spill_bytes=8)}

    class Pool:
        def __init__(self, _count, *, python):
            self.python = python

        def __enter__(self):
            return self

        def __exit__(self, *_):
            return None

    monkeypatch.setattr(module, "_sides", sides)
    monkeypatch.setattr(module, "CompilePool", Pool)
    (one,) = upgrade([OpCase(str(path), (4, 4), "bf16")], "sm_90", "old", "new").kernels
    assert [loss.kind for loss in one.losses] == ["spills"]
    assert one.repair == {"num_stages": 2}
    assert one.repaired is not None
    assert one.repaired.occupancy_pct == 62.5
    assert asked[1:3] == [{"num_stages": 2}, {"num_stages": 3}]
    assert upgrade([OpCase(str(path), (4, 4), "bf16")], "sm_90", "old", "new", repair=False).kernels[0].repair is None


@pytest.mark.triton
def test_the_same_compiler_loses_nothing() -> None:
    """Two interpreters with the same Triton, each in a process of its own."""
    pytest.importorskip("triton")
    file = Path(__file__).parents[3] / "kopt_kb" / "launch" / "compile" / "kernels_to_compile.py"
    found = upgrade([OpCase(str(file), (4096,), "fp32")], "sm_90", sys.executable, sys.executable)
    (one,) = found.kernels
    assert (one.losses, one.old, found.old) == ((), one.new, found.new)
    assert one.old.registers
    with pytest.raises(BadInput, match="no such file"):
        upgrade([OpCase("/nowhere.py", (4,), "fp32")], "sm_90", sys.executable, sys.executable)
