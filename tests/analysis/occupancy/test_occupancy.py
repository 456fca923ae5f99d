"""Claims about occupancy: worked by hand, and equal to the vendors' own code."""

from __future__ import annotations

import runpy
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kopt_kb.analysis.occupancy.occupancy import Limits, Resources, occupancy
from kopt_kb.base.errors import BadInput, UnknownData

ORACLES = runpy.run_path(str(Path(__file__).with_name("occupancy_oracles.py")))
KIB = 1024
HOPPER = replace(ORACLES["nvidia_limits"]((9, 0)), tensor_memory_per_sm=None)
AMPERE = ORACLES["nvidia_limits"]((8, 0))
BLACKWELL = replace(ORACLES["nvidia_limits"]((10, 0)), tensor_memory_per_sm=256 * KIB)
CDNA3 = ORACLES["amd_limits"]("gfx942")


@pytest.mark.triton
def test_equals_nvidias_header():
    """3,000 random kernels over six compute capabilities: blocks, every single limit and the ties agree."""
    pytest.importorskip("triton")
    if shutil.which("g++") is None:
        pytest.skip("no g++ to compile cuda_occupancy.h with")
    assert ORACLES["nvidia_mismatches"](3000, seed=7) == []


@pytest.mark.triton
def test_equals_llvm():
    """250 random kernels over three CDNA targets: LLVM prints the same waves per SIMD."""
    pytest.importorskip("triton")
    wrong, granule = ORACLES["amd_mismatches"](250, seed=7)
    assert wrong == []
    assert granule <= 250 * 0.03


def test_registers_limit_a_gemm_on_ampere():
    """168 registers x 32 lanes = 5376 a warp; 16384 // 5376 = 3 a SIMD, 12 an SM, one block of 8 warps."""
    result = occupancy(Resources(256, 168, shared_dynamic_bytes=64 * KIB), AMPERE)
    assert (result.blocks_per_sm, result.warps_per_sm, result.limiters) == (1, 8, ("registers",))
    assert result.occupancy_fraction == 0.125


def test_next_step_names_the_registers_to_save():
    """Two blocks of 8 warps need 4 warps a SIMD: 16384 / 4 = 4096 a warp, 128 registers a thread."""
    step = occupancy(Resources(256, 168, shared_dynamic_bytes=64 * KIB), AMPERE).next_step
    assert step is not None
    assert step.blocks_per_sm == 2
    (change,) = step.changes
    assert (change.resource, change.now, change.at_most, change.less) == ("registers_per_thread", 168, 128, 40)


def test_next_step_names_every_limiter_of_a_tie():
    """Registers and shared memory both allow 2 blocks; the third needs both reductions."""
    result = occupancy(Resources(256, 124, shared_dynamic_bytes=96 * KIB), HOPPER)
    assert result.limiters == ("registers", "shared_memory")
    assert result.next_step is not None
    assert [(c.resource, c.at_most) for c in result.next_step.changes] == [
        ("registers_per_thread", 80),
        ("shared_bytes", 76 * KIB - KIB),
    ]


def test_fewer_threads_may_make_other_changes_needless():
    """10 waves x 56 registers hold 3 workgroups; with 8 waves the registers already allow the fourth."""
    step = occupancy(Resources(577, 49), CDNA3).next_step
    assert step is not None
    assert [(c.resource, c.at_most) for c in step.changes] == [("threads_per_block", 512)]


def test_a_fixed_cap_has_no_next_step():
    """32 blocks of one warp are all the SM takes, whatever they use."""
    result = occupancy(Resources(32, 16), HOPPER)
    assert (result.blocks_per_sm, result.limiters, result.next_step) == (32, ("blocks",), None)


def test_too_much_shared_memory_gives_zero_blocks_and_the_reason():
    """228 KiB dynamic exceeds the 227 KiB a block may opt in to."""
    result = occupancy(Resources(128, 32, shared_dynamic_bytes=228 * KIB), HOPPER)
    assert result.blocks_per_sm == 0
    assert "shared_memory: shared_bytes=233472 does not fit" in result.refusals[0]
    assert "shared_memory_per_block=232448" in result.refusals[0]


def test_a_cluster_fits_or_it_does_not():
    """Up to the cited size nothing changes, not even what is read; above it, or without clusters, nothing fits."""
    have = replace(HOPPER, cluster_size=16, citations={"cluster_size": "targets/x.md:L9"})
    assert occupancy(Resources(256, blocks_per_cluster=16), have) == occupancy(Resources(256), have)
    found = occupancy(Resources(256, blocks_per_cluster=17), have)
    assert (found.blocks_per_sm, found.limiters) == (0, ("cluster",))
    assert found.refusals == ("cluster: blocks_per_cluster=17 does not fit (cluster_size=16 <- targets/x.md:L9)",)
    assert found.next_step.changes[0].at_most == 16
    assert not occupancy(Resources(256, blocks_per_cluster=2), replace(HOPPER, cluster_size=0)).blocks_per_sm
    with pytest.raises(UnknownData, match="cluster_size UNKNOWN"):
        occupancy(Resources(256, blocks_per_cluster=2), replace(HOPPER, cluster_size=None))


def test_tensor_memory_caps_blocks():
    """256 of 512 columns leave room for two blocks."""
    result = occupancy(Resources(128, 64, tensor_memory_bytes=256 * 512), BLACKWELL)
    assert (result.blocks_per_sm, result.limiters) == (2, ("tensor_memory",))
    assert result.next_step is not None
    assert result.next_step.blocks_per_sm == 3
    assert result.next_step.changes[0].at_most == 256 * KIB // 3


def test_agprs_share_the_register_file():
    """30 VGPRs pad to 32, plus 64 AGPRs = 96 of 512: 5 waves a SIMD; workgroups of 4 waves: 5 a CU."""
    result = occupancy(Resources(256, 30, accumulation_registers_per_thread=64), CDNA3)
    assert (result.waves_per_simd, result.blocks_per_sm, result.limiters) == (5, 5, ("registers",))


def test_whole_workgroups_can_be_fewer_than_llvm_says():
    """3 waves a SIMD by VGPRs are 12 waves a CU: one workgroup of 8, two waves a SIMD."""
    result = occupancy(Resources(512, 160), CDNA3)
    assert (result.waves_per_simd, result.blocks_per_sm, result.warps_per_sm) == (3, 1, 8)


def test_lds_is_given_in_granules():
    """21,800 B take 43 granules of 512 B = 22,016; 65,536 // 22,016 = 2 where unrounded it is 3."""
    assert occupancy(Resources(64, 8, shared_static_bytes=21_800), CDNA3).blocks_per_sm == 2
    unrounded = ORACLES["amd_limits"]("gfx942", rounded=False)
    assert occupancy(Resources(64, 8, shared_static_bytes=21_800), unrounded).blocks_per_sm == 3


def test_an_unknown_limit_that_matters_refuses():
    """Tensor memory used, its size UNKNOWN: no number comes out."""
    with pytest.raises(UnknownData, match="tensor_memory_per_sm UNKNOWN"):
        occupancy(Resources(128, 64, tensor_memory_bytes=512), HOPPER)


def test_an_unknown_limit_can_be_left_out_for_an_upper_bound():
    """The result then says so and names the limit."""
    result = occupancy(Resources(128, 64, tensor_memory_bytes=512), HOPPER, allow_unknown=True)
    assert (result.exactness, result.unknown) == ("upper", ("tensor_memory_per_sm",))


def test_an_unknown_limit_that_is_not_used_changes_nothing():
    """Without tensor memory its size doesn't matter."""
    assert occupancy(Resources(128, 64), HOPPER).exactness == "exact"


def test_warp_size_is_never_optional():
    """Without it nothing can be counted, upper bound or not."""
    with pytest.raises(UnknownData, match="warp_size"):
        occupancy(Resources(128), Limits("nvidia"), allow_unknown=True)


def test_citations_are_carried_to_the_result():
    """Every applied limit is printed with its source."""
    cited = replace(HOPPER, citations={"blocks_per_sm": "<gpu-wiki>/targets/sm_90.md:L12"})
    assert "blocks_per_sm=32 <- <gpu-wiki>/targets/sm_90.md:L12" in occupancy(Resources(128, 64), cited).sources


def test_bad_resources_are_refused():
    """No negative registers, no empty blocks."""
    with pytest.raises(BadInput, match="registers_per_thread is negative"):
        Resources(32, -1)
    with pytest.raises(BadInput, match="threads_per_block is 0"):
        Resources(0)


def test_json_has_the_numbers_and_the_step():
    """The JSON shape is plain data."""
    data = occupancy(Resources(256, 168), AMPERE).to_json()
    assert data["blocks_per_sm"] == 1
    assert data["occupancy_pct"] == 12.5
    assert data["next_step"]["changes"][0]["less"] == 40


@settings(max_examples=150, deadline=None)
@given(
    threads=st.integers(1, 1024),
    registers=st.integers(1, 255),
    shared=st.integers(0, 230 * KIB),
    limits=st.sampled_from([HOPPER, AMPERE, CDNA3]),
)
def test_taking_the_next_step_gives_the_promised_block(threads, registers, shared, limits):
    """Using exactly what the step allows reaches its blocks; one unit more of any change does not."""
    use = Resources(threads, registers, shared_dynamic_bytes=shared)
    step = occupancy(use, limits).next_step
    if step is None:
        return
    names = {"shared_bytes": "shared_dynamic_bytes", "unified_registers": "registers_per_thread"}
    wanted = {names.get(c.resource, c.resource): c.at_most for c in step.changes}
    assert occupancy(replace(use, **wanted), limits).blocks_per_sm >= step.blocks_per_sm
    for name, value in wanted.items():
        nearly = replace(use, **(wanted | {name: value + 1}))
        assert occupancy(nearly, limits).blocks_per_sm < step.blocks_per_sm


@settings(max_examples=100, deadline=None)
@given(registers=st.integers(1, 254), limits=st.sampled_from([HOPPER, AMPERE, CDNA3]))
def test_more_registers_never_raise_occupancy(registers, limits):
    """Residency falls or stays as registers grow."""
    less, more = (occupancy(Resources(192, n), limits).blocks_per_sm for n in (registers, registers + 1))
    assert more <= less
