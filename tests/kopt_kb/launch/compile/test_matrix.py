"""Names of matrix instructions out of machine code."""

from __future__ import annotations

from kopt_kb.launch.compile.matrix import matrix_instructions

PTX = """
    @%p1 wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {%f1}, %rd1, %rd2, %p2, 1, 1, 0, 0;
    mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 { %r1 }, { %r2 };
    mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 { %r1 }, { %r2 };
    mov.b32 %r1, %r2; // mma.sync of nothing
"""
AMDGCN = """
\tv_mfma_scale_f32_32x32x64_f8f6f4 v[0:15], v[0:3], v[4:7], v[0:15], v8, v9 cbsz:4 blgp:4
\tv_mfma_f32_32x32x2_f32 v[0:15], v1, v2, v[0:15]
"""


def test_each_instruction_once() -> None:
    """With the words that say element formats."""
    assert matrix_instructions(PTX) == (
        "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16",
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
    )
    assert matrix_instructions(AMDGCN) == (
        "v_mfma_scale_f32_32x32x64_f8f6f4 cbsz:4 blgp:4",
        "v_mfma_f32_32x32x2_f32",
    )
    assert matrix_instructions("") == ()
