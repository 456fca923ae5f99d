"""Backward passes without autograd: newest first, once, with gradients like the outputs."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch")

from kopt_kb.launch.record.gradients import gradients  # noqa: E402

CALLS: list[tuple[str, tuple[int, ...]]] = []


class Old(torch.autograd.Function):
    """Forward with a context."""

    @staticmethod
    def forward(ctx, x, n=2):
        """Repeat rows."""
        ctx.save_for_backward(x)
        ctx.n = n
        return x.repeat(n, 1)

    @staticmethod
    def backward(ctx, grad):
        """Note the gradient."""
        assert ctx.saved_tensors[0].shape[0] * ctx.n == grad.shape[0]
        CALLS.append(("old", tuple(grad.shape)))
        return grad[: grad.shape[0] // ctx.n], None


class New(torch.autograd.Function):
    """Forward without one, and two outputs."""

    @staticmethod
    def forward(x):
        """Split columns."""
        return x[:, :1], x[:, 1:]

    @staticmethod
    def setup_context(ctx, inputs, output):  # noqa: ARG004 - torch calls it by these names
        """Keep the input."""
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, one, two):
        """Note both gradients."""
        assert ctx.needs_input_grad == (True,)
        CALLS.extend([("new", tuple(one.shape)), ("new", tuple(two.shape))])
        return torch.cat([one, two], 1)


def test_backwards_run_newest_first_and_once() -> None:
    """Whatever is called between them; leaves get gradients of their layout; afterwards torch is as before."""
    CALLS.clear()
    before = torch.Tensor.backward
    with gradients():
        x = torch.ones(2, 3, requires_grad=True)
        left, right = New.apply(Old.apply(x, n=3))
        (left.sum() + right.sum()).backward()
        assert CALLS == [("new", (6, 1)), ("new", (6, 2)), ("old", (6, 3))]
        assert x.grad.shape == x.shape
        left.sum().backward()
        assert len(CALLS) == 3
        (made,) = torch.autograd.grad(Old.apply(x), [x])
        assert (made.shape, len(CALLS)) == (x.shape, 4)
    assert torch.Tensor.backward is before
