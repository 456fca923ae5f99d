"""Parameters of a compiled entry, read from its PTX."""

from __future__ import annotations

import pytest

pytestmark = [pytest.mark.torch, pytest.mark.triton]
pytest.importorskip("torch")
pytest.importorskip("triton")

from kopt_kb.kernels.record.triton_launches import entry_parameters  # noqa: E402

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
