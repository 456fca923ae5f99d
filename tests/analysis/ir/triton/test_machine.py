"""Straight-line evaluation: sources, views, data-dependent values, batches of programs."""

from __future__ import annotations

import pytest

from kopt_kb.analysis.ir.triton import IrError, TensorArg, count_ir

ADD = "%y = arith.addf %v, %v : f32\n"


def trips(body, grid, **args):
    """FLOPs of a kernel that loops `%n` times over one addition."""
    text = (
        "tt.func public @k(%v: f32, %a: i32, %p: !tt.ptr<i32>) {\n%c0 = arith.constant 0 : i32\n"
        f"%c1 = arith.constant 1 : i32\n{body}scf.for %i = %c0 to %n step %c1  : i32 {{\n{ADD}}}\ntt.return\n}}\n"
    )
    return count_ir(text, grid, args).kernels[0].executed_flops


def test_program_ids_run_fastest_along_x():
    """Sum of x + 10 y + 100 z over a 2 x 3 x 2 grid."""
    body = (
        "%x = tt.get_program_id x : i32\n%y0 = tt.get_program_id y : i32\n%z = tt.get_program_id z : i32\n"
        "%t = arith.constant 10 : i32\n%h = arith.constant 100 : i32\n%yt = arith.muli %y0, %t : i32\n"
        "%zh = arith.muli %z, %h : i32\n%xy = arith.addi %x, %yt : i32\n%n = arith.addi %xy, %zh : i32\n"
    )
    expected = sum(x + 10 * y + 100 * z for x in range(2) for y in range(3) for z in range(2))
    assert trips(body, (2, 3, 2)).value == expected


def test_the_number_of_programs_is_known_on_each_axis():
    """Four along y."""
    assert trips("%n = tt.get_num_programs y : i32\n", (3, 4)).value == 12 * 4


def test_small_integer_tensors_may_steer_control_even_in_shape_mode():
    """The number of even lanes among 0 to 7 below a."""
    body = (
        "%r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>\n%as = tt.splat %a : i32 -> tensor<8xi32>\n"
        "%lt = arith.cmpi slt, %r, %as : tensor<8xi32>\n%w = arith.extui %lt : tensor<8xi1> to tensor<8xi32>\n"
        '%n = "tt.reduce"(%w) <{axis = 0 : i32}> ({\n^bb0(%p0: i32, %q0: i32):\n%t = arith.addi %p0, %q0 : i32\n'
        "tt.reduce.return %t : i32\n}) : (tensor<8xi32>) -> i32\n"
    )
    assert trips(body, 2, a=5).value == 2 * 5


def test_an_operation_nobody_evaluates_makes_a_bound_not_a_guess():
    """ctlz is not evaluated: the loop's trips are unknown."""
    found = trips("%n = math.ctlz %a : i32\n", 2, a=5)
    assert (found.value, found.exactness) == (0, "lower")


def test_many_programs_are_counted_in_batches(monkeypatch, ir_text):
    """Batches of three programs give what one batch gives."""
    whole = count_ir(ir_text("flash"), (2, 3), {"seq": 200}, mode="exact")
    monkeypatch.setattr("kopt_kb.analysis.ir.triton.count._BATCH_LANES", 3 * 128 * 64)
    assert count_ir(ir_text("flash"), (2, 3), {"seq": 200}, mode="exact") == whole
    shape = count_ir(ir_text("flash"), (2, 3), {"seq": 200})
    monkeypatch.setattr("kopt_kb.analysis.ir.triton.count._BATCH_PROGRAMS", 2)
    assert count_ir(ir_text("flash"), (2, 3), {"seq": 200}) == shape


def test_a_host_descriptor_nobody_described_leaves_its_bytes_an_upper_bound(ir_text):
    """Without the tensors, tiles may be clipped anywhere."""
    kernel = count_ir(ir_text("gemm_host_desc"), 4, {"n": 136, "k": 72}, mode="exact").kernels[0]
    assert kernel.read.requested.exactness == "upper"
    assert kernel.executed_flops.exactness == "exact"


def test_bounds_are_checked_for_the_tensor_a_pointer_comes_from(ir_text):
    """A store below its tensor's first byte is no surprise if the offset is negative."""
    kernel = count_ir(ir_text("vadd"), 2, {"n": 2048, "out_ptr": TensorArg((1024,), "fp32")}, mode="exact").kernels[0]
    assert [note.text for note in kernel.notes] == ["tt.store reaches outside its tensor"]


def test_required_scalars_must_be_given():
    """The loop bound is a parameter."""
    with pytest.raises(IrError, match=r"argument 1 \(%a\) is needed"):
        trips("%n = arith.addi %a, %c1 : i32\n", 1)
