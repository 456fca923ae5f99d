"""Useful products of dots, and combines of reductions and scans, against brute force over lanes."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from kopt_kb.analysis.ir.triton import count_ir
from kopt_kb.analysis.ir.triton.contractions import _alike
from kopt_kb.analysis.ir.triton.products import Factor

SIZE = st.integers(0, 16)


def tile(name, rows, columns):
    """A masked 16 x 16 load with real rows and columns below two parameters."""
    return (
        f"%{name}r = tt.splat %{rows} : i32 -> tensor<16x1xi32>\n%{name}c = tt.splat %{columns} : i32 -> tensor<1x16xi32>\n"
        f"%{name}lr = arith.cmpi slt, %r, %{name}r : tensor<16x1xi32>\n"
        f"%{name}lc = arith.cmpi slt, %c, %{name}c : tensor<1x16xi32>\n"
        f"%{name}br = tt.broadcast %{name}lr : tensor<16x1xi1> -> tensor<16x16xi1>\n"
        f"%{name}bc = tt.broadcast %{name}lc : tensor<1x16xi1> -> tensor<16x16xi1>\n"
        f"%{name}m = arith.andi %{name}br, %{name}bc : tensor<16x16xi1>\n"
        f"%{name} = tt.load %ptr, %{name}m, %zero : tensor<16x16x!tt.ptr<f32>>\n"
    )


HEAD = (
    "tt.func public @k(%p: !tt.ptr<f32>, %m: i32, %n: i32, %ka: i32, %kb: i32) {\n"
    "%i = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>\n"
    "%r = tt.expand_dims %i {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>\n"
    "%c = tt.expand_dims %i {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>\n"
    "%s = tt.splat %p : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>\n"
    "%sr = tt.addptr %s, %r : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi32>\n"
    "%sb = tt.broadcast %sr : tensor<16x1x!tt.ptr<f32>> -> tensor<16x16x!tt.ptr<f32>>\n"
    "%cb = tt.broadcast %c : tensor<1x16xi32> -> tensor<16x16xi32>\n"
    "%ptr = tt.addptr %sb, %cb : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>\n"
    "%zero = arith.constant dense<0.0> : tensor<16x16xf32>\n"
)


def run(body, **args):
    return count_ir(HEAD + body + "tt.return\n}\n", 1, args, mode="exact").kernels[0]


@settings(max_examples=25, deadline=None)
@given(m=SIZE, n=SIZE, ka=SIZE, kb=SIZE)
def test_a_dot_counts_products_of_two_real_elements_that_are_stored(m, n, ka, kb):
    """A is real for m x ka, B for kb x n, and the store takes m x n: 2 m n min(ka, kb)."""
    body = (
        tile("a", "m", "ka") + tile("b", "kb", "n") + tile("o", "m", "n")
        + "%d = tt.dot %a, %b, %zero, inputPrecision = tf32 : "
        "tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>\n"
        "tt.store %ptr, %d, %om : tensor<16x16x!tt.ptr<f32>>\n"
    )  # fmt: skip
    kernel = run(body, m=m, n=n, ka=ka, kb=kb)
    assert kernel.useful_flops.value == 2 * m * n * min(ka, kb)
    assert kernel.executed_flops.value == 2 * 16**3
    assert kernel.useful_flops.exactness == "exact"


@settings(max_examples=25, deadline=None)
@given(m=SIZE, ka=SIZE, kb=SIZE)
def test_work_before_a_dot_is_useful_where_the_other_factor_is_real(m, ka, kb):
    """2 A, then times B: the doubling counts for the m x min(ka, kb) elements that meet something."""
    body = (
        tile("a", "m", "ka") + tile("b", "kb", "n") + tile("o", "m", "n")
        + "%two = arith.addf %a, %a : tensor<16x16xf32>\n"
        "%d = tt.dot %two, %b, %zero, inputPrecision = tf32 : "
        "tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>\n"
        "tt.store %ptr, %d, %om : tensor<16x16x!tt.ptr<f32>>\n"
    )  # fmt: skip
    kernel = run(body, m=m, n=16, ka=ka, kb=kb)
    vector = [f.amount.value for f in kernel.useful if f.engine == "vector"]
    assert vector == [m * min(ka, kb)]


def test_work_before_a_dot_without_padding_is_useful_row_by_row():
    """2 A times B, both whole, five rows stored: 5 x 16 doublings."""
    body = (
        tile("o", "m", "n") + "%a = tt.load %ptr : tensor<16x16x!tt.ptr<f32>>\n"
        "%two = arith.addf %a, %a : tensor<16x16xf32>\n"
        "%d = tt.dot %two, %a, %zero, inputPrecision = tf32 : "
        "tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>\n"
        "tt.store %ptr, %d, %om : tensor<16x16x!tt.ptr<f32>>\n"
    )
    kernel = run(body, m=5, n=16, ka=0, kb=0)
    assert {f.engine: f.amount.value for f in kernel.useful} == {"vector": 80, "matrix": 2 * 5 * 16 * 16}


@settings(max_examples=25, deadline=None)
@given(m=SIZE, ka=SIZE)
def test_a_row_sum_adds_real_elements_only(m, ka):
    """Rows below m are stored; each takes ka - 1 additions."""
    body = (
        tile("a", "n", "ka")
        + '%t = "tt.reduce"(%a) <{axis = 1 : i32}> ({\n^bb0(%x: f32, %y: f32):\n%z = arith.addf %x, %y : f32\n'
        "tt.reduce.return %z : f32\n}) : (tensor<16x16xf32>) -> tensor<16xf32>\n"
        "%ms = tt.splat %m : i32 -> tensor<16xi32>\n%lm = arith.cmpi slt, %i, %ms : tensor<16xi32>\n"
        "%ps = tt.splat %p : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>\n"
        "%pi = tt.addptr %ps, %i : tensor<16x!tt.ptr<f32>>, tensor<16xi32>\n"
        "tt.store %pi, %t, %lm : tensor<16x!tt.ptr<f32>>\n"
    )
    kernel = run(body, m=m, n=16, ka=ka, kb=0)
    assert kernel.useful_flops.value == m * max(ka - 1, 0)
    assert kernel.executed_flops.value == 16 * 15


@settings(max_examples=25, deadline=None)
@given(m=SIZE, reverse=st.booleans())
def test_a_scan_runs_as_far_as_its_last_needed_lane(m, reverse):
    """Storing the first m of 16 columns: m - 1 combines a row, all 15 when it runs from the other end."""
    flag = "true" if reverse else "false"
    body = (
        tile("o", "n", "m") + "%a = tt.load %ptr : tensor<16x16x!tt.ptr<f32>>\n"
        f'%t = "tt.scan"(%a) <{{axis = 1 : i32, reverse = {flag}}}> ({{\n^bb0(%x: f32, %y: f32):\n'
        "%z = arith.addf %x, %y : f32\ntt.scan.return %z : f32\n}) : (tensor<16x16xf32>) -> tensor<16x16xf32>\n"
        "tt.store %ptr, %t, %om : tensor<16x16x!tt.ptr<f32>>\n"
    )
    kernel = run(body, m=m, n=16, ka=0, kb=0)
    combines = 0 if m == 0 else 15 if reverse else m - 1
    assert kernel.useful_flops.value == 16 * combines


def test_padding_that_is_not_zero_makes_a_dots_useful_work_an_upper_bound():
    """Lanes filled with one take part in every product."""
    filled = tile("a", "m", "ka").replace("%zero : tensor<16x16x!", "%ones : tensor<16x16x!")
    body = (
        "%ones = arith.constant dense<1.0> : tensor<16x16xf32>\n" + filled + tile("o", "m", "n")
        + "%d = tt.dot %a, %a, %zero, inputPrecision = tf32 : "
        "tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>\n"
        "tt.store %ptr, %d, %om : tensor<16x16x!tt.ptr<f32>>\n"
    )  # fmt: skip
    kernel = run(body, m=4, n=5, ka=6, kb=0)
    assert (kernel.useful_flops.value, kernel.useful_flops.exactness) == (2 * 4 * 5 * 16, "upper")


def test_a_sum_over_lanes_filled_with_ones_is_an_upper_bound():
    """The filled lanes change the sum, whatever they mean."""
    filled = tile("a", "n", "ka").replace("%zero : tensor<16x16x!", "%ones : tensor<16x16x!")
    body = (
        "%ones = arith.constant dense<1.0> : tensor<16x16xf32>\n" + filled
        + '%t = "tt.reduce"(%a) <{axis = 1 : i32}> ({\n^bb0(%x: f32, %y: f32):\n%z = arith.addf %x, %y : f32\n'
        "tt.reduce.return %z : f32\n}) : (tensor<16x16xf32>) -> tensor<16xf32>\n"
        "%ps = tt.splat %p : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>\n"
        "%pi = tt.addptr %ps, %i : tensor<16x!tt.ptr<f32>>, tensor<16xi32>\n"
        "tt.store %pi, %t : tensor<16x!tt.ptr<f32>>\n"
    )  # fmt: skip
    kernel = run(body, m=0, n=16, ka=3, kb=0)
    assert (kernel.useful_flops.value, kernel.useful_flops.exactness) == (16 * 15, "upper")


def test_results_that_are_not_stored_make_no_dot_reduction_or_scan_useful():
    """Nothing asks for them."""
    combine = "({\n^bb0(%x: f32, %y: f32):\n%z = arith.addf %x, %y : f32\ntt.FORM.return %z : f32\n})"
    body = (
        "%a = tt.load %ptr : tensor<16x16x!tt.ptr<f32>>\n"
        "%d = tt.dot %a, %a, %zero, inputPrecision = tf32 : "
        "tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>\n"
        f'%t = "tt.reduce"(%a) <{{axis = 1 : i32}}> {combine.replace("FORM", "reduce")} : '
        "(tensor<16x16xf32>) -> tensor<16xf32>\n"
        f'%u = "tt.scan"(%a) <{{axis = 1 : i32, reverse = false}}> {combine.replace("FORM", "scan")} : '
        "(tensor<16x16xf32>) -> tensor<16x16xf32>\n"
    )
    kernel = run(body, m=0, n=0, ka=0, kb=0)
    assert kernel.useful_flops.value == 0
    assert kernel.executed_flops.value == 2 * 16**3 + 2 * 16 * 15


def test_programs_that_ask_for_all_or_nothing_are_counted_as_one():
    """Two of three ask; where a factor or a lane differs between programs nothing is put together."""
    whole = Factor.of(None, (4, 4))
    asked = np.array([True, False, True]).reshape(3, 1, 1)
    one, times, here = _alike(asked, [whole, whole])
    assert (one.shape, times, here is asked) == ((1, 1, 1), 2, True)
    edged = Factor.of(np.zeros((3, 4, 4), np.bool_), (4, 4))
    for demand, factors in ((asked, [whole, edged]), (np.ones((3, 4, 1), np.bool_), [whole, whole])):
        one, times, here = _alike(demand, factors)
        assert (one is demand, times, here.shape) == (True, 1, (1, 1, 1))
