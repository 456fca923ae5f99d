"""Modules that move to a device without memory."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch")

from kopt_kb.launch.compile.device import DeviceFacts  # noqa: E402
from kopt_kb.launch.record.trace import CallTrace  # noqa: E402


def test_parameters_stay_parameters_and_get_gradients() -> None:
    """With what they know, shared ones once, frozen ones without; afterwards torch moves as before."""
    before = torch.nn.Module._apply
    trace = CallTrace(DeviceFacts("Test", "sm_90"))
    with trace.running():
        module = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2))
        module[1].weight = module[0].weight
        module[0].weight.grad = torch.ones_like(module[0].weight)
        module[1].bias.requires_grad_(False)
        module.cuda().half()
        assert module[1].weight is module[0].weight
        assert module[0].weight.grad is None
        assert module[2].running_mean.dtype == torch.float16
        assert module[2].num_batches_tracked.is_cuda
        kept = module[0].bias
        module.cuda()
        assert module[0].bias is kept
        trace.parameters.give_gradients()
        assert [one.grad is not None for one in module.parameters()] == [True, True, False, True, True]
    assert torch.nn.Module._apply is before
