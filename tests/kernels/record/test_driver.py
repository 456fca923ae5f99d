"""CUDA's driver behind the interface: what is missing is said; a real GPU round trip where there is one."""

from __future__ import annotations

import ctypes
import importlib.util

import pytest

from kopt_kb.errors import MissingTool
from kopt_kb.kernels.record.driver import CudaDriver, DriverError, scalar_type


@pytest.mark.skipif(importlib.util.find_spec("cuda") is not None, reason="cuda-bindings are installed")
def test_missing_bindings_are_named() -> None:
    """With the extra that brings them."""
    with pytest.raises(MissingTool, match=r"kopt-kb\[gpu\]"):
        CudaDriver()


@pytest.mark.parametrize(("name", "size"), [("i1", 1), ("bf16", 2), ("fp16", 2), ("i32", 4), ("fp32", 4), ("i64", 8)])
def test_scalars_have_the_width_of_the_signature(name: str, size: int) -> None:
    """A bool takes a byte; half-width floats travel as 16 bits."""
    assert ctypes.sizeof(scalar_type(name)) == size


class _Library:
    """The driver's library as far as fills and parameters go; parameters are sizes in bytes."""

    def __init__(self, *parameters: int) -> None:
        self.written: list[tuple[int, bytes]] = []
        self._parameters = parameters

    def cuMemcpyHtoD(self, address: int, data: bytes, size: int) -> tuple[int]:  # noqa: N802 - the driver's name
        self.written.append((address, data[:size]))
        return (0,)

    def cuFuncGetParamInfo(self, _: object, number: int) -> tuple[int, int, int]:  # noqa: N802
        known = number < len(self._parameters)
        return (0, 0, self._parameters[number]) if known else (1, 0, 0)


def _driver(library: _Library) -> CudaDriver:
    driver = object.__new__(CudaDriver)
    driver._cu = library
    return driver


def test_a_wide_fill_holds_no_more_than_a_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    """8-byte patterns with unlike halves are written from the host, in pieces of bounded size."""
    monkeypatch.setattr("kopt_kb.kernels.record.driver._CHUNK_BYTES", 16)
    library = _Library()
    _driver(library).fill(100, b"12345678", 5)
    assert library.written == [(100, b"12345678" * 2), (116, b"12345678" * 2), (132, b"12345678")]


def test_arguments_are_the_parameters_of_the_kernel() -> None:
    """The driver reads what the kernel declares: fewer, more or narrower arguments would be read beyond their memory."""
    pointer, word = scalar_type("u64"), scalar_type("i32")
    _driver(_Library(8, 4, 128))._accepts(None, "k", [pointer, word, None])
    for given in ([pointer], [pointer, pointer, None], [pointer, word, None, word]):
        with pytest.raises(DriverError, match="k takes parameters of"):
            _driver(_Library(8, 4, 128))._accepts(None, "k", given)


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
