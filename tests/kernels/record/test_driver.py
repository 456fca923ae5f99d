"""CUDA's driver behind the interface: what is missing is said; a real GPU round trip where there is one."""

from __future__ import annotations

import ctypes
import importlib.util

import pytest

from kopt_kb.errors import MissingTool
from kopt_kb.kernels.record.driver import CudaDriver, scalar_type


@pytest.mark.skipif(importlib.util.find_spec("cuda") is not None, reason="cuda-bindings are installed")
def test_missing_bindings_are_named() -> None:
    """With the extra that brings them."""
    with pytest.raises(MissingTool, match=r"kopt-kb\[gpu\]"):
        CudaDriver()


@pytest.mark.parametrize(("name", "size"), [("i1", 1), ("bf16", 2), ("fp16", 2), ("i32", 4), ("fp32", 4), ("i64", 8)])
def test_scalars_have_the_width_of_the_signature(name: str, size: int) -> None:
    """A bool takes a byte; half-width floats travel as 16 bits."""
    assert ctypes.sizeof(scalar_type(name)) == size


@pytest.mark.gpu
def test_memory_on_a_gpu() -> None:
    """Written, filled and copied bytes are read back."""
    pytest.importorskip("cuda.bindings", reason="needs cuda-bindings")
    try:
        driver = CudaDriver()
    except MissingTool as error:
        pytest.skip(str(error))
    first, second = driver.allocate(64), driver.allocate(64)
    driver.write(first, bytes(range(64)))
    driver.copy(second, first, 64)
    driver.fill(second, b"\xab\xcd", 4)
    assert driver.read(second, 64) == b"\xab\xcd" * 4 + bytes(range(8, 64))
    driver.free(first)
    driver.free(second)
