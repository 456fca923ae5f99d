"""Claims about reading PTX."""

from __future__ import annotations

import pytest

from kopt_kb.analysis.ir.machine.model import Access
from kopt_kb.analysis.ir.machine.ptx import scan_ptx


def one(text: str):
    """Scan one instruction as one kernel."""
    (tally,) = scan_ptx(iter([".target sm_90a", ".visible .entry k(", f"\t{text}"]))[1]
    return tally


@pytest.mark.parametrize(
    ("text", "access"),
    [
        ("@%p1 ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [ %rd1 + 0 ];", Access("global", "load", 128)),
        ("ld.global.nc.L1::evict_last.v2.f32 {%f1, %f2}, [%rd1];", Access("global", "load", 64)),
        ("st.global.b16 [%rd1], %rs1;", Access("global", "store", 16)),
        ("ld.shared::cta.v4.u32 {%r1, %r2, %r3, %r4}, [%r5];", Access("shared", "load", 128)),
        ("st.local.u32 [%rd1], %r1;", Access("local", "store", 32)),
        ("ld.b64 %rd2, [%rd1];", Access("generic", "load", 64)),
        ("cp.async.cg.shared.global [ %r1 + 0 ], [ %rd1 + 0 ], 0x10, %r2;", Access("global", "copy", 128)),
        ("cp.async.ca.shared.global [%r1], [%rd1], 4;", Access("global", "copy", 32)),
        ("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2, %r3, %r4}, [%r5];", Access("shared", "load", 128)),
        ("red.global.add.f32 [%rd1], %f1;", Access("global", "atomic", 32)),
    ],
)
def test_spaces_and_widths(text, access):
    """Width is lanes of the vector times bits of the type."""
    assert one(text).accesses == {access: 1}


@pytest.mark.parametrize(
    ("text", "family"),
    [
        ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1}, {%r1}, {%r2}, {%f1};", "mma.sync"),
        ("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {%f1}, %rd1, %rd2, 1;", "wgmma.mma_async"),
        ("@%p1 tcgen05.mma.cta_group::1.kind::f16 [ %r1 + 0 ], %rd1, %rd2, %r3, %p2;", "tcgen05.mma"),
    ],
)
def test_matrix_instructions(text, family):
    """Three generations of matrix instructions."""
    assert one(text).matrix == {family: 1}


@pytest.mark.parametrize(
    "text", ["wgmma.fence.sync.aligned;", "wgmma.commit_group.sync.aligned;", "tcgen05.wait::ld.sync.aligned;"]
)
def test_matrix_helpers_multiply_nothing(text):
    """Fences and waits of the matrix units are no matrix instructions."""
    assert not one(text).matrix


@pytest.mark.parametrize(
    ("text", "feature"),
    [
        ("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier [%r1], [%rd1, {%r2, %r3}], [%r4];", "tma_load"),
        ("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd1, {%r2, %r3}], [%r4];", "tma_store"),
        ("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add [%rd1, {%r2}], [%r4];", "tma_reduce"),
        ("cp.async.bulk.shared::cluster.global.mbarrier [%r1], [%rd1], %r2, [%r4];", "bulk_load"),
        ("cp.async.commit_group;", "async_copy_commit"),
        ("cp.async.bulk.wait_group.read 0;", "wait"),
        ("bar.sync 0;", "barrier"),
        ("shfl.sync.bfly.b32 %r1, %r2, 16, 31, -1;", "shuffle"),
        ("ex2.approx.f32 %f1, %f2;", "special_function"),
    ],
)
def test_other_classes(text, feature):
    """The first space of a bulk copy is its destination."""
    assert one(text).features == {feature: 1}


def test_parameters_are_no_memory_traffic():
    """ld.param reads the constant bank."""
    assert not one("ld.param.b64 %rd1, [k_param_0];").accesses
