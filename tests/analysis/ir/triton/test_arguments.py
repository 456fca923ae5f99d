"""Binding arguments to parameters and tensors to addresses."""

from __future__ import annotations

import numpy as np
import pytest

from kopt_kb.analysis.ir.triton import IrError, TensorArg, parse_ttir
from kopt_kb.analysis.ir.triton.arguments import bind


@pytest.fixture
def vadd(ir_text):
    """The vadd module and kernel."""
    module = parse_ttir(ir_text("vadd"), file="vadd.ttir")
    return module, module.kernel()


def test_positions_and_names_bind_alike(vadd):
    """Parameter 3 is n."""
    assert bind(*vadd, {3: 7}).scalars == bind(*vadd, {"n": 7}).scalars == bind(*vadd, {"%n": 7}).scalars == {3: 7}


def test_tensors_without_an_address_do_not_overlap(vadd):
    """Each described tensor gets its own aligned range; so does a pointer nobody described."""
    binding = bind(*vadd, {0: TensorArg((1 << 20,), "fp32"), 1: TensorArg((3,), "fp32", base=64)})
    assert binding.bases[1] == 64
    assert binding.bases[0] % 4096 == 0
    assert binding.bases[2] >= binding.bases[0] + (4 << 20)


@pytest.mark.parametrize(
    ("args", "what"),
    [
        ({9: 1}, "no parameter 9"),
        ({"nope": 1}, "no parameter 'nope'"),
        ({"x_ptr": 5}, "parameter %x_ptr is pointer"),
        ({"n": TensorArg((1,), "fp32")}, "parameter %n is scalar"),
        ({0: TensorArg((1,), "fp99")}, "dtype or strides"),
        ({0: TensorArg((1, 2), "fp32", strides=(1,))}, "dtype or strides"),
    ],
)
def test_arguments_that_do_not_fit_are_named(vadd, args, what):
    """The error stands at the kernel's line and says what would fit."""
    with pytest.raises(IrError, match=what) as caught:
        bind(*vadd, args)
    assert caught.value.where == "vadd.ttir:2"
    assert caught.value.fix


@pytest.mark.parametrize(
    "tensor",
    [
        TensorArg((4,), "int32", data=np.zeros(3, int)),
        TensorArg((4,), "fp32", data=np.zeros(4)),
        TensorArg((4,), "int32", strides=(2,), data=np.zeros(4, int)),
    ],
)
def test_contents_must_fit_their_tensor(vadd, tensor):
    """Integers, as many as the tensor has, contiguous."""
    with pytest.raises(IrError, match="data must be integers of shape"):
        bind(*vadd, {0: tensor})


def test_a_tensor_spans_to_its_last_element():
    """A 3 x 4 fp16 tensor with rows 10 apart: 24 elements from first to last, 12 of its own."""
    tensor = TensorArg((3, 4), "fp16", strides=(10, 1))
    assert tensor.span_bytes() == (2 * 10 + 3 + 1) * 2
    assert tensor.elements_bytes() == 24
    assert TensorArg((3, 4), "bf16").element_strides() == (4, 1)
    assert TensorArg((0, 4), "fp32").span_bytes() == 0


def test_a_broadcast_dimension_adds_no_bytes():
    """Stride 0 repeats the same elements."""
    assert TensorArg((8, 4), "fp32", strides=(0, 1)).elements_bytes() == 16


def test_descriptor_fields_are_filled_unless_given(ir_text):
    """Extents then strides follow a host descriptor; a number given for one of them wins."""
    module = parse_ttir(ir_text("gemm_host_desc"))
    binding = bind(module, module.kernel(), {"a_desc": TensorArg((1000, 520), "fp16"), 1: 999})
    assert [binding.scalars[i] for i in range(1, 5)] == [999, 520, 520, 1]


def test_a_descriptor_that_became_a_pointer_is_filled_twice(ir_text):
    """Without tensor memory: extents, strides, a padding flag, extents and strides."""
    module = parse_ttir(ir_text("gemm_host_desc_sm80"))
    binding = bind(module, module.kernel(), {"a_desc": TensorArg((1000, 520), "fp16")})
    assert [binding.scalars[i] for i in range(1, 10)] == [1000, 520, 520, 1, 0, 1000, 520, 520, 1]
