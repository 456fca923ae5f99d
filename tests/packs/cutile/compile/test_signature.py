"""Constraints are those that cuTile's own launch derives from the same arrays."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
import torch

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.compile.device import DeviceFacts
from kopt_kb.launch.record.trace import CallTrace

ct: Any = pytest.importorskip("cuda.tile", reason="cuda-tile is not installed")
from kopt_kb.packs.cutile.compile.signature import Signature, signature_of  # noqa: E402


def _of(*arguments: Any, kernel: Any = None) -> Signature:
    return signature_of(kernel, arguments)


def _array(*shape: int, dtype: torch.dtype = torch.float16) -> Any:
    return CallTrace(DeviceFacts("one", "sm_90")).tensor("x", shape, dtype)


@ct.kernel
def scaled(x, factor: float, size: ct.Constant[int]):  # type: ignore[no-untyped-def]
    """Do nothing."""


def test_an_array_a_number_and_a_constant() -> None:
    """Rows of 1000: the stride divides by 16 bytes, the extent not by 16; numbers are int32 and fp32."""
    made = _of(_array(64, 1000), 2.0, 128, kernel=scaled)
    array, factor, size = made.constraints
    assert (array.stride_constant, array.stride_divisible_by) == ((None, 1), (8, 1))
    assert (array.shape_divisible_by, array.base_addr_divisible_by) == ((16, 1), 16)
    assert not array.may_alias_internally
    assert (factor.dtype, size.value) == (ct.float32, 128)
    assert [(one.name, one.type) for one in made.passed] == [("x", "array"), ("factor", "fp32")]
    assert made.constants == {"size": 128}
    assert "x.shape[0] is divisible by 16" in made.assumed()


def test_an_extent_of_one_is_a_constant() -> None:
    """As the launch infers it; that needs the second calling convention."""
    made = _of(_array(1, 64), 1.0, 16, kernel=scaled)
    assert made.constraints[0].shape_constant == (1, None)
    assert made.tuples


def test_a_view_that_begins_in_between_and_one_that_overlaps() -> None:
    """An offset of one element is not aligned; an expansion has elements at the same place."""
    whole = _array(64, 64)
    assert (
        _of(whole.as_strided((64, 32), (64, 1), 1), 1.0, 16, kernel=scaled).constraints[0].base_addr_divisible_by == 1
    )
    assert _of(whole.as_strided((64, 64), (0, 1), 0), 1.0, 16, kernel=scaled).constraints[0].may_alias_internally


@ct.kernel
def fixed(x: Annotated[ct.Array, ct.ArrayAnnotation(static_shape_dims=(0, -1))]):  # type: ignore[no-untyped-def]
    """Do nothing."""


def test_axes_that_are_constants() -> None:
    """Each of them once: of one dimension the first is the last."""
    assert _of(_array(6, 8, 10), kernel=fixed).constraints[0].shape_constant == (6, None, 10)
    with pytest.raises(BadInput, match="annotated with the axes"):
        _of(_array(6), kernel=fixed)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((1,), "gives 1 arguments, the kernel takes 3"),
        (([], 1.0, 1), "list of arrays"),
        ((torch.zeros(4), 1.0, 1), "lies on the cpu"),
        ((1 << 40, 1.0, 1), "does not fit 32 bits"),
    ],
)
def test_what_cannot_be_passed(arguments: tuple[Any, ...], words: str) -> None:
    """In one line that says what to do."""
    with pytest.raises(BadInput, match=words):
        _of(*arguments, kernel=scaled)
