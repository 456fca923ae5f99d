"""Useful work through selects, branches and loops, on small kernels whose lanes can be listed."""

from __future__ import annotations

from kopt_kb.analysis.ir.triton import count_ir

HEAD = (
    "tt.func public @k(%p: !tt.ptr<f32>, %o: !tt.ptr<f32>, %n: i32, %m: i32) {\n"
    "%r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>\n"
    "%ns = tt.splat %n : i32 -> tensor<16xi32>\n%lt = arith.cmpi slt, %r, %ns : tensor<16xi32>\n"
    "%ms = tt.splat %m : i32 -> tensor<16xi32>\n%lm = arith.cmpi slt, %r, %ms : tensor<16xi32>\n"
    "%ps = tt.splat %p : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>\n"
    "%pp = tt.addptr %ps, %r : tensor<16x!tt.ptr<f32>>, tensor<16xi32>\n"
    "%os = tt.splat %o : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>\n"
    "%op = tt.addptr %os, %r : tensor<16x!tt.ptr<f32>>, tensor<16xi32>\n"
    "%zero = arith.constant dense<0.0> : tensor<16xf32>\n%ninf = arith.constant dense<0xFF800000> : tensor<16xf32>\n"
    "%x = tt.load %pp, %lt, %zero : tensor<16x!tt.ptr<f32>>\n"
)
STORE = "tt.store %op, {value}, %lt : tensor<16x!tt.ptr<f32>>\ntt.return\n}}\n"


def kernel_of(body, value="%y", n=10, m=4, store=STORE, grid=1):
    text = HEAD + body + "\n" + store.format(value=value)
    return count_ir(text, grid, {"n": n, "m": m}, mode="exact").kernels[0]


def useful(kernel):
    return kernel.useful_flops.value, kernel.useful_flops.exactness


def test_lanes_that_no_store_writes_are_not_useful():
    """Ten of sixteen lanes are stored."""
    assert useful(kernel_of("%y = arith.addf %x, %x : tensor<16xf32>")) == (10, "exact")


def test_work_that_no_store_reads_is_not_useful():
    """A result that goes nowhere."""
    kernel = kernel_of("%y = arith.mulf %x, %x : tensor<16xf32>", value="%x")
    assert useful(kernel) == (0, "exact")
    assert kernel.executed_flops.value == 16


def test_a_known_select_splits_the_demand():
    """Four lanes take the sum, the other six stored ones the product."""
    kernel = kernel_of(
        "%a = arith.addf %x, %x : tensor<16xf32>\n%b = arith.mulf %x, %x : tensor<16xf32>\n"
        "%y = arith.select %lm, %a, %b : tensor<16xi1>, tensor<16xf32>"
    )
    assert useful(kernel) == (4 + 6, "exact")


def test_a_select_by_data_needs_both_sides():
    """Nobody knows which of two sums survives: the comparison itself costs nothing."""
    kernel = kernel_of(
        "%c = arith.cmpf ogt, %x, %zero : tensor<16xf32>\n%a = arith.addf %x, %x : tensor<16xf32>\n"
        "%b = arith.mulf %x, %x : tensor<16xf32>\n%y = arith.select %c, %a, %b : tensor<16xi1>, tensor<16xf32>"
    )
    assert useful(kernel)[0] == 20


def test_an_additive_mask_is_padding():
    """where(mask, 0, -inf) + x: six of the ten stored lanes are minus infinity, the other four add zero."""
    kernel = kernel_of(
        "%bias = arith.select %lm, %zero, %ninf : tensor<16xi1>, tensor<16xf32>\n"
        "%s = arith.addf %x, %bias : tensor<16xf32>\n%e = math.exp %s : tensor<16xf32>\n"
        "%y = arith.mulf %e, %x : tensor<16xf32>"
    )
    assert kernel.useful_flops.value == 4 + 4
    assert kernel.special[0].useful.value == 4


def test_padding_lost_in_arithmetic_makes_an_upper_bound_where_it_is_stored():
    """Lanes 10 to 13 hold 0 - x: the store takes them, and nobody knows whether they mean anything."""
    body = (
        '%sum = "tt.reduce"(%x) <{axis = 0 : i32}> ({\n^bb0(%a: f32, %b: f32):\n%t = arith.addf %a, %b : f32\n'
        "tt.reduce.return %t : f32\n}) : (tensor<16xf32>) -> f32\n%m16 = tt.splat %sum : f32 -> tensor<16xf32>\n"
        "%y = arith.subf %x, %m16 : tensor<16xf32>"
    )
    everything = "tt.store %op, {value} : tensor<16x!tt.ptr<f32>>\ntt.return\n}}\n"
    assert useful(kernel_of(body, store=everything)) == (9 + 16, "upper")
    assert useful(kernel_of(body)) == (9 + 10, "exact")


def test_a_select_that_forgets_padding_makes_an_upper_bound():
    """Six of ten stored lanes are minus infinity; an unmasked store of lanes 10 to 15 would also take zeros."""
    body = "%s = arith.select %lm, %x, %ninf : tensor<16xi1>, tensor<16xf32>\n%y = arith.addf %s, %s : tensor<16xf32>"
    assert useful(kernel_of(body)) == (4, "exact")
    assert useful(kernel_of(body, n=3, m=4)) == (3, "exact")
    everything = "tt.store %op, {value} : tensor<16x!tt.ptr<f32>>\ntt.return\n}}\n"
    assert useful(kernel_of(body, n=3, m=4, store=everything)) == (4, "upper")


def test_padding_survives_a_branch_that_both_sides_share():
    """Program 0 doubles, program 1 negates; padding is zero on both sides and squares to nothing."""
    body = (
        "%pid = tt.get_program_id x : i32\n%c0 = arith.constant 0 : i32\n%first = arith.cmpi eq, %pid, %c0 : i32\n"
        "%b = scf.if %first -> (tensor<16xf32>) {\n%d = arith.addf %x, %x : tensor<16xf32>\n"
        "scf.yield %d : tensor<16xf32>\n} else {\n%e = arith.mulf %x, %x : tensor<16xf32>\n"
        "scf.yield %e : tensor<16xf32>\n}\n%y = arith.mulf %b, %b : tensor<16xf32>"
    )
    everything = "tt.store %op, {value} : tensor<16x!tt.ptr<f32>>\ntt.return\n}}\n"
    assert useful(kernel_of(body, grid=2, store=everything)) == (10 + 10 + 2 * 10, "exact")


def test_a_loop_passes_demand_to_every_trip():
    """Three additions to one accumulator, ten lanes each."""
    body = (
        "%c0 = arith.constant 0 : i32\n%c1 = arith.constant 1 : i32\n%c3 = arith.constant 3 : i32\n"
        "%y = scf.for %i = %c0 to %c3 step %c1 iter_args(%acc = %zero) -> (tensor<16xf32>)  : i32 {\n"
        "%next = arith.addf %acc, %x : tensor<16xf32>\nscf.yield %next : tensor<16xf32>\n}"
    )
    assert useful(kernel_of(body)) == (30, "exact")


def test_programs_that_skip_a_branch_do_not_need_it():
    """Program 0 squares, program 1 does not; both store ten lanes."""
    body = (
        "%pid = tt.get_program_id x : i32\n%c0 = arith.constant 0 : i32\n%first = arith.cmpi eq, %pid, %c0 : i32\n"
        "%y = scf.if %first -> (tensor<16xf32>) {\n%sq = arith.mulf %x, %x : tensor<16xf32>\n"
        "scf.yield %sq : tensor<16xf32>\n} else {\nscf.yield %x : tensor<16xf32>\n}"
    )
    kernel = kernel_of(body, grid=2)
    assert useful(kernel) == (10, "exact")
    assert kernel.executed_flops.value == 16


def test_a_branch_on_data_makes_useful_work_an_upper_bound():
    """Both sides are needed as far as anyone knows."""
    body = (
        "%c = arith.constant 0.0 : f32\n%v = tt.load %p : !tt.ptr<f32>\n%pos = arith.cmpf ogt, %v, %c : f32\n"
        "%y = scf.if %pos -> (tensor<16xf32>) {\n%sq = arith.mulf %x, %x : tensor<16xf32>\n"
        "scf.yield %sq : tensor<16xf32>\n} else {\nscf.yield %x : tensor<16xf32>\n}"
    )
    kernel = kernel_of(body)
    assert useful(kernel) == (10, "upper")
    assert (kernel.executed_flops.value, kernel.executed_flops.exactness) == (16, "upper")


def test_inline_assembly_is_not_counted_and_says_so():
    """The FLOPs next to it are a lower bound."""
    body = (
        '%y = tt.elementwise_inline_asm "add.f32 $0, $1, $1;" {constraints = "=f,f", packed_element = 1 : i32, '
        "pure = true} %x : tensor<16xf32> -> tensor<16xf32>"
    )
    kernel = kernel_of(body)
    assert kernel.executed_flops.exactness == "lower"
    assert "inline assembly" in kernel.notes[0].text
