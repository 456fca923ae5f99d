"""Parameters of a compiled entry, read from its PTX; what stands for a tensor; who tunes."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = [pytest.mark.torch, pytest.mark.triton]
torch = pytest.importorskip("torch")
pytest.importorskip("triton")

from triton.runtime.autotuner import Autotuner  # noqa: E402

from kopt_kb.errors import BadInput  # noqa: E402
from kopt_kb.kernels.record.triton_launches import _tensor, _tuners, entry_parameters  # noqa: E402

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
    assert _tensor(base) is base
    assert _tensor(_Wrapper(base, 0)) is base
    for wrong in (_Wrapper(base, 4), object()):
        with pytest.raises(BadInput, match="where it takes a tensor"):
            _tensor(wrong)


def test_tuners_of_other_libraries() -> None:
    """A class below Triton's with a `run` of its own is found; one without inherits."""

    class Plain(Autotuner):
        pass

    class Own(Plain):
        def run(self) -> None:
            """Tune in a way of its own."""

    found = _tuners(Autotuner)
    assert Own in found
    assert Plain not in found
