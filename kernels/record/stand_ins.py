"""Fake CUDA tensors in a CPU build of torch: indexing, moves between devices, and reads of values that nobody has."""

from __future__ import annotations

from typing import Any

import torch
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.overrides import TorchFunctionMode

from kopt_kb.errors import BadInput
from kopt_kb.kernels.record.model import Keywords

__all__ = ["ADDRESSES", "indexing"]


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
    }
)  # fmt: skip


class indexing(TorchFunctionMode):  # type: ignore[misc] # noqa: N801 - torch is untyped; a context manager
    """Indexing and `.to(device)` of fake CUDA tensors, which a CPU build of torch refuses."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Replace what needs a device guard by the same thing without one."""
        given = kwargs or {}
        if func in (torch.tensor, torch.as_tensor) and str(given.get("device", "")).startswith("cuda"):
            return _constant(func, args, given)
        on_device = bool(args) and isinstance(args[0], torch.Tensor) and args[0].device.type == "cuda"
        if on_device and func is torch.Tensor.__getitem__ and _plain(args[1]):
            return _viewed(args[0], args[1])
        if on_device and func is torch.Tensor.__setitem__ and _plain(args[1]):
            target = _viewed(args[0], args[1])
            value = args[2]
            return target.copy_(value) if isinstance(value, torch.Tensor) else target.fill_(value)
        if on_device and func in _READS:
            raise BadInput(
                f"the launcher reads a tensor's values ({func.__name__}), which a record without a GPU does not have",
                where="record",
                fix="pass what it reads as a number",
                code="KB448",
            )
        if on_device and func is torch.Tensor.contiguous and not args[0].is_contiguous(**given):
            return torch.ops.aten.clone.default(
                args[0], memory_format=given.get("memory_format", torch.contiguous_format)
            )
        if on_device and func is torch.Tensor.data_ptr:
            return ADDRESSES + int(args[0].storage_offset()) * args[0].element_size()
        if not on_device and func in (torch.Tensor.to, torch.Tensor.cuda) and _enters(func, args[1:], given):
            return _uploaded(args[0], _dtype(args, given))
        if on_device and func in (torch.Tensor.to, torch.Tensor.cuda) and not _leaves(args[1:], given):
            return self._moved(args, given)
        return func(*args, **given)

    def _moved(self, args: Any, given: Keywords) -> Any:
        """Return the tensor in its new dtype; on this machine all devices are the one that is recorded for."""
        wanted = _dtype(args, given)
        return args[0] if wanted == args[0].dtype else torch.ops.aten._to_copy.default(args[0], dtype=wanted)


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
