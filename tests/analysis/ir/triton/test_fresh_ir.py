"""The saved IR texts are what the installed triton prints for the test kernels today."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.triton

MAKER = Path(__file__).resolve().parents[3] / "data" / "make_ttir.py"


@pytest.fixture(scope="module")
def maker():
    """The script that compiles the test kernels."""
    triton = pytest.importorskip("triton")
    if not triton.__version__.startswith("3.6."):
        pytest.skip(f"the saved texts are triton 3.6's, this is {triton.__version__}")
    spec = importlib.util.spec_from_file_location("make_ttir", MAKER)
    module = importlib.util.module_from_spec(spec)
    sys.modules["make_ttir"] = module
    spec.loader.exec_module(module)
    return module


def test_saved_texts_are_current(maker, ir_folder):
    """Every kernel, compiled to TTIR without a GPU."""
    for name in maker.RECIPES:
        saved = (ir_folder / f"{name}.3.6.0.ttir").read_text()
        assert maker.ttir_text(name) == saved, name


def test_other_tile_sizes_count_too(maker):
    """64 x 32 x 32 tiles of a 100 x 100 x 100 GEMM: 2 x 4 tiles, 4 steps."""
    from kopt_kb.analysis.ir.triton import count_ir

    text = maker.ttir_text("gemm_wrapped", {"BM": 64, "BN": 32, "BK": 32})
    kernel = count_ir(text, 8, {"m": 100, "n": 100, "k": 100}, mode="exact").kernels[0]
    assert kernel.executed_flops.value == 8 * 4 * 2 * 64 * 32 * 32
    assert kernel.useful_flops.value == 2 * 100**3
    assert kernel.read.requested.value == 2 * (128 * 100 * 4 + 100 * 128 * 2)
