"""Fake CUDA tensors in a CPU build of torch: indexing, moves between devices, and reads of values that nobody has."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor, unset_fake_temporarily
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves, tree_map

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.record.autocast import autocast_off, cast_operands
from kopt_kb.launch.record.known import KnownContents
from kopt_kb.launch.record.model import Keywords

__all__ = ["ADDRESSES", "importing", "indexing"]


ADDRESSES = 1 << 60
"""Where the pretended addresses of tensors begin: no number of elements or bytes is as large."""


def _viewed(tensor: torch.Tensor, index: Any) -> torch.Tensor:
    """Return `tensor[index]` for an index of numbers, slices and None, computed on the layout alone."""
    layout = torch.empty_strided(tuple(tensor.shape), tensor.stride(), dtype=tensor.dtype, device="meta")[index]
    place = tensor.storage_offset() + layout.storage_offset()
    result: torch.Tensor = torch.ops.aten.as_strided.default(tensor, list(layout.shape), list(layout.stride()), place)
    return result


_READS = frozenset(
    {
        torch.Tensor.item, torch.Tensor.tolist, torch.Tensor.numpy, torch.Tensor.__float__, torch.Tensor.__int__,
        torch.Tensor.__bool__, torch.Tensor.__index__, torch.Tensor.equal, torch.equal, torch.allclose,
        torch.Tensor.allclose, torch.Tensor.__format__,
    }
)  # fmt: skip

_NUMBERS = frozenset({torch.Tensor.item, torch.Tensor.tolist, torch.Tensor.__float__})
_COMPARES = frozenset({torch.Tensor.__bool__, torch.Tensor.equal, torch.equal, torch.allclose, torch.Tensor.allclose})


class indexing(TorchFunctionMode):  # type: ignore[misc] # noqa: N801 - torch is untyped; a context manager
    """Indexing, `.to(device)` and reads of fake CUDA tensors, which a CPU build of torch refuses.

    Args:
        known: Values of the few tensors that have some.
        lenient: Whether comparisons of values that nobody has are taken for true, floats among them are NaN, and they
            print as `?`.
    """

    def __init__(self, known: KnownContents, *, lenient: bool = False) -> None:
        super().__init__()
        self._known, self._lenient = known, lenient

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Replace what needs a device guard by the same thing without one."""
        args, given = cast_operands(func, args, kwargs or {})
        with autocast_off():
            return self._done(func, args, given)

    def _done(self, func: Any, args: Any, given: Keywords) -> Any:
        if func in (torch.tensor, torch.as_tensor) and str(given.get("device", "")).startswith("cuda"):
            return _constant(func, args, given)
        if given.get("pin_memory"):
            given = {**given, "pin_memory": False}
        if func in _ANSWERS and args and isinstance(args[0], FakeTensor):
            return _ANSWERS[func](args[0])
        if func in _READS and args and isinstance(args[0], FakeTensor):
            return self._read(func, args, given)
        if args and isinstance(args[0], torch.Tensor) and args[0].device.type == "cuda":
            return self._on_device(func, args, given)
        if func in (torch.Tensor.to, torch.Tensor.cuda) and _enters(func, args[1:], given):
            return _uploaded(args[0], _dtype(args, given))
        return func(*args, **given)

    def _on_device(self, func: Any, args: Any, given: Keywords) -> Any:
        """Do to a tensor on the device what a function of torch does to it."""
        if func is torch.Tensor.__getitem__:
            return _viewed(args[0], args[1]) if _plain(args[1]) else _gathered(func, args)
        if func is torch.Tensor.__setitem__ and _plain(args[1]):
            target, value = _viewed(args[0], args[1]), args[2]
            return _copied(target, value) if isinstance(value, torch.Tensor) else target.fill_(value)
        if func is torch.Tensor.copy_ and isinstance(args[1], torch.Tensor):
            return _copied(args[0], args[1])
        if func is torch.Tensor.contiguous and not args[0].is_contiguous(**given):
            layout = given.get("memory_format", torch.contiguous_format)
            return torch.ops.aten.clone.default(args[0], memory_format=layout)
        if func is torch.Tensor.new_tensor:
            kept = {"dtype": given.get("dtype") or args[0].dtype, "device": given.get("device") or args[0].device}
            return _constant(torch.tensor, args[1:], kept)
        if func is torch.Tensor.data_ptr:
            return ADDRESSES + int(args[0].storage_offset()) * args[0].element_size()
        if func in (torch.Tensor.to, torch.Tensor.cuda) and not _leaves(args[1:], given):
            return self._moved(args, given)
        return func(*args, **given)

    def _read(self, func: Any, args: Any, given: Keywords) -> Any:
        """Return what a function reads of tensors whose values are known."""
        values = [self._known.value(one) if isinstance(one, torch.Tensor) else one for one in args]
        if all(value is not None or one is None for value, one in zip(values, args, strict=True)):
            with unset_fake_temporarily():
                return func(*values, **given)
        if self._lenient and func in _COMPARES:
            return True
        if self._lenient and func is torch.Tensor.__format__:
            return "?"
        if self._lenient and func in _NUMBERS and args[0].dtype.is_floating_point:
            return tree_map(lambda _: math.nan, _nested(tuple(args[0].shape)))
        raise BadInput(
            f"the launcher reads a tensor's values ({func.__name__}), which a record without a GPU does not have",
            where="record",
            fix="pass what it reads as a number, or give the tensor's values: --arg x=int32[3]=0,128,256",
            code="KB448",
        )

    def _moved(self, args: Any, given: Keywords) -> Any:
        """Return the tensor in its new dtype; on this machine all devices are the one that is recorded for."""
        wanted = _dtype(args, given)
        return args[0] if wanted == args[0].dtype else torch.ops.aten._to_copy.default(args[0], dtype=wanted)


class importing(TorchFunctionMode):  # type: ignore[misc] # noqa: N801 - torch is untyped; a context manager
    """Tensors that a module makes on the device while it is imported; those of the host stay real.

    Args:
        on_device: Does one call of torch on tensors without memory.
    """

    def __init__(self, on_device: Callable[[Any, Any, Keywords], Any]) -> None:
        super().__init__()
        self._on_device = on_device

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Send what is about the device there."""
        given = kwargs or {}
        is_there = any(isinstance(one, FakeTensor) for one in tree_leaves((args, given)))
        if is_there or str(given.get("device", "")).startswith("cuda"):
            return self._on_device(func, args, given)
        if func in (torch.Tensor.to, torch.Tensor.cuda) and _enters(func, args[1:], given):
            return self._on_device(func, args, given)
        return func(*args, **given)


_ANSWERS: Mapping[Any, Callable[[Any], Any]] = {
    torch.Tensor.is_cuda.__get__: lambda tensor: tensor.device.type == "cuda",
    torch.Tensor.is_cpu.__get__: lambda tensor: tensor.device.type == "cpu",
    torch.Tensor.get_device: lambda tensor: 0 if tensor.device.type == "cuda" else -1,
    torch.Tensor.pin_memory: lambda tensor: tensor,
    torch.Tensor.is_pinned: lambda tensor: tensor.device.type == "cpu",
    torch.Tensor.record_stream: lambda _: None,
}
"""What a tensor without memory says of where it lies; memory of the host is pinned wherever that is asked."""


def _nested(shape: tuple[int, ...]) -> Any:
    return [_nested(shape[1:]) for _ in range(shape[0])] if shape else 0


def _gathered(func: Any, args: Any) -> Any:
    """Return `tensor[index]` for tensors as indices along leading dimensions, others as torch does it."""
    parts = args[1] if isinstance(args[1], tuple) else (args[1],)
    if all(isinstance(one, torch.Tensor) for one in parts):
        return torch.ops.aten.index.Tensor(args[0], list(parts))
    return func(*args)


def _constant(func: Any, args: Any, given: Keywords) -> Any:
    """Return a tensor of the host's numbers on the device: one number is a fill, more are a copy that is listed."""
    if isinstance(args[0], torch.Tensor):
        return args[0].to(**given)
    with unset_fake_temporarily():
        held = func(*args, **{**given, "device": "cpu"})
        number = held.item() if held.numel() == 1 else None
    if number is not None:
        return torch.full(tuple(held.shape), number, dtype=held.dtype, device="cuda")
    return _uploaded(held, held.dtype)


def _copied(target: Any, source: Any) -> Any:
    """Copy by the dispatcher: the method asks for CUDA itself, which a build without it does not have."""
    return torch.ops.aten.copy_.default(target, source)


def _uploaded(held: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Return a tensor of the host on the device, by a copy that the dispatcher sees."""
    return torch.ops.aten.copy_.default(torch.empty(tuple(held.shape), dtype=dtype, device="cuda"), held)


def _plain(index: Any) -> bool:
    parts = index if isinstance(index, tuple) else (index,)
    return all(one is None or one is Ellipsis or isinstance(one, int | slice) for one in parts)


def _dtype(args: Any, given: Keywords) -> torch.dtype:
    """Return the dtype that `.to` asks for: one that is named, that of a tensor that is named, or its own."""
    dtypes = [one for one in (*args[1:], *given.values()) if isinstance(one, torch.dtype)]
    others = [one.dtype for one in args[1:] if isinstance(one, torch.Tensor)]
    return next(iter([*dtypes, *others]), args[0].dtype)


def _enters(func: Any, args: Any, given: Keywords) -> bool:
    """Return whether `.to` or `.cuda` brings a tensor of the host to the device."""
    named = [str(getattr(one, "device", one)) for one in (*args, *given.values())]
    return func is torch.Tensor.cuda or any(one.startswith("cuda") for one in named)


def _leaves(args: Any, given: Keywords) -> bool:
    """Return whether `.to` names the CPU, or a tensor there."""
    named = [str(getattr(one, "device", one)) for one in (*args, *given.values()) if not isinstance(one, torch.dtype)]
    return any(one.startswith("cpu") for one in named)
