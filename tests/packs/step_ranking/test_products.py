from __future__ import annotations

import pytest

from kopt_kb.packs.step_ranking.families import judged
from kopt_kb.packs.step_ranking.operands import Shaped
from kopt_kb.packs.step_ranking.products import PRODUCTS, mode_of, template_product
from kopt_kb.packs.step_ranking.recorded import OpCall
from tests.packs.step_ranking.traces import BF16, FP32


def _work(name, *dims, types=None, concrete=(), kernels=("k",)):
    shaped = Shaped(OpCall(name, dims, types or (BF16,) * len(dims), (), concrete), kernels)
    return PRODUCTS[name](shaped)


@pytest.mark.parametrize(
    ("name", "dims", "flops", "moved"),
    [
        ("aten::mm", ((4, 8), (8, 2)), 128, 2 * (32 + 16 + 8)),
        ("aten::addmm", ((2,), (4, 8), (8, 2)), 128, 2 * (32 + 16 + 8)),
        ("aten::bmm", ((3, 4, 8), (3, 8, 2)), 384, 2 * 3 * (32 + 16 + 8)),
        ("aten::linear", ((5, 4, 8), (2, 8)), 640, 2 * (160 + 16 + 40)),
        ("aten::mv", ((4, 8), (8,)), 64, 2 * (32 + 8 + 4)),
    ],
)
def test_a_product_counts_by_its_closed_form(name, dims, flops, moved) -> None:
    work = _work(name, *dims)
    assert work.flops_by_engine() == {("bf16", "matrix"): flops}
    assert work.compulsory_bytes() == moved


@pytest.mark.parametrize(
    ("kernel", "engine"),
    [
        ("ampere_sgemm_128x64_tn", ("fp32", "vector")),
        ("cutlass_80_tensorop_s1688gemm_64x64", ("tf32", "matrix")),
        ("Cijk_Ailk_Bljk_SB_MT64x64x16_MI32x32x2x1", ("fp32", "matrix")),
    ],
    ids=["sgemm", "tensor cores", "mfma"],
)
def test_names_of_kernels_say_what_multiplies_fp32(kernel, engine) -> None:
    work = _work("aten::mm", (4, 8), (8, 2), types=(FP32, FP32), kernels=(kernel,))
    assert list(work.flops_by_engine()) == [engine]
    assert mode_of(Shaped(OpCall("aten::mm"), (kernel,)), "bf16") == {}


def test_shapes_that_do_not_fit_say_nothing() -> None:
    assert _work("aten::mm", (4, 8), (9, 2)) is None
    assert _work("aten::mm", (4, 8), (8, 2), types=("strange", BF16)) is None
    assert _work("aten::linear", (8,), (2, 8, 1)) is None
    assert _work("aten::mv", (4, 8), (8, 1)) is None
    call = OpCall("aten::_scaled_mm", ((4, 0), (0, 2)), ("c10::Float8_e4m3fn",) * 2)
    assert judged(Shaped(call, ("k",))) == ("products", None)


@pytest.mark.parametrize(
    ("name", "concrete"),
    [
        ("aten::cudnn_convolution", ("", "", "[1, 1]", "[2, 2]", "[1, 1]", "1")),
        ("aten::miopen_convolution", ("", "", "", "[1]", "[2]", "[1]", "1")),
        ("aten::convolution", ("", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1")),
    ],
)
def test_a_convolution_counts_its_result(name, concrete) -> None:
    work = _work(name, (2, 8, 16, 16), (4, 8, 3, 3), (4,), concrete=concrete)
    results = 2 * 4 * 8 * 8
    assert work.flops_by_engine() == {("bf16", "matrix"): 2 * results * 8 * 9}
    assert work.compulsory_bytes("dram", "write") == 2 * results


def test_a_convolution_without_its_values_says_nothing() -> None:
    assert _work("aten::cudnn_convolution", (2, 8, 16, 16), (4, 8, 3, 3)) is None
    assert _work("aten::convolution", (2, 8, 16, 16), (4, 8, 3, 3)) is None
    tiny = ("", "", "[0, 0]", "[1, 1]", "[1, 1]")
    assert _work("aten::cudnn_convolution", (2, 8, 2, 2), (4, 8, 3, 3), concrete=tiny) is None
    strange = ("strange", BF16)
    assert _work("aten::cudnn_convolution", (2, 8, 4, 4), (4, 8, 3, 3), types=strange, concrete=tiny) is None


def test_gradients_of_a_convolution_count_as_the_mask_asks() -> None:
    sizes = ((2, 4, 8, 8), (2, 8, 16, 16), (4, 8, 3, 3))
    one = _work("aten::convolution_backward", *sizes, concrete=("",) * 10 + ("[False, True, True]",))
    both = _work("aten::convolution_backward", *sizes, concrete=("",) * 10 + ("[True, True, False]",))
    assert 2 * one.flops[0].useful.value == both.flops[0].useful.value
    assert _work("aten::convolution_backward", *sizes, concrete=("",) * 7 + ("True",)) is None


def test_a_generated_product_is_found_by_its_extents() -> None:
    call = OpCall("triton_tem_fused_mm_0", ((4, 8), (8, 2), (4, 2)), (BF16,) * 3)
    assert template_product(Shaped(call)).flops[0].useful.value == 128
    assert template_product(Shaped(OpCall("triton_tem_x", ((4, 8), (8, 2)), (BF16,) * 2))) is None


@pytest.mark.parametrize(
    "said",
    [("[1]", "[0]", "[1]"), ("[1]", "[1]", "[0]"), ("[-1]", "[1]", "[1]"), ("[" + "9" * 15 + "]", "[1]", "[1]")],
    ids=["stride 0", "dilation 0", "negative padding", "endless padding"],
)
def test_convolutions_that_no_library_runs_are_not_counted(said) -> None:
    dims = ((1, 8, 16, 16), (8, 8, 3, 3), (), (), ())
    types = (FP32, FP32, "", "", "")
    assert _work("aten::cudnn_convolution", *dims, types=types, concrete=("", "", *said)) is None
