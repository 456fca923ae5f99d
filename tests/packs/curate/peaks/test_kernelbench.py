"""KernelBench's file: what its prompt reads of ours, and its own texts read."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.packs.curate.peaks import kernelbench
from kopt_kb.wiki.collect import Collection


def test_its_loader_finds_what_it_wants(of: Callable[..., Collection], tmp_path: Path) -> None:
    """The three names, texts alone, dense and sparse under keys of their own."""
    path = tmp_path / "gpu_specs.py"
    path.write_text(kernelbench.render(of("H100_SXM", "MI300X"))["gpu_specs.py"])
    found = runpy.run_path(str(path))
    assert found["GPU_DEFINITIONS"] and found["GPU_BEST_PRACTICES"] is not None
    specs = found["GPU_SPEC_INFO"]
    assert list(specs) == ["H100_SXM", "MI300X"]
    assert all(isinstance(text, str) for entry in specs.values() for text in entry.values())
    dense, sparse = "FP16 Tensor Core TFLOPS", "FP16 Tensor Core TFLOPS with 2:4 sparsity"
    assert float(specs["H100_SXM"][sparse]) == pytest.approx(2 * float(specs["H100_SXM"][dense]), rel=1e-3)


THEIRS = """GPU_SPEC_INFO = {
    "L40S": {
        "GPU Memory": "48GB GDDR6 with ECC",
        "Memory Bandwidth": "864 GB/s",
        "FP32 TFLOPS": "91.6",
        "TF32 Tensor Core TFLOPS": "183.2 (366 with sparsity)",
        "FP8 Tensor Core TFLOPS": "1466 with sparsity",
        "BFLOAT16 Tensore Core TFLOPS": "362",
        "Shared memory capacity per SM": "100 KB",
        "RT Core Performance TFLOPS": "212",
    },
}
"""


def test_their_own_texts_are_read() -> None:
    """`with sparsity` is the sparse rate, also where it stands alone; unknown keys are passed over."""
    rows = {(row.metric, *dict(row.axes).values()): row.text for row in kernelbench.read(THEIRS, "f")}
    assert rows == {
        ("memory_capacity",): "48",
        ("memory_bandwidth",): "864",
        ("peak_compute", "fp32", "vector", "dense"): "91.6",
        ("peak_compute", "tf32", "matrix", "dense"): "183.2",
        ("peak_compute", "tf32", "matrix", "2:4"): "366",
        ("peak_compute", "fp8", "matrix", "2:4"): "1466",
        ("peak_compute", "bf16", "matrix", "dense"): "362",
        ("shared_memory_per_sm",): "100",
    }


@pytest.mark.parametrize("text", ["GPU_SPEC_INFO = {", "GPU_SPEC_INFO = load()", "x = 1"])
def test_what_is_no_table(text: str) -> None:
    """Nothing is run to find out."""
    with pytest.raises(BadInput):
        kernelbench.read(text, "f")
