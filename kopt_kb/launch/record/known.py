"""Values of small tensors that follow from what was given: lengths, offsets, expert ids and what is made of them.

A recorded tensor has no memory. Where its values were given, or follow by operations from some that were, they are
computed beside it on the CPU, so that a launcher may read them and a count knows its trip counts and addresses. What a
kernel writes is forgotten: nobody ran it.
"""

from __future__ import annotations

from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor, unset_fake_temporarily
from torch.utils._pytree import tree_leaves, tree_map

from kopt_kb.launch.record.model import Keywords

__all__ = ["NOT_KNOWN", "KnownContents"]

_MOST = 1 << 16
"""Elements of a tensor above which its values are not followed."""

_FACTORIES = frozenset({"arange", "zeros", "ones", "full", "scalar_tensor", "eye", "linspace"})
_WHOLE = frozenset({"copy_", "fill_", "zero_"})

NOT_KNOWN = object()
"""What an operation yields whose operands are not all known."""


class KnownContents:
    """Storages whose contents are known, by the fake storage that stands for them."""

    def __init__(self) -> None:
        self._held: dict[int, torch.Tensor] = {}

    def give(self, fake: torch.Tensor, real: torch.Tensor) -> None:
        """Say what a tensor holds; its storage is as large as the other's."""
        if fake.stride() != real.stride() or real.storage_offset():
            copy = torch.empty_strided(tuple(fake.shape), fake.stride(), dtype=real.dtype)
            real = copy.copy_(real)
        self._held[_storage(fake)] = real

    def value(self, tensor: Any) -> torch.Tensor | None:
        """Return a tensor's values on the CPU, sharing memory with what is held; None when nobody knows them."""
        if not isinstance(tensor, FakeTensor):
            return tensor if isinstance(tensor, torch.Tensor) else None
        held = self._held.get(_storage(tensor))
        if held is None or tensor.numel() > _MOST:
            return None
        with unset_fake_temporarily():
            place, shape = int(tensor.storage_offset()), tuple(map(int, tensor.shape))
            strides = tuple(map(int, tensor.stride()))
            return torch.empty(0, dtype=tensor.dtype).set_(held.untyped_storage(), place, shape, strides)

    def integers(self, tensor: Any) -> tuple[int, ...] | None:
        """Return the values of a dense tensor of integers in order; None for any other, or where they are not known."""
        if not isinstance(tensor, torch.Tensor) or tensor.dtype.is_floating_point or tensor.dtype.is_complex:
            return None
        real = self.value(tensor) if tensor.is_contiguous() else None
        if real is None:
            return None
        with unset_fake_temporarily():
            return tuple(int(one) for one in real.flatten().tolist())

    def forget(self, tensor: Any) -> None:
        """Know nothing of a tensor's storage any more."""
        self._held.pop(_storage(tensor), None)

    def computed(self, func: Any, name: str, args: Any, kwargs: Keywords) -> Any:
        """Return what an operation yields on known values, which it may change, or `NOT_KNOWN`."""
        tensors = [one for one in tree_leaves((args, dict(kwargs))) if isinstance(one, torch.Tensor)]
        values: dict[int, Any] = {id(one): self.value(one) for one in tensors}
        if name in _WHOLE and tensors and values[id(tensors[0])] is None:
            self._begun(tensors[0], tensors[1:], values)
        is_random = torch.Tag.nondeterministic_seeded in func.tags
        if is_random or any(one is None for one in values.values()) or not (tensors or name in _FACTORIES):
            return NOT_KNOWN
        with unset_fake_temporarily():
            swapped = tree_map(lambda one: values[id(one)] if isinstance(one, torch.Tensor) else _on_cpu(one), args)
            named = {
                key: tree_map(lambda one: values[id(one)] if isinstance(one, torch.Tensor) else _on_cpu(one), value)
                for key, value in kwargs.items()
            }
            try:
                found = func(*swapped, **named)
            except Exception:  # noqa: BLE001 - the operation itself says so on the tensors without memory
                return NOT_KNOWN
        sizes = [one.numel() for one in tree_leaves(found) if isinstance(one, torch.Tensor)]
        return found if max(sizes, default=0) <= _MOST else NOT_KNOWN

    def _begun(self, target: torch.Tensor, sources: list[torch.Tensor], values: dict[int, Any]) -> None:
        """Hold memory for a tensor that is about to be written as a whole from what is known."""
        whole = target.numel() * target.element_size() == target.untyped_storage().nbytes()
        if whole and target.numel() <= _MOST and all(values[id(one)] is not None for one in sources):
            with unset_fake_temporarily():
                shape, strides = tuple(map(int, target.shape)), tuple(map(int, target.stride()))
                made = torch.empty_strided(shape, strides, dtype=target.dtype)
            self._held[_storage(target)] = made
            values[id(target)] = made

    def told(self, fakes: Any, reals: Any) -> None:
        """Keep what an operation yielded."""
        pairs = zip(tree_leaves(fakes), tree_leaves(reals), strict=False)
        for fake, real in pairs:
            if isinstance(fake, FakeTensor) and isinstance(real, torch.Tensor) and _storage(fake) not in self._held:
                with unset_fake_temporarily():
                    self.give(fake, real)


def _on_cpu(value: Any) -> Any:
    return torch.device("cpu") if isinstance(value, torch.device) else value


def _storage(tensor: Any) -> int:
    return int(tensor.untyped_storage()._cdata)
