"""Backward passes of a program's own autograd functions, for their launches: in reverse, on gradients without memory.

torch's autograd engine needs the device that is not there. A program under record builds no graph: each function's
forward is called with a context of this module, and a `backward()` anywhere calls the backwards of all functions since
the last one, newest first, each with gradients that look like its outputs.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

import torch
from torch.utils._pytree import tree_leaves

from kopt_kb.launch.record.modules import Parameters

__all__ = ["gradients"]


class _Context:
    """What a function keeps from its forward for its backward."""

    def __init__(self, given: tuple[Any, ...]) -> None:
        self.needs_input_grad = tuple(isinstance(one, torch.Tensor) for one in given)
        self.saved_tensors: tuple[Any, ...] = ()
        self.materialize_grads = True

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep tensors."""
        self.saved_tensors = tensors

    def _nothing(self, *_: Any, **__: Any) -> None:
        """Do nothing: there is no graph to tell."""

    mark_dirty = mark_non_differentiable = set_materialize_grads = save_for_forward = _nothing


class _Applied:
    """One call of an autograd function."""

    def __init__(self, kind: Any, given: tuple[Any, ...]) -> None:
        self.kind, self.given, self.context = kind, given, _Context(given)
        self.outputs: Any = None

    def forward(self) -> Any:
        """Run the forward, in either of the two ways that torch knows."""
        if self.kind.setup_context is torch.autograd.Function.setup_context:
            self.outputs = self.kind.forward(self.context, *self.given)
        else:
            self.outputs = self.kind.forward(*self.given)
            self.kind.setup_context(self.context, self.given, self.outputs)
        return self.outputs

    def backward(self) -> None:
        """Run the backward on gradients like the outputs, whose values nobody has."""
        outputs = self.outputs if isinstance(self.outputs, tuple) else (self.outputs,)
        made = [torch.empty_like(one) if isinstance(one, torch.Tensor) else None for one in outputs]
        self.kind.backward(self.context, *made)


@contextmanager
def gradients(parameters: Parameters | None = None) -> Iterator[None]:
    """Call backwards of autograd functions without autograd while the block runs; parameters get gradients too."""
    applied: list[_Applied] = []
    leaves: dict[int, torch.Tensor] = {}

    def apply(kind: Any, *args: Any, **kwargs: Any) -> Any:
        given = args
        if kwargs:
            names = [one for one in inspect.signature(kind.forward).parameters if one != "ctx"]
            given = (*args, *(kwargs[name] for name in names[len(args) :] if name in kwargs))
        one = _Applied(kind, given)
        result = one.forward()
        applied.append(one)
        leaves.update({id(tensor): tensor for tensor in given if isinstance(tensor, torch.Tensor) and tensor.is_leaf})
        return result

    def backward(_: Any, *__: Any, **___: Any) -> None:
        _run(applied)
        for leaf in leaves.values():
            if leaf.requires_grad:
                leaf.grad = torch.empty_like(leaf)
        if parameters is not None:
            parameters.give_gradients()

    def grad(_outputs: Any, inputs: Any, *_: Any, **__: Any) -> tuple[Any, ...]:
        _run(applied)
        return tuple(torch.empty_like(one) for one in tree_leaves(inputs))

    with ExitStack() as stack:
        stack.enter_context(torch.no_grad())
        stack.enter_context(mock.patch.object(torch.autograd.Function, "apply", classmethod(apply)))
        stack.enter_context(mock.patch.object(torch.Tensor, "backward", backward))
        stack.enter_context(mock.patch.object(torch.autograd, "grad", grad))
        yield


def _run(applied: list[_Applied]) -> None:
    waiting = list(applied)
    applied.clear()
    for one in reversed(waiting):
        one.backward()
