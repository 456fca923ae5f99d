"""What matrix instructions multiply, by their names."""

from __future__ import annotations

import pytest

from kopt_kb.analysis.ir.machine.multiplied import executed_as, multiplied


@pytest.mark.parametrize(
    ("instruction", "types"),
    [
        ("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32", ("fp8",)),
        ("mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32", ("int8",)),
        ("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", ("fp64",)),
        ("wgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32", ("tf32",)),
        ("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", ("fp32",)),
        ("tcgen05.mma.cta_group:1.kind:f16", ("fp16", "bf16")),
        ("mma.sync.aligned.m16n8k64.row.col.kind:mxf4nvf4.block_scale.scale_vec:2X.f32.e2m1.e2m1.f32.ue8m0",
         ("nvfp4", "mxfp4")),
        ("v_mfma_f32_32x32x16_fp8_bf8", ("fp8",)),
        ("v_mfma_f32_32x32x8_bf16_1k", ("bf16",)),
        ("v_mfma_f32_16x16x8_xf32", ("tf32",)),
        ("v_wmma_i32_16x16x16_iu8", ("int8",)),
        ("v_mfma_f32_32x32x64_f8f6f4", ("fp8",)),
        ("v_mfma_f32_32x32x64_f8f6f4 cbsz:4 blgp:4", ("fp4",)),
        ("v_mfma_scale_f32_32x32x64_f8f6f4", ("mxfp8",)),
        ("v_mfma_scale_f32_32x32x64_f8f6f4 cbsz:4 blgp:4", ("mxfp4",)),
        ("v_mfma_scale_f32_32x32x64_f8f6f4 cbsz:4", ("mxfp8",)),
        ("mma.sync.of.nobody", ()),
    ],
)  # fmt: skip
def test_types_that_are_multiplied(instruction: str, types: tuple[str, ...]) -> None:
    """The spellings that Triton 3.6 emits for each target, and those of the manuals."""
    assert multiplied(instruction) == types


HALF = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
WIDE = "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"


@pytest.mark.parametrize(
    ("dtype", "instructions", "runs"),
    [
        ("fp16", (HALF,), ("fp16", "matrix", HALF)),
        ("fp8", (WIDE, HALF), ("fp16", "matrix", HALF)),
        ("mxfp4", (HALF,), ("fp16", "matrix", HALF)),
        ("fp32", (HALF,), ("fp32", "vector", "")),
        ("bf16", (), ("fp32", "vector", "")),
        ("fp64", (), ("fp64", "vector", "")),
        ("int8", (HALF,), ("int32", "vector", "")),
    ],
)
def test_what_runs_is_the_narrowest_type_that_holds_it(dtype: str, instructions: tuple, runs: tuple) -> None:
    """fp8 on a part without fp8 units is widened; what no instruction multiplies is fused multiply-adds."""
    assert executed_as(dtype, "matrix", instructions, known=True) == runs


def test_nothing_is_changed_without_machine_code() -> None:
    """And vector operations stay what they are."""
    assert executed_as("fp8", "matrix", (), known=False) == ("fp8", "matrix", "")
    assert executed_as("fp32", "vector", (HALF,), known=True) == ("fp32", "vector", "")
