"""Claims about ISA targets and progress."""

from __future__ import annotations

import pytest

from kopt_kb.analysis.ir.machine.model import IsaResources, IsaScan, IsaTally
from kopt_kb.analysis.ir.machine.targets import evaluate_targets, isa_targets


def scan(isa="sass", target="sm_90", matrix=(), accesses=(), features=None, resources=None):
    """A scan with these instructions."""
    tally = IsaTally("k", resources=resources)
    tally.features.update(features or {})
    for family, times in matrix:
        for _ in range(times):
            tally.add_matrix(family, family)
    for space, kind, width, times in accesses:
        for _ in range(times):
            tally.add_access(space, kind, width)
    return IsaScan.of(tally, isa, target)


def status(one, target, **options):
    """Status and value of one target."""
    (found,) = [p for p in evaluate_targets(one, **options) if p.target.id == target]
    return found.status, found.value


@pytest.mark.parametrize(("wide", "expected"), [(9, ("met", 0.9)), (8, ("not_met", 0.8))])
def test_wide_global_loads(wide, expected):
    """Nine of ten at 128 bits meet the number, eight do not."""
    one = scan(accesses=[("global", "load", 128, wide), ("global", "load", 32, 10 - wide)])
    assert status(one, "global_load_128b_share") == expected


def test_no_access_is_not_applicable():
    """A share of nothing is neither met nor missed."""
    assert status(scan(), "shared_128b_share") == ("not_applicable", None)


def test_spills_by_assembler_and_by_comment():
    """Either witness suffices; an assembler that says zero is believed."""
    assert status(scan(resources=IsaResources(spill_store_bytes=4)), "spills") == ("not_met", 1.0)
    assert status(scan(resources=IsaResources(spill_store_bytes=0)), "spills") == ("met", 0.0)
    assert status(scan(isa="amdgcn", features={"spill_load": 3}), "spills") == ("not_met", 3.0)


def test_private_memory_without_spill_counts_leaves_spills_open():
    """SASS alone can't tell a stack array from a spill; the access itself is still missed."""
    one = scan(accesses=[("local", "load", 32, 1)])
    assert status(one, "spills")[0] == "not_applicable"
    assert status(one, "private_memory_accesses") == ("not_met", 1.0)


def test_missing_matrix_instructions_need_a_matrix_product():
    """A softmax has none and needs none; a GEMM without any misses the target."""
    assert status(scan(), "matrix_instructions")[0] == "not_applicable"
    assert status(scan(), "matrix_instructions", matrix_product=True) == ("not_met", 0.0)


@pytest.mark.parametrize(
    ("target", "family", "expected"),
    [
        ("sm_90", "HGMMA", ("met", 1.0)),
        ("sm_90", "HMMA", ("not_met", 0.0)),
        ("sm_100", "UTCHMMA", ("met", 1.0)),
        ("sm_100", "HMMA", ("not_met", 0.0)),
        ("sm_80", "HMMA", ("not_applicable", None)),
    ],
)
def test_native_matrix_instructions(target, family, expected):
    """Each generation is judged by its own instructions."""
    assert status(scan(target=target, matrix=[(family, 2)]), "native_matrix_share") == expected


def test_tma_share_counts_tile_copies():
    """6 TMA loads and 2 LDGSTS: 0.75, below the number; without matrix work it doesn't apply."""
    copies = [("global", "copy", 128, 2)]
    one = scan(matrix=[("HGMMA", 1)], accesses=copies, features={"tma_load": 6})
    assert status(one, "tma_share") == ("not_met", 0.75)
    assert status(scan(accesses=copies), "tma_share")[0] == "not_applicable"


def test_accvgpr_moves_per_mfma():
    """320 moves for 64 matrix instructions are 5 each."""
    one = scan(isa="amdgcn", target="gfx942", matrix=[("MFMA", 64)], features={"accvgpr_move": 320})
    assert status(one, "accvgpr_moves_per_mfma") == ("not_met", 5.0)


@pytest.mark.parametrize("isa", ["sass", "ptx", "amdgcn"])
def test_every_target_has_a_number_and_a_reason(isa):
    """No target without a reason, no id twice, and a target reads as a condition."""
    targets = isa_targets(isa)
    assert all(target.reason and target.absent for target in targets)
    assert len({target.id for target in targets}) == len(targets)
    assert "spills <= 0" in {target.text for target in targets}


def test_json_names_value_status_and_reason():
    """The judgement is plain data."""
    (first, *_) = [p.to_json() for p in evaluate_targets(scan(accesses=[("global", "load", 128, 1)]))]
    assert (first["target"], first["value"], first["status"]) == ("global_load_128b_share >= 0.9", 1.0, "met")
