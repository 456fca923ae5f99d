"""Early returns: forward branches between blocks, values merged program by program."""

from __future__ import annotations

import pytest

from kopt_kb.analysis.ir.triton import IrError, count_ir

HEAD = "tt.func public @k(%v: f32, %a: i32, %b: i32, %p: !tt.ptr<i32>) {\n%pid = tt.get_program_id x : i32\n"
ADD = "%{name} = arith.addf %v, %v : f32\n"


def counted(body, grid=8, mode="shape", **args):
    return count_ir(HEAD + body + "}\n", grid, args, mode=mode).kernels[0]


def test_blocks_printed_before_their_predecessors_are_reached():
    """Two checks share one return block that is printed between them: programs 2 to 4 of 8 go on."""
    body = (
        "%low = arith.cmpi slt, %pid, %a : i32\ncf.cond_br %low, ^bb1, ^bb2\n^bb1:\ntt.return\n^bb2:\n"
        "%high = arith.cmpi sge, %pid, %b : i32\ncf.cond_br %high, ^bb1, ^bb3\n^bb3:\n"
        + ADD.format(name="x") + "tt.return\n"
    )  # fmt: skip
    for mode in ("shape", "exact"):
        assert counted(body, mode=mode, a=2, b=5).executed_flops.value == 3


def test_block_parameters_merge_by_program():
    """Programs below a loop twice, the others five times, in the block where both meet."""
    body = (
        "%c0 = arith.constant 0 : i32\n%c1 = arith.constant 1 : i32\n%c2 = arith.constant 2 : i32\n"
        "%c5 = arith.constant 5 : i32\n%low = arith.cmpi slt, %pid, %a : i32\n"
        "cf.cond_br %low, ^bb1(%c2 : i32), ^bb1(%c5 : i32)\n^bb1(%n: i32):\n"
        "scf.for %i = %c0 to %n step %c1  : i32 {\n" + ADD.format(name="x") + "}\ntt.return\n"
    )  # fmt: skip
    assert counted(body, a=3).executed_flops.value == 3 * 2 + 5 * 5


def test_a_branch_on_data_taints_what_follows():
    """The block behind the check may not run; what ran before stays exact."""
    body = (
        "%s = tt.load %p : !tt.ptr<i32>\n%low = arith.cmpi slt, %s, %a : i32\n" + ADD.format(name="x")
        + "cf.cond_br %low, ^bb1, ^bb2\n^bb1:\ntt.return\n^bb2:\n" + ADD.format(name="y") + "tt.return\n"
    )  # fmt: skip
    kernel = counted(body, a=3)
    assert (kernel.executed_flops.value, kernel.executed_flops.exactness) == (16, "upper")
    assert (kernel.read.requested.value, kernel.read.requested.exactness) == (32, "exact")


def test_called_functions_may_return_early():
    """Programs below a get 2, the others 5 from a function with two returns; a loop runs so often."""
    text = (
        HEAD + "%c0 = arith.constant 0 : i32\n%c1 = arith.constant 1 : i32\n"
        "%n = tt.call @f(%pid, %a) : (i32, i32) -> i32\n"
        "scf.for %i = %c0 to %n step %c1  : i32 {\n" + ADD.format(name="x") + "}\ntt.return\n}\n"
        "tt.func private @f(%q: i32, %t: i32) -> i32 {\n%low = arith.cmpi slt, %q, %t : i32\n"
        "cf.cond_br %low, ^bb1, ^bb2\n^bb1:\n%c2 = arith.constant 2 : i32\ntt.return %c2 : i32\n^bb2:\n"
        "%c5 = arith.constant 5 : i32\ntt.return %c5 : i32\n}\n"
    )  # fmt: skip
    for mode in ("shape", "exact"):
        assert count_ir(text, 8, {"a": 3}, mode=mode).kernels[0].executed_flops.value == 3 * 2 + 5 * 5


def test_backward_branches_are_refused():
    """A loop without scf has no trip count to read."""
    with pytest.raises(IrError, match="a loop made of branches") as caught:
        counted(
            "cf.br ^bb1\n^bb1:\n%c = arith.cmpi slt, %pid, %a : i32\ncf.cond_br %c, ^bb1, ^bb2\n^bb2:\ntt.return\n", a=1
        )
    assert caught.value.where == "<ir>:6"
