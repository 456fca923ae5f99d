"""Modules on a device that is not there: `.cuda()`, `.to(...)` and gradients of parameters without memory.

torch moves a module by swapping what its parameters hold, which tensors without memory don't allow: here a module
gets new parameters instead, shared ones once and without gradients.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

import torch

__all__ = ["Parameters", "modules"]


class Parameters:
    """The parameters of all modules since the block began, as long as somebody holds them."""

    def __init__(self) -> None:
        self._held: list[weakref.ref[Any]] = []

    def add(self, parameter: Any) -> None:
        """Keep track of a parameter."""
        self._held.append(weakref.ref(parameter))

    def give_gradients(self) -> None:
        """Give each parameter that requires one a gradient of its layout, whose values nobody has."""
        for one in (held() for held in self._held):
            if one is not None and one.requires_grad and one.is_leaf:
                one.grad = torch.empty_like(one)


@contextmanager
def modules() -> Iterator[Parameters]:
    """Move modules by giving them new parameters while the block runs."""
    parameters, last = Parameters(), _Moved(lambda tensor: tensor)
    plain_register = torch.nn.Module.register_parameter

    def apply(module: Any, fn: Callable[[Any], Any], recurse: bool = True) -> Any:
        nonlocal last
        if last.fn is not fn:
            last = _Moved(fn)
        for child in module.children() if recurse else ():
            child._apply(fn)
        for held in (module._parameters, module._buffers):
            for name, one in held.items():
                if one is not None:
                    held[name] = last.of(one)
                    parameters.add(held[name])
        return module

    def register(module: Any, name: str, parameter: Any) -> None:
        plain_register(module, name, parameter)
        if parameter is not None:
            parameters.add(parameter)

    with ExitStack() as stack:
        stack.enter_context(mock.patch.object(torch.nn.Module, "_apply", apply))
        stack.enter_context(mock.patch.object(torch.nn.Module, "register_parameter", register))
        yield parameters


class _Moved:
    """What one function made of tensors; a tensor that several modules share is moved once."""

    def __init__(self, fn: Callable[[Any], Any]) -> None:
        self.fn = fn
        self._made: dict[int, tuple[Any, Any]] = {}

    def of(self, tensor: Any) -> Any:
        """Return the moved tensor; a parameter stays one, with the attributes that somebody gave it."""
        if id(tensor) not in self._made:
            self._made[id(tensor)] = tensor, self._move(tensor)
        return self._made[id(tensor)][1]

    def _move(self, tensor: Any) -> Any:
        with torch.no_grad():
            made = self.fn(tensor)
        if made is tensor or not isinstance(tensor, torch.nn.Parameter):
            return made
        parameter = torch.nn.Parameter(made, requires_grad=tensor.requires_grad)
        for name, value in vars(tensor).items():
            if name not in vars(parameter):
                setattr(parameter, name, value)
        return parameter
