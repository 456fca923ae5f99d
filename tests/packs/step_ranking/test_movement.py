from __future__ import annotations

import pytest

from kopt_kb.packs.step_ranking.families import category_of_op, is_known, judged
from kopt_kb.packs.step_ranking.operands import Shaped
from kopt_kb.packs.step_ranking.recorded import OpCall
from tests.packs.step_ranking.traces import ADD, BF16, FP32, INT64

REDUCE = "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>"


def _judged(name, dims, types, *, kernel=ADD, concrete=(), strides=()):
    category, work = judged(Shaped(OpCall(name, dims, types, strides, concrete), (kernel,)))
    sides = None if work is None else tuple(work.compulsory_bytes("dram", one) for one in ("read", "write"))
    return category, sides


@pytest.mark.parametrize(
    ("name", "dims", "types", "sides"),
    [
        ("aten::add", ((8, 4), (8, 4), ()), (FP32, FP32, "Scalar"), (256, 128)),
        ("aten::mul", ((8, 1), (1, 4)), (FP32, BF16), (32 + 8, 128)),
        ("aten::add_", ((8, 4), (4,)), (BF16, FP32), (64 + 16, 64)),
        ("aten::mul", ((8, 4), (), (8, 4)), (FP32, "double", FP32), (128 + 8, 128)),
        ("aten::eq", ((8, 4), (8, 4)), (INT64, INT64), (512, 32)),
        ("aten::fill_", ((8, 4), ()), (FP32, "Scalar"), (0, 128)),
        ("aten::strange", ((8, 4),), (BF16,), (64, 64)),
    ],
    ids=["sum", "broadcast", "in place", "result given", "comparison", "fill", "any other"],
)
def test_elementwise_work_reads_its_inputs_and_writes_their_common_extents(name, dims, types, sides) -> None:
    assert _judged(name, dims, types) == ("elementwise", sides)


def test_elementwise_work_that_fits_nothing_has_no_bytes() -> None:
    assert _judged("aten::add", ((8, 4), (3, 4)), (FP32, FP32)) == ("elementwise", None)
    assert _judged("aten::add", ((), ()), (FP32, FP32)) == ("elementwise", None)
    assert _judged("aten::fill_", ((), ()), (FP32, "Scalar")) == ("elementwise", None)


def test_lists_are_read_and_written() -> None:
    lists = (((8, 4), (2,)), ((8, 4), (2,)))
    kernel = "multi_tensor_apply_kernel<TensorListMetadata<2>, BinaryOpListAlphaFunctor<float>>"
    types = ("TensorList", "TensorList")
    assert _judged("aten::_foreach_add_", lists, types, kernel=kernel) == ("elementwise", (2 * 136, 136))
    assert _judged("aten::_foreach_add", lists, types, kernel=kernel) == ("elementwise", (2 * 136, 136))
    four = (*lists, *lists)
    assert _judged("aten::_fused_adam_", four, types * 2, kernel=kernel) == ("elementwise", (4 * 136, 3 * 136))
    assert _judged("aten::_fused_adam_", lists, types, kernel=kernel) == ("elementwise", None)


@pytest.mark.parametrize(
    ("name", "dims", "types", "concrete", "category", "sides"),
    [
        ("aten::_softmax", ((8, 4), (), ()), (BF16, "Scalar", "Scalar"), (), "norms", (64, 64)),
        ("aten::native_layer_norm_backward", ((8, 4), (8, 4)), (BF16, BF16), (), "norms", (128, 64)),
        ("aiter::add_rmsnorm", ((8, 4),) * 4 + ((4,),), (BF16,) * 5, (), "norms", (64 + 64 + 8, 128)),
        ("_C::silu_and_mul", ((8, 4), (8, 8)), (BF16, BF16), (), "elementwise", (128, 64)),
        ("aten::max_pool2d_with_indices", ((8, 4),), (BF16,), (), "elementwise", (64, 0)),
        ("aten::copy_", ((8, 4), (8, 4)), (BF16, FP32), (), "copies", (128, 64)),
        ("aten::embedding", ((100, 4), (3,)), (BF16, INT64), (), "copies", (24 + 24, 24)),
        ("aten::gather", ((8, 4), (), (2, 4)), (BF16, "Scalar", INT64), (), "copies", (64 + 16, 16)),
        ("aten::index_select", ((8, 4), (), (2,)), (BF16, "Scalar", INT64), ("", "0"), "copies", (16 + 16, 16)),
        ("aten::embedding_dense_backward", ((3, 4), (3,)), (BF16, INT64), ("", "", "100"), "copies", (48, 800)),
    ],
)
def test_operators_that_move_bytes(name, dims, types, concrete, category, sides) -> None:
    assert _judged(name, dims, types, concrete=concrete, kernel="k") == (category, sides)
    assert category_of_op(name) == category


@pytest.mark.parametrize(
    ("name", "dims", "types"),
    [
        ("aten::embedding", ((100,), (3,)), (BF16, INT64)),
        ("aten::gather", ((8, 4), (), ()), (BF16, "Scalar", "Scalar")),
        ("aten::index_select", ((8, 4), (), (2,)), (BF16, "Scalar", INT64)),
        ("aten::embedding_dense_backward", ((3, 4), (3,)), (BF16, INT64)),
        ("aten::_softmax", ((), ()), ("strange", "Scalar")),
        ("aten::copy_", ((), ()), ("strange", "Scalar")),
        ("aten::cat", ((), ()), ("TensorList", "Scalar")),
        ("aten::max_pool2d_with_indices", ((),), ("strange",)),
    ],
)
def test_what_the_shapes_do_not_say_is_not_guessed(name, dims, types) -> None:
    assert _judged(name, dims, types, kernel="k")[1] is None


def test_a_reduction_reads_its_input_at_least() -> None:
    shaped = Shaped(OpCall("aten::sum", ((8, 4),), (FP32,)), (REDUCE,))
    category, work = judged(shaped)
    assert (category, work.exactness(), work.compulsory_bytes()) == ("norms", "lower", 128)
    assert not is_known(Shaped(OpCall("fbgemm::lookup", ((8, 4),), (FP32,)), (REDUCE,)))


def test_a_generated_kernel_reads_no_more_of_a_tensor_than_it_has_places() -> None:
    dims, types = ((1000, 4), (8, 4), ()), (BF16, BF16, "Scalar")
    name = "triton_poi_fused_add_0"
    assert _judged(name, dims, types, kernel=name, concrete=("", "", "32")) == ("elementwise", (128, 0))
    assert _judged(name, dims, types, kernel=name) == ("elementwise", (8064, 0))
    assert _judged(name, (), (), kernel=name) == ("elementwise", None)
    assert _judged("triton_tem_fused_mm_0", dims, types, kernel="triton_tem_fused_mm_0") == ("products", None)


@pytest.mark.parametrize("word", ["²", "9" * 400, "0"], ids=["superscript", "beyond any extent", "zero"])
def test_a_generated_kernel_with_a_strange_size_keeps_its_tensors(word) -> None:
    name = "triton_poi_fused_add_0"
    assert _judged(name, ((8, 4), ()), (BF16, "Scalar"), kernel=name, concrete=("", word)) == ("elementwise", (64, 0))
