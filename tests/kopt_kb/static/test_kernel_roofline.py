"""A kernel file on a platform in one go."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("triton", reason="triton is not installed")
pytest.importorskip("torch", reason="torch is not installed")

from kopt_kb.kernels.compile.request import OpCase
from kopt_kb.static.kernel_roofline import kernel_rooflines
from kopt_kb.wiki.registry import Registry

pytestmark = pytest.mark.triton


@pytest.mark.parametrize("platform", ["H100_SXM", "MI300X"])
def test_count_compile_occupancy_and_roofline(platform: str, repo_root: Path) -> None:
    """A norm is memory-bound on both vendors; losses are at most all of the roof; every limit is cited."""
    case = OpCase(str(repo_root / "kernels/rms_norm.py"), (2048, 4096), "bf16")
    (one,) = kernel_rooflines([case], Registry.open().platform(platform))
    assert (one.roofline.bound, one.roofline.limiter) == ("memory", "dram")
    assert one.occupancy.blocks_per_sm >= 1
    assert one.quantisation is not None
    assert 0 < one.quantisation.efficiency <= 1
    assert all("<- <gpu-wiki>/" in source for source in one.occupancy.sources)
    assert set(one.to_json()) == {"name", "compile", "count", "occupancy", "roofline", "quantisation", "measured_s"}
