"""A kernel file on a platform in one go."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("triton", reason="triton is not installed")
pytest.importorskip("torch", reason="torch is not installed")

from kopt_kb.analysis.roofline.reach import reach
from kopt_kb.base.errors import BadInput, MissingTool
from kopt_kb.cli.roofline.text import render_kernel
from kopt_kb.launch.compile.request import OpCase
from kopt_kb.launch.counts import kernel_roofline
from kopt_kb.launch.counts.kernel_roofline import Launched, kernel_rooflines
from kopt_kb.launch.counts.limits import limits_of
from kopt_kb.launch.cuda.nvrtc import nvrtc_version
from kopt_kb.problem.work import work
from kopt_kb.wiki.registry import Registry

pytestmark = pytest.mark.triton


@pytest.mark.parametrize("platform", ["H100_SXM", "MI300X"])
def test_count_compile_occupancy_and_roofline(platform: str, repo_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A norm is memory-bound on both vendors; losses are at most all of the roof; every limit is cited.

    Where nobody knows a limit that it meets the roofline stands, its occupancy is an upper bound and nothing is lost.
    """
    case = OpCase(str(repo_root / "kernels/rms_norm.py"), (2048, 4096), "bf16")
    (one,) = kernel_rooflines([case], Registry.open().platform(platform))
    assert (one.roofline.bound, one.roofline.limiter) == ("memory", "dram")
    assert one.occupancy.blocks_per_sm >= 1
    assert one.quantisation is not None
    assert 0 < one.quantisation.efficiency <= 1
    assert all("<- <gpu-wiki>/" in source for source in one.occupancy.sources)
    lacking = replace(limits_of(Registry.open().platform(platform)), shared_memory_granule=None)
    monkeypatch.setattr(kernel_roofline, "limits_of", lambda _: lacking)
    (bound,) = kernel_roofline.rooflines_of([Launched(one.compiled.compilation)], Registry.open().platform(platform))
    assert (bound.occupancy.exactness, bound.quantisation) == ("upper", None)
    text = render_kernel(bound, reach(bound.roofline, Registry.open().platform(platform)))
    assert "occupancy is an upper bound: shared_memory_granule UNKNOWN" in text
    assert set(one.to_json()) == {"name", "compile", "count", "occupancy", "roofline", "quantisation", "measured_s"}


def test_machine_code_takes_the_closed_form_of_the_declared_operation(repo_root: Path) -> None:
    """An RMS norm in CUDA C++ does what `work` says of one; a launch of several kernels is refused: nobody knows parts."""
    try:
        nvrtc_version()
    except MissingTool as missing:
        pytest.skip(missing.what)
    platform = Registry.open().platform("H100_SXM")
    (one,) = kernel_rooflines([OpCase(str(repo_root / "kernels/cuda/rms_norm.cu"), (2048, 4096), "bf16")], platform)
    assert one.counted is None
    assert one.roofline.work == work("rms_norm", "2048x4096", "bf16", weight=True)
    assert one.quantisation is not None
    assert "closed form of the operation" in render_kernel(one, reach(one.roofline, platform))
    assert one.to_json()["count"] is None
    with pytest.raises(BadInput, match="operations of machine code are not counted"):
        kernel_rooflines([OpCase(str(repo_root / "kernels/cuda/softmax.cu"), (8, 131072), "bf16")], platform)


def test_a_kernel_of_warps_with_roles_takes_the_closed_form_too(repo_root: Path) -> None:
    """Attention starts with its Gluon kernel on Hopper, whose operations nobody counts, and with Triton's elsewhere."""
    case = OpCase(str(repo_root / "kernels/attention.py"), (1, 2, 256, 64), "bf16")
    found = {}
    for name in ("H100_SXM", "A100_SXM_80GB"):
        (found[name],) = kernel_rooflines([case], Registry.open().platform(name))
    assert [one.name for one in found.values()] == ["attention_roles", "attention_rows"]
    assert found["H100_SXM"].counted is None
    assert found["H100_SXM"].roofline.work == work("attention", "1x2x256x64", "bf16", causal=True)
    assert found["A100_SXM_80GB"].counted is not None
