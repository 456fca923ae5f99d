"""The driver's interface: widths of scalars; the fake device of the tests offers all of it."""

from __future__ import annotations

import ctypes
from types import ModuleType

import pytest

from kopt_kb.launch.record.cuda_driver import CudaDriver
from kopt_kb.launch.record.driver import Driver, scalar_type


@pytest.mark.parametrize(("name", "size"), [("i1", 1), ("bf16", 2), ("fp16", 2), ("i32", 4), ("fp32", 4), ("i64", 8)])
def test_scalars_have_the_width_of_the_signature(name: str, size: int) -> None:
    """A bool takes a byte; half-width floats travel as 16 bits."""
    assert ctypes.sizeof(scalar_type(name)) == size


def test_every_driver_has_every_call(fake: ModuleType) -> None:
    """CUDA's and the one that tests run on."""
    calls = {name for name in vars(Driver) if not name.startswith("_")}
    assert len(calls) > 20
    for kind in (CudaDriver, fake.FakeDriver):
        assert calls <= set(dir(kind))
