"""Ceilings are measured on a GPU only; without one the error says so."""

from __future__ import annotations

import pytest

from kopt_kb.base.errors import MissingTool
from kopt_kb.launch.kernel.ceilings import FOOTPRINTS, GEMM_SHAPES, GEMM_TYPES, bandwidth_records, environment

torch = pytest.importorskip("torch", reason="torch is not installed")


@pytest.mark.skipif(torch.cuda.is_available(), reason="a GPU is here")
def test_no_gpu_is_a_missing_tool() -> None:
    """Exit 3, not a traceback of the framework."""
    with pytest.raises(MissingTool, match="GPU"):
        environment()
    with pytest.raises(MissingTool):
        next(bandwidth_records(["copy"]))


def test_footprints_are_well_past_a_large_l2() -> None:
    """128 MiB is the least; sizes grow."""
    assert (min(FOOTPRINTS), max(FOOTPRINTS)) == (8 << 20, 8 << 30)
    assert list(FOOTPRINTS) == sorted(set(FOOTPRINTS))


def test_every_type_names_engine_and_accumulator() -> None:
    """Integers accumulate in integers; plain fp32 is vector work."""
    assert GEMM_TYPES["int8"] == ("matrix", "int32")
    assert GEMM_TYPES["fp32"] == ("vector", "fp32")
    assert all(len(shape) == 3 for shape in GEMM_SHAPES)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU is visible to torch")
def test_a_copy_is_measured() -> None:
    """A result, checked, with a spread."""
    (record,) = bandwidth_records(["copy"], [1 << 27], rounds=5)
    assert record.rate_per_s > 1e10
