"""Memory operations: which bytes blocks, masks and unknown addresses ask for."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from kopt_kb.analysis.ir.triton import TensorArg, count_ir
from kopt_kb.analysis.ir.triton.access import view_addresses
from kopt_kb.analysis.ir.triton.values import BlockView

ONE = np.ones(1, np.int64)
LOAD = (
    "tt.func public @k(%p: !tt.ptr<f32>, %n: i32, %step: i32) {\n"
    "%r = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>\n"
    "%ss = tt.splat %step : i32 -> tensor<32xi32>\n%at = arith.muli %r, %ss : tensor<32xi32>\n"
    "%ns = tt.splat %n : i32 -> tensor<32xi32>\n%lt = arith.cmpi slt, %r, %ns : tensor<32xi32>\n"
    "%ps = tt.splat %p : !tt.ptr<f32> -> tensor<32x!tt.ptr<f32>>\n"
    "%pp = tt.addptr %ps, %at : tensor<32x!tt.ptr<f32>>, tensor<32xi32>\n"
    "%x = tt.load %pp, %lt : tensor<32x!tt.ptr<f32>>\ntt.return\n}\n"
)


def test_block_addresses_follow_strides_and_clip_at_extents():
    """A 2 x 3 block at row 4, column 1 of a 5 x 3 tensor with rows 10 apart, 2 bytes an element."""
    view = BlockView(ONE * 1000, (ONE * 5, ONE * 3), (ONE * 10, ONE), (ONE * 4, ONE), (2, 3), 2)
    steps = [np.arange(2).reshape(1, 2, 1), np.arange(3).reshape(1, 1, 3)]
    address, mask = view_addresses(view, (0, 1), steps)
    assert address.tolist() == [[[1082, 1084, 1086], [1102, 1104, 1106]]]
    assert mask.tolist() == [[[True, True, False], [False, False, False]]]
    assert view_addresses(view, (), steps)[1] is None


@settings(max_examples=30, deadline=None)
@given(n=st.integers(0, 40), step=st.integers(0, 20), base=st.integers(1, 50))
def test_strided_loads_touch_the_sectors_of_their_elements(n, step, base):
    """Against a plain set of bytes, at any alignment of four bytes."""
    start = base * 4
    kernel = count_ir(
        LOAD, 1, {"n": n, "step": step, "p": TensorArg((800,), "fp32", base=start)}, mode="exact"
    ).kernels[0]
    touched = {start + 4 * step * lane + byte for lane in range(min(n, 32)) for byte in range(4)}
    assert kernel.read.requested.value == 4 * min(n, 32)
    assert kernel.read.compulsory.value == len(touched)
    assert kernel.read.sectors.value == kernel.read.sector_requests.value == len({byte // 32 for byte in touched})


def test_the_same_load_in_every_program_is_one_footprint():
    """Seven programs, one tensor: asked for seven times, distinct once."""
    kernel = count_ir(LOAD, 7, {"n": 32, "step": 1}, mode="exact").kernels[0]
    assert kernel.read.requested.value == 7 * 128
    assert kernel.read.compulsory.value == 128
    assert kernel.read.sector_requests.value == 7 * 4


def test_a_float_mask_makes_the_load_an_upper_bound():
    """The mask comes from loaded data."""
    text = LOAD.replace(
        "tt.return",
        "%z = arith.constant dense<0.0> : tensor<32xf32>\n%c = arith.cmpf ogt, %x, %z : tensor<32xf32>\n"
        "%y = tt.load %pp, %c : tensor<32x!tt.ptr<f32>>\ntt.return",
    )
    kernel = count_ir(text, 1, {"n": 32, "step": 1}, mode="exact").kernels[0]
    assert (kernel.read.requested.value, kernel.read.requested.exactness) == (256, "upper")
    assert kernel.notes[0].line == 12


INDIRECT = (
    "tt.func public @k(%p: !tt.ptr<i32>, %q: !tt.ptr<f32>, %w: !tt.ptr<i32>) {\n%v = tt.load %p : !tt.ptr<i32>\n"
    "%at = tt.addptr %q, %v : !tt.ptr<f32>, i32\n%x = tt.load %at : !tt.ptr<f32>\n"
    "%one = arith.constant 1 : i32\ntt.store %w, %one : !tt.ptr<i32>\ntt.return\n}\n"
)


def test_contents_are_used_only_while_nothing_writes_them():
    """Index 7 given: the address is known, unless the kernel writes that buffer or one that shares its memory."""
    index = TensorArg((1,), "int32", base=4096, data=np.array([7]))
    apart, shared = TensorArg((1,), "int32", base=8192), TensorArg((1,), "int32", base=4096)
    written = INDIRECT.replace("tt.store %w", "tt.store %p")
    cases = [(INDIRECT, apart, "exact"), (INDIRECT, shared, "upper"), (written, apart, "upper")]
    for text, other, exactness in cases:
        kernel = count_ir(text, 1, {"p": index, "w": other}, mode="exact").kernels[0]
        assert kernel.read.compulsory.exactness == exactness
        assert kernel.read.requested.value == 8


def test_masked_lanes_of_known_contents_take_the_other_value():
    """Lanes 0 and 1 read offsets 5 and 6, lanes 2 and 3 take 0: elements 5, 6 and 0 of q."""
    text = (
        "tt.func public @k(%p: !tt.ptr<i32>, %q: !tt.ptr<f32>) {\n"
        "%r = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>\n%t = arith.constant dense<2> : tensor<4xi32>\n"
        "%z = arith.constant dense<0> : tensor<4xi32>\n%lt = arith.cmpi slt, %r, %t : tensor<4xi32>\n"
        "%ps = tt.splat %p : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>\n"
        "%pp = tt.addptr %ps, %r : tensor<4x!tt.ptr<i32>>, tensor<4xi32>\n"
        "%i = tt.load %pp, %lt, %z : tensor<4x!tt.ptr<i32>>\n%qs = tt.splat %q : !tt.ptr<f32> -> tensor<4x!tt.ptr<f32>>\n"
        "%qq = tt.addptr %qs, %i : tensor<4x!tt.ptr<f32>>, tensor<4xi32>\n%x = tt.load %qq : tensor<4x!tt.ptr<f32>>\n"
        "tt.return\n}\n"
    )
    index = TensorArg((2,), "int32", data=np.array([5, 6]))
    kernel = count_ir(text, 1, {"p": index}, mode="exact").kernels[0]
    assert kernel.read.compulsory.value == 2 * 4 + 3 * 4
    assert kernel.read.compulsory.exactness == "exact"
