"""Blocks of a machine code file's kernels, from the file alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput, MissingTool
from kopt_kb.launch.counts.code_file import code_resources
from kopt_kb.launch.cuda.nvrtc import compile_cuda

FOLDER = Path(__file__).parents[3] / "data" / "code_objects"
SOURCE = """
extern "C" __global__ void __launch_bounds__(96) bound(float* x) { __shared__ float s[64]; s[threadIdx.x % 64] = *x; *x = s[3]; }
extern "C" __global__ void any_size(float* x) { x[threadIdx.x] = 1; }
"""


def test_an_amd_code_object() -> None:
    """Accumulation and scalar registers too; LDS of the launch comes on top."""
    found = code_resources(FOLDER / "tile_product.gfx942.hsaco", "gfx942", shared_bytes=8192)
    one = found["tile_product"]
    assert (one.threads_per_block, one.shared_bytes) == (256, 8192)
    assert one.accumulation_registers_per_thread > 0 and one.scalar_registers_per_warp > 0
    assert (
        code_resources(FOLDER / "tile_product.gfx942.hsaco", "gfx942", threads=64)["tile_product"].threads_per_block
        == 64
    )


def test_a_cubin(tmp_path: Path) -> None:
    """Static shared memory is the file's; a kernel for blocks of any size needs to be told."""
    file = tmp_path / "two.cubin"
    try:
        file.write_bytes(compile_cuda(SOURCE, "two.cu", 90, entries=[]).cubin)
    except MissingTool as missing:
        pytest.skip(missing.what)
    (one,) = code_resources(file, "sm_90", kernel="bound").values()
    assert (one.threads_per_block, one.shared_static_bytes) == (96, 256)
    assert set(code_resources(file, "sm_90", threads=128)) == {"bound", "any_size"}
    with pytest.raises(BadInput, match="any_size was compiled for blocks of any size"):
        code_resources(file, "sm_90")
    with pytest.raises(BadInput, match="no kernel 'other'"):
        code_resources(file, "sm_90", kernel="other")
    with pytest.raises(BadInput, match="nothing for gfx942"):
        code_resources(file, "gfx942")
