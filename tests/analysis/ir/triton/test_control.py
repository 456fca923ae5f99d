"""Loops, branches and calls by execution weights."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kopt_kb.analysis.ir.triton import IrError, TensorArg, count_ir

ADD = "%y = arith.addf %v, %v : f32\n"
HEAD = "tt.func public @k(%v: f32, %a: i32, %b: i32, %s: i32) {\n%pid = tt.get_program_id x : i32\n"
END = "tt.return\n}\n"


def flops(body, grid=4, mode="shape", **args):
    return count_ir(HEAD + body + END, grid, args, mode=mode).kernels[0].executed_flops.value


@settings(max_examples=40, deadline=None)
@given(a=st.integers(-20, 20), b=st.integers(-20, 40), s=st.integers(1, 9))
def test_trips_are_those_of_range(a, b, s):
    """One addition a trip in each of four programs, in both modes."""
    body = f"scf.for %i = %a to %b step %s  : i32 {{\n{ADD}}}\n"
    for mode in ("shape", "exact"):
        assert flops(body, mode=mode, a=a, b=b, s=s) == 4 * len(range(a, b, s))


def test_a_loop_that_feeds_another_loops_bounds_is_walked():
    """Triangular nest: program p runs its inner loop i + p times for i below 5."""
    body = (
        "%c0 = arith.constant 0 : i32\n%c1 = arith.constant 1 : i32\n"
        "scf.for %i = %c0 to %a step %c1  : i32 {\n%m = arith.addi %i, %pid : i32\n"
        f"scf.for %j = %c0 to %m step %c1  : i32 {{\n{ADD}}}\n}}\n"
    )
    expected = sum(i + p for p in range(4) for i in range(5))
    assert flops(body, a=5) == flops(body, a=5, mode="exact") == expected


def test_a_carried_value_may_bound_a_later_loop():
    """Doubling three times from one: eight trips; with no first trip, one."""
    body = (
        "%c0 = arith.constant 0 : i32\n%c1 = arith.constant 1 : i32\n"
        "%n = scf.for %i = %c0 to %a step %c1 iter_args(%x = %c1) -> (i32)  : i32 {\n"
        "%d = arith.addi %x, %x : i32\nscf.yield %d : i32\n}\n"
        f"scf.for %j = %c0 to %n step %c1  : i32 {{\n{ADD}}}\n"
    )
    assert [flops(body, grid=1, a=trips) for trips in (3, 0)] == [8, 1]


def test_branches_weigh_programs():
    """Programs below a take one addition, the others two."""
    body = (
        f"%c = arith.cmpi slt, %pid, %a : i32\nscf.if %c {{\n{ADD}}} else {{\n{ADD}%z = arith.addf %v, %v : f32\n}}\n"
    )
    assert [flops(body, a=below) for below in (0, 1, 4)] == [8, 7, 4]


def test_a_branch_result_may_steer_a_loop():
    """Even programs loop three times, odd ones five."""
    body = (
        "%c0 = arith.constant 0 : i32\n%c1 = arith.constant 1 : i32\n%c2 = arith.constant 2 : i32\n"
        "%odd = arith.remsi %pid, %c2 : i32\n%even = arith.cmpi eq, %odd, %c0 : i32\n"
        "%n = scf.if %even -> (i32) {\n%c3 = arith.constant 3 : i32\nscf.yield %c3 : i32\n} else {\n"
        "%c5 = arith.constant 5 : i32\nscf.yield %c5 : i32\n}\n"
        f"scf.for %j = %c0 to %n step %c1  : i32 {{\n{ADD}}}\n"
    )
    assert flops(body) == 2 * 3 + 2 * 5


def test_a_while_loop_runs_its_condition_once_more_than_its_body():
    """Counting down from program id: the body runs p times, the condition p + 1 times."""
    body = (
        "%c0 = arith.constant 0 : i32\n%c1 = arith.constant 1 : i32\n"
        f"%e = scf.while (%x = %pid) : (i32) -> i32 {{\n{ADD}%go = arith.cmpi sgt, %x, %c0 : i32\n"
        "scf.condition(%go) %x : i32\n} do {\n^bb0(%x: i32):\n%z = arith.mulf %v, %v : f32\n"
        "%d = arith.subi %x, %c1 : i32\nscf.yield %d : i32\n}\n"
    )
    for mode in ("shape", "exact"):
        assert flops(body, mode=mode) == sum(2 * p + 1 for p in range(4))


def test_a_while_loop_that_never_ends_is_an_error(monkeypatch):
    """Its line is named."""
    monkeypatch.setattr("kopt_kb.analysis.ir.triton.control._MOST_STEPS", 50)
    body = (
        "%e = scf.while (%x = %pid) : (i32) -> i32 {\n%go = arith.cmpi sge, %x, %a : i32\n"
        "scf.condition(%go) %x : i32\n} do {\n^bb0(%x: i32):\nscf.yield %x : i32\n}\n"
    )
    with pytest.raises(IrError, match="still runs after 50 steps") as caught:
        flops(body, a=0)
    assert caught.value.where == "<ir>:3"


def test_regions_nobody_counts_are_refused():
    """A parallel loop is no form triton prints at this stage."""
    with pytest.raises(IrError, match=r"scf.execute_region is not supported"):
        flops('"scf.execute_region"() ({\n"scf.yield"() : () -> ()\n}) : () -> ()\n', mode="exact")


LOCK = (
    "tt.func public @k(%p: !tt.ptr<i32>, %q: !tt.ptr<f32>) {\n%c0 = arith.constant 0 : i32\n%c1 = arith.constant 1 : i32\n"
    "%v = tt.load %q : !tt.ptr<f32>\nscf.while : () -> () {\n"
    "%old = tt.atomic_cas acq_rel, gpu, %p, %c0, %c1 : (!tt.ptr<i32>, i32, i32) -> i32\n"
    "%held = arith.cmpi eq, %old, %c1 : i32\nscf.condition(%held)\n} do {\nINSIDEscf.yield\n}\n"
    "%y = arith.addf %v, %v : f32\ntt.store %q, %y : !tt.ptr<f32>\ntt.return\n}\n"
)
TENSORS = {"p": TensorArg((1,), "int32"), "q": TensorArg((1,), "fp32")}


def test_a_loop_that_waits_for_a_lock_leaves_all_but_its_requests_exact():
    """One addition a program; the lock's 4 bytes are touched however often it is asked for, which nobody knows."""
    found = count_ir(LOCK.replace("INSIDE", ""), 4, TENSORS, mode="exact").kernels[0]
    assert [(one.amount.value, one.amount.exactness) for one in (*found.executed, *found.useful)] == [(4, "exact")] * 2
    assert (found.read.compulsory.value, found.read.compulsory.exactness) == (8, "exact")
    assert (found.read.requested.value, found.read.requested.exactness) == (32, "lower")


@pytest.mark.parametrize("inside", [ADD, "tt.store %q, %v : !tt.ptr<f32>\n"])
def test_a_loop_that_computes_or_stores_while_it_waits_is_a_lower_bound(inside):
    """What it does a trip is missing, as often as it runs."""
    found = count_ir(LOCK.replace("INSIDE", inside), 4, TENSORS, mode="exact").kernels[0]
    assert {one.amount.exactness for one in found.useful} == {"lower"}
