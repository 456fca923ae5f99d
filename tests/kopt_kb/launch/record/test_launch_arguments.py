"""Parameters of a compiled entry, read from its PTX; what stands for a tensor; tuples taken apart."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = [pytest.mark.torch, pytest.mark.triton]
torch = pytest.importorskip("torch")
pytest.importorskip("triton")

from kopt_kb.base.errors import BadInput  # noqa: E402
from kopt_kb.kernels.launch_case import TensorSpec  # noqa: E402
from kopt_kb.launch.record.launch_arguments import entry_parameters, given_of, run_time, tensor_of  # noqa: E402

PTX = """
.visible .entry add(
	.param .u64 .ptr .global .align 1 add_param_0,
	.param .u32 add_param_1,
	.param .align 64 .b8 add_param_2[128]
)
.reqntid 128
{ ld.param.u64 %rd1, [add_param_0]; }
.visible .entry none()
{ }
"""


@pytest.mark.parametrize(("entry", "count"), [("add", 3), ("none", 0), ("other", 0)])
def test_parameters_of_an_entry(entry: str, count: int) -> None:
    """Declarations are counted, loads of parameters are not."""
    assert entry_parameters(PTX, entry) == count


class _Wrapper:
    def __init__(self, base: Any, offset: int) -> None:
        self._base, self._offset = base, offset

    def data_ptr(self) -> int:
        """Return the address of the first element."""
        return int(self._base.data_ptr()) + self._offset


def test_wrappers_are_their_base() -> None:
    """One that begins elsewhere would be another view, and anything else is no tensor: both are refused by name."""
    base = torch.empty(4)
    assert tensor_of(base) is base
    assert tensor_of(_Wrapper(base, 0)) is base
    for wrong in (_Wrapper(base, 4), object()):
        with pytest.raises(BadInput, match="where it takes a tensor"):
            tensor_of(wrong)


def test_members_of_a_tuple_come_one_by_one() -> None:
    """Those that are constant do not come at all."""
    signature = {"x": "*fp32", "many": ("i32", "constexpr", ("*fp32",)), "BLOCK": "constexpr"}
    bound = {"x": "a", "many": (3, 1, ("b",)), "BLOCK": 64}
    found = [("x", "*fp32", "a"), ("many.0", "i32", 3), ("many.2.0", "*fp32", "b")]
    assert list(run_time(signature, bound)) == found


def test_what_was_given_is_kept_as_data() -> None:
    """Layouts, numbers, words for what JSON lacks; nothing for what is none of these."""
    assert given_of(torch.empty(4, 2).t()) == TensorSpec((2, 4), "torch.float32", (1, 2))
    assert [given_of(one) for one in (3, float("inf"), None, object())] == [3, "inf", None, None]
