from __future__ import annotations

import re

from kopt_kb.packs.step_ranking.operands import Operand, Shaped, lower, moved
from kopt_kb.packs.step_ranking.recorded import OpCall


def test_an_axis_of_stride_0_is_stored_once() -> None:
    one = Operand((16, 1024, 8), "bf16", 2, (0, 8, 1))
    assert (one.elements, one.bytes, one.stored) == (131072, 262144, 16384)


def test_tensors_have_extents_and_types() -> None:
    call = OpCall(
        "aten::add", ((2, 3), (), (4,), ("x",)), ("float", "Scalar", "strange", "float"), ((3, 1),), ("", "[1, -2]")
    )
    shaped = Shaped(call, ("k",))
    assert shaped.operands == (Operand((2, 3), "fp32", 4, (3, 1)), None, None, None)
    assert (shaped.numbers(1), shaped.said(9), shaped.at(9)) == ((1, -2), "", None)
    assert shaped.runs(re.compile("k")) and not shaped.lists


def test_lists_take_their_type_from_the_kernel() -> None:
    call = OpCall("aten::cat", (((2, 3), (2, 5)), ()), ("TensorList", "Scalar"))
    kernels = ("CatArrayBatchedCopy<at::native::OpaqueType<2u>, unsigned int>",)
    ((first, second),) = Shaped(call, kernels).lists
    assert (first.bytes, second.bytes) == (12, 20)
    ((first, _),) = Shaped(call, ("multi_tensor_apply_kernel<Adam<c10::BFloat16>>",)).lists
    assert (first.dtype, first.width) == ("bf16", 2)
    assert Shaped(call, ("unknown",)).lists == ()


def test_work_of_bytes_can_be_a_lower_bound() -> None:
    work = moved([Operand((4,), "fp32", 4), None], 8)
    assert (work.compulsory_bytes("dram", "read"), work.compulsory_bytes("dram", "write")) == (16, 8)
    assert (work.exactness(), lower(work).exactness()) == ("exact", "lower")


def test_extents_that_no_tensor_has_are_none() -> None:
    huge = 1 << 47
    call = OpCall("aten::mm", ((huge, huge), (8, 8)), ("float", "float"), (), ("[" + "9" * 4000 + "]",))
    shaped = Shaped(call, ("k",))
    assert (shaped.operands[0], shaped.numbers(0)) == (None, ())
