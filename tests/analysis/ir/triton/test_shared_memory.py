"""Arguments that share memory: each byte of it is counted once, whoever names it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kopt_kb.analysis.ir.triton import TensorArg, count_ir, parse_ttir
from kopt_kb.analysis.ir.triton.arguments import Binding, bind

N, BLOCK, ITEM = 3000, 1024, 4


@pytest.fixture(scope="module")
def vadd(ir_text):
    """out[i] = x[i] + y[i] of N fp32 elements in blocks of 1024."""
    return parse_ttir(ir_text("vadd"), file="vadd.ttir")


def counted(module, bases, mode):
    """The count of vadd with x, y and out at addresses."""
    tensors = {at: TensorArg((N,), "fp32", base=base) for at, base in enumerate(bases)}
    return count_ir(module, -(-N // BLOCK), {**tensors, "n": N}, mode=mode).kernels[0]


@settings(deadline=None, max_examples=60)
@given(st.tuples(*[st.integers(0, 8000)] * 3))
@pytest.mark.parametrize("mode", ["exact", "shape"])
def test_compulsory_bytes_are_the_distinct_bytes_of_any_aliasing(vadd, mode, places) -> None:
    """Against sets of elements; by shape at least as many, and never more than the buffers have."""
    x, y, out = (set(range(place, place + N)) for place in places)
    kernel = counted(vadd, [(1 << 41) + ITEM * place for place in places], mode)
    read, written = kernel.read.compulsory, kernel.written.compulsory
    memory = ITEM * len(x | y | out)
    if mode == "exact":
        assert (read.value, read.exactness) == (ITEM * len(x | y), "exact")
        assert (written.value, written.exactness) == (ITEM * len(out), "exact")
    assert ITEM * len(x | y) <= read.value <= memory
    assert ITEM * len(out) <= written.value <= memory


def test_one_tensor_twice_is_read_once(vadd) -> None:
    """add(x, x): half the bytes of add(x, y), and as many are asked for."""
    same, apart = (counted(vadd, bases, "exact") for bases in ([0, 0, 1 << 20], [0, 1 << 21, 1 << 20]))
    assert (same.read.compulsory.value, apart.read.compulsory.value) == (ITEM * N, 2 * ITEM * N)
    assert same.read.requested == apart.read.requested


def binding(**tensors) -> Binding:
    """Tensors by parameter number, at the addresses that they name."""
    held = {int(name[1:]): tensor for name, tensor in tensors.items()}
    return Binding({}, held, {at: tensor.base or 0 for at, tensor in held.items()})


def test_memory_of_several_tensors() -> None:
    """Halves of a cache are apart, a window overlaps, gaps of a strided tensor are nobody's."""
    cache = binding(p0=TensorArg((8,), "fp32", base=0), p1=TensorArg((8,), "fp32", base=32))
    assert cache.memory_bytes([0, 1]) == 64
    window = binding(p0=TensorArg((8,), "fp32", base=0), p1=TensorArg((8,), "fp32", base=16))
    assert window.memory_bytes([0, 1]) == 48
    spread = binding(p0=TensorArg((4,), "fp32", (100,), base=0), p1=TensorArg((2,), "fp32", base=8000))
    assert spread.memory_bytes([0, 1]) == 24
    assert spread.memory_bytes([]) == 0


def test_the_same_contents_under_two_names_are_known(ir_text) -> None:
    """Lengths that are passed twice stay known; another tensor in their bytes makes them unknown."""
    lengths = TensorArg((4,), "i32", base=64, data=np.arange(4))
    again = TensorArg((4,), "i32", base=64, data=np.arange(4))
    other = TensorArg((4,), "i32", base=64, data=np.ones(4, np.int64))
    assert binding(p0=lengths, p1=again).holds_the_same(0, 1)
    assert not binding(p0=lengths, p1=other).holds_the_same(0, 1)
    assert not binding(p0=lengths, p1=TensorArg((4,), "i32", base=64)).holds_the_same(0, 1)
    module = parse_ttir(ir_text("vadd"), file="vadd.ttir")
    apart = bind(module, module.kernel(), {0: TensorArg((4,), "fp32"), 1: TensorArg((4,), "fp32")})
    assert not apart.overlap(0, 1)
