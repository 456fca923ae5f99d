"""Fake CUDA tensors where torch was built for the CPU."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch")

from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402

from kopt_kb.base.errors import BadInput  # noqa: E402
from kopt_kb.launch.compile.device import DeviceFacts  # noqa: E402
from kopt_kb.launch.compile.torch_stand_ins import stand_ins  # noqa: E402
from kopt_kb.launch.record.known import KnownContents  # noqa: E402
from kopt_kb.launch.record.stand_ins import ADDRESSES, indexing  # noqa: E402


def test_indexing_is_a_view_and_values_are_nobodys() -> None:
    """A slice lies where it would lie; a value that is read is refused with the way out."""
    with stand_ins(DeviceFacts("H20", "sm_90")), FakeTensorMode(), indexing(KnownContents()):
        fake = torch.empty(4, 6, device="cuda", dtype=torch.float32)
        part = fake[1, 2:4]
        assert (tuple(part.shape), part.storage_offset(), part.data_ptr()) == ((2,), 8, ADDRESSES + 32)
        with pytest.raises(BadInput, match="reads a tensor's values"):
            part.tolist()
    with stand_ins(DeviceFacts("H20", "sm_90")), FakeTensorMode(), indexing(KnownContents(), lenient=True):
        fake = torch.empty(2, 2, device="cuda")
        assert torch.allclose(fake, fake)
        assert f"{fake.sum():.2f}" == "?"
        assert str(fake.tolist()) == "[[nan, nan], [nan, nan]]"
        with pytest.raises(BadInput, match="reads a tensor's values"):
            torch.empty(2, device="cuda", dtype=torch.int32).tolist()
