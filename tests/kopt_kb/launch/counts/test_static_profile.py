"""Claims about the static profile of a kernel."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from kopt_kb.analysis.ir.machine.scan import scan_text
from kopt_kb.analysis.occupancy.occupancy import Limits, occupancy
from kopt_kb.kernels.launch_case import LaunchCase, TensorSpec
from kopt_kb.launch.compile.request import Compilation, CompileFailed, KernelCase, OpCase
from kopt_kb.launch.counts.static_profile import compile_kernel, profile_of

FILE = str(Path(__file__).parents[3] / "kopt_kb" / "launch" / "compile" / "kernels_to_compile.py")
TILE = TensorSpec((4096, 4096), "fp16")
BLOCKS = {"BM": 128, "BN": 128, "BK": 64}


def gemm(**options):
    """A 128x128x64 GEMM in fp16."""
    return KernelCase(FILE, "gemm", (TILE,) * 3 + (4096,) * 4, BLOCKS, {"num_warps": 8, "num_stages": 3} | options)


@pytest.mark.triton
@pytest.mark.parametrize(
    ("target", "family", "shared"),
    [
        ("sm_80", "HMMA", 65536),
        ("sm_90", "HGMMA", 98304),
        ("sm_100", "UTCHMMA", None),
        ("sm_120", "HMMA", 65536),
        ("gfx90a", "MFMA", None),
        ("gfx942", "MFMA", 65536),
        ("gfx950", "MFMA", None),
    ],
)
def test_a_gemm_uses_the_targets_matrix_instructions(pool, target, family, shared):
    """Each target's own family, all global loads 128 bits wide, registers known, nothing spilled.

    Shared memory where it follows from the pipeline: (128 + 128) x 64 x 2 bytes a stage, three stages on
    sm_90 and two elsewhere.
    """
    (made,) = compile_kernel(gemm(), target, pool=pool)
    assert set(made.scan.matrix) == {family}
    assert made.scan.wide_share("global", ("load", "copy"), bits=128) == 1.0
    assert made.assembler.registers > 40
    assert made.spill_bytes == 0
    if shared:
        assert made.shared_bytes == shared


@pytest.mark.triton
def test_the_record_has_the_contracts_fields(pool):
    """Names of the JSON shape, and plain data only."""
    (made,) = compile_kernel(gemm(), "sm_90", pool=pool)
    data = json.loads(json.dumps(made.to_json()))
    wanted = {"name", "target", "registers", "spills", "shared_bytes", "matrix_instructions", "versions"}
    assert wanted <= set(data)
    assert data["matrix_instructions"] == {"HGMMA": 4}
    assert data["specialisation"]["a"] == {"type": "*fp16", "tt.divisibility": 16}
    assert set(data["versions"]) == {"triton", "ptxas", "nvdisasm"}
    assert data["options"]["enable_fp_fusion"] is True


@pytest.mark.triton
def test_sass_and_ptx_agree_on_memory(pool):
    """The two texts are independent witnesses of global loads and stores."""
    (made,) = compile_kernel(gemm(), "sm_80", pool=pool)
    (ptx,) = scan_text(made.compilation.ptx)
    for kinds in (("load", "copy"), ("store",)):
        assert made.scan.count("global", kinds) == ptx.count("global", kinds) > 0


@pytest.mark.triton
def test_a_register_cap_spills_and_serialises(pool):
    """With 64 registers the 128x128 accumulator of 4 warps (128 registers a thread) has to spill."""
    (made,) = compile_kernel(gemm(num_warps=4, maxnreg=64), "sm_80", pool=pool)
    assert made.assembler.registers <= 64
    assert made.spill_bytes > 0
    assert made.scan.count("local", ("store",)) > 0
    (hopper,) = compile_kernel(gemm(num_warps=4, maxnreg=128), "sm_90", pool=pool)
    assert hopper.wgmma_serialised
    assert hopper.warnings[0].code.startswith("C75")


@pytest.mark.triton
def test_shared_memory_above_the_sourced_limit_is_refused(pool):
    """Triton compiles it silently; the refusal names the bytes, the limit and its citation."""
    limits = Limits(
        "nvidia",
        shared_memory_per_block=80_000,
        citations={"shared_memory_per_block": "<gpu-wiki>/targets/x.md:L3"},
    )
    with pytest.raises(CompileFailed, match="98304 B of shared memory.*targets/x.md:L3") as caught:
        compile_kernel(gemm(), "sm_90", limits=limits, pool=pool)
    assert caught.value.kind == "shared_memory"
    assert compile_kernel(gemm(), "sm_90", limits=replace(limits, shared_memory_per_block=None), pool=pool)


@pytest.mark.triton
def test_resources_feed_occupancy(pool):
    """Triton's dynamic shared memory, ptxas's registers and the block's threads reach the calculation."""
    (made,) = compile_kernel(gemm(), "sm_90", pool=pool)
    use = made.resources
    assert (use.threads_per_block, use.shared_dynamic_bytes) == (256, 98304)
    limits = Limits(
        "nvidia",
        warp_size=32,
        warps_per_sm=64,
        threads_per_block=1024,
        simds_per_sm=4,
        blocks_per_sm=32,
        registers_per_sm=65536,
        registers_per_block=65536,
        registers_per_thread=255,
        register_granule=256,
        shared_memory_per_sm=228 * 1024,
        shared_memory_per_block=227 * 1024,
        shared_memory_reserved_per_block=1024,
        shared_memory_granule=128,
    )
    assert occupancy(use, limits).blocks_per_sm == 2


@pytest.mark.triton
def test_a_launch_and_an_op_file_compile_without_a_pool():
    """A worker is started for the call and ended after it."""
    pytest.importorskip("triton")
    vector = TensorSpec((4096,), "fp32")
    launch = LaunchCase(f"{FILE}:vadd", (4,), (vector, vector, vector, 4096), {"BLOCK": 1024})
    by_launch = compile_kernel(launch, "gfx942")[0]
    by_file = compile_kernel(OpCase(FILE, (4096,), "fp32"), "gfx942")[0]
    assert by_launch.assembler == by_file.assembler
    assert by_file.compilation.grid == (4,)


AMD_TEXT = """\
\t.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
k:
\tscratch_store_dword off, v1, s32
\ts_endpgm
amdhsa.kernels:
  - .agpr_count:     0
    .private_segment_fixed_size: 8
    .sgpr_spill_count: 0
    .symbol:         k.kd
    .vgpr_count:     128
    .vgpr_spill_count: 2
"""


def test_amd_spills_count_four_bytes_a_register():
    """Two spilled VGPRs are 8 bytes a lane."""
    names = ("shared", "tmem_size", "num_warps", "num_stages", "num_ctas")
    raw = Compilation(
        "k", "gfx942", AMD_TEXT, "", "", "", dict.fromkeys(names, 1), {}, {}, {}, {}, {}
    )  # fmt: skip
    made = profile_of(raw)
    assert (made.spill_bytes, made.assembler.stack_bytes, made.shared_bytes) == (8, 8, 1)
    assert made.resources.threads_per_block == 64
