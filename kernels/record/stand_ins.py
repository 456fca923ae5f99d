"""Stand-ins for the GPU that is not there: torch's device queries answer from sourced facts, indexing works on fakes.

A CPU build of torch refuses everything that would start CUDA. A launcher asks for few of these things: the number of
SMs, the capability, the current device and stream. Their answers are the facts that whoever records hands in; a fact
that nobody has is an error that names it, never a guess.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

import torch
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.overrides import TorchFunctionMode

from kopt_kb.errors import BadInput
from kopt_kb.kernels.record.model import Keywords

__all__ = ["ADDRESSES", "DeviceFacts", "indexing", "stand_ins"]


@dataclass(frozen=True, slots=True)
class DeviceFacts:
    """What is known of the device that is recorded for.

    Attributes:
        name: Name of the product or target.
        capability: Compute capability, or the numbers of the gfx target.
        values: Attribute of torch's device properties → value, such as multi_processor_count; sourced, so may be few.
    """

    name: str
    capability: tuple[int, int]
    values: Mapping[str, int] = field(default_factory=dict)


_PROPERTIES = frozenset(
    {
        "L2_cache_size", "clock_rate", "is_integrated", "is_multi_gpu_board", "max_threads_per_block",
        "max_threads_per_multi_processor", "memory_bus_width", "memory_clock_rate", "multi_processor_count",
        "regs_per_multiprocessor", "shared_memory_per_block", "shared_memory_per_block_optin",
        "shared_memory_per_multiprocessor", "total_memory", "uuid", "warp_size",
    }
)  # fmt: skip
"""What torch's device properties have, beside name and capability."""

ADDRESSES = 1 << 60
"""Where the pretended addresses of tensors begin: no number of elements or bytes is as large."""


class _Properties:
    """torch's device properties, as far as they are known."""

    def __init__(self, facts: DeviceFacts) -> None:
        self._facts = facts
        self.name = facts.name
        self.major, self.minor = facts.capability
        self.gcnArchName = facts.name

    def __getattr__(self, name: str) -> int:
        facts: DeviceFacts = self.__dict__["_facts"]
        if name not in _PROPERTIES:  # as torch answers, so that a launcher may look for names of other versions
            raise AttributeError(name)
        if name not in facts.values:
            raise BadInput(
                f"the launcher asks for {name} of the device, and no sourced value is known for {facts.name}",
                where="record",
                fix="name a product with --platform whose page has it",
                code="KB442",
            )
        return facts.values[name]


class _Stream:
    cuda_stream = 0

    def synchronize(self) -> None:
        """Do nothing: there is no device."""

    def wait(self, *_: object) -> None:
        """Do nothing: there is nothing to wait for."""

    wait_stream = wait_event = record_event = wait


@contextmanager
def stand_ins(facts: DeviceFacts) -> Iterator[None]:
    """Answer torch's questions about the GPU from facts while the block runs."""
    properties, cuda = _Properties(facts), torch.cuda
    answers: Mapping[str, Callable[..., object]] = {
        "is_available": lambda: True,
        "device_count": lambda: 1,
        "current_device": lambda: 0,
        "get_device_name": lambda *_: facts.name,
        "get_device_capability": lambda *_: facts.capability,
        "get_device_properties": lambda *_: properties,
        "current_stream": lambda *_: _Stream(),
        "default_stream": lambda *_: _Stream(),
        "synchronize": lambda *_: None,
        "set_device": lambda *_: None,
        "device": lambda *_: nullcontext(),
        "stream": lambda *_: nullcontext(),
        "is_bf16_supported": lambda *_, **__: facts.capability >= (8, 0),
        "is_current_stream_capturing": lambda: False,
        "_lazy_init": lambda: None,
    }
    patches: list[Any] = [mock.patch.object(cuda, name, answer) for name, answer in answers.items()]
    # Fake tensors start the real device for autograd where one is said to be available; nothing here needs that.
    patches.append(mock.patch("torch._subclasses.fake_tensor.init_gpu_context", return_value=None))
    for one in patches:
        one.start()
    try:
        yield
    finally:
        for one in reversed(patches):
            one.stop()


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
