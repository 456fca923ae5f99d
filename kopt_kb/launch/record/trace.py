"""What a launcher does with device memory, traced on fake CUDA tensors: buffers, fills, copies, and what is neither.

Fake tensors have shape, strides and dtype and no memory, so that a launcher runs where no GPU is. Nothing is judged by
how its source is spelled: the dispatcher sees every operation. Fills and copies become steps; views are followed
through their storage; any other operation that yields device data is a host operation, and what it wrote is marked,
since a replay can't know it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch._library.custom_ops import OPDEFS
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensor,
    FakeTensorMode,
    unset_fake_temporarily,
)
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.compile.device import DeviceFacts
from kopt_kb.launch.compile.torch_stand_ins import own_kernel, stand_ins
from kopt_kb.launch.record.known import NOT_KNOWN, KnownContents
from kopt_kb.launch.record.model import Buffer, Copy, Fill, Input, Keywords, Step, TensorView
from kopt_kb.launch.record.modules import Parameters, modules
from kopt_kb.launch.record.moves import move_of
from kopt_kb.launch.record.stand_ins import importing, indexing
from kopt_kb.problem.dtypes import format_of

__all__ = ["CallTrace", "dtype_name", "on_device"]

ALIGNMENT = 256
"""Bytes that allocators align an address to at least; a replay allocates no worse."""

_ALLOCATE = frozenset({"empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided", "empty_permuted"})
_FILL = frozenset({"zeros", "zeros_like", "new_zeros", "zero_", "zero"}), frozenset({"ones", "ones_like", "new_ones"})
_FILL_WITH = frozenset({"full", "full_like", "new_full", "fill_"})
_COPY = frozenset({"copy_", "clone", "_to_copy"})


def dtype_name(dtype: torch.dtype) -> str:
    """Return the record's name of a dtype; raises `BadInput` for one that no record has."""
    known = format_of(str(dtype))
    if known is None:
        raise BadInput(f"dtype {dtype} has no place in a launch record", where="record", code="KB061")
    return known.triton


class CallTrace(TorchDispatchMode):  # type: ignore[misc] # torch is untyped
    """Traces one call of a launcher.

    Args:
        facts: What the device that is recorded for has, for launchers that ask.
        lenient: Whether a comparison of values that nobody has is taken for true, as a script that checks itself needs.
    """

    def __init__(self, facts: DeviceFacts, *, lenient: bool = False) -> None:
        super().__init__()
        self._facts, self._lenient = facts, lenient
        self._mode = FakeTensorMode(allow_non_fake_inputs=True)
        self._buffers: dict[int, str] = {}
        self._sizes: dict[str, int] = {}
        self._kept: list[Any] = []
        self._marked: dict[str, str] = {}
        self._changed: set[str] = set()
        self.known = KnownContents()
        self.parameters = Parameters()
        self.steps: list[Step] = []
        self.host: dict[str, None] = {}
        self.reasons: list[str] = []
        self.launched_by: Callable[[], tuple[str, str]] = lambda: ("", "")

    @contextmanager
    def running(self) -> Iterator[None]:
        """Everything inside works on fake tensors of a device that is not there."""
        with ExitStack() as stack:
            stack.enter_context(stand_ins(self._facts))
            stack.enter_context(
                torch.autograd.set_multithreading_enabled(False)
            )  # a device that is not there has no thread
            stack.enter_context(self._mode)
            stack.enter_context(indexing(self.known, lenient=self._lenient))
            stack.enter_context(self)
            self.parameters = stack.enter_context(modules())
            stack.enter_context(_plainly_named())
            yield

    @contextmanager
    def importing(self) -> Iterator[None]:
        """Modules are imported inside: what they put on the device is made, and marked as the host's."""

        def made_there(func: Any, args: Any, given: Keywords) -> Any:
            with self._mode, indexing(self.known, lenient=self._lenient):
                result = func(*args, **given)
            for one in tree_leaves(result):
                if on_device(one):
                    self._kept.append(one)
                    self._marked.setdefault(self.view(one).buffer, "the import of a module")
            return result

        with stand_ins(self._facts), importing(made_there):
            yield

    def tensor(
        self,
        name: str,
        shape: tuple[int, ...],
        dtype: torch.dtype,
        strides: tuple[int, ...] | None = None,
        values: tuple[int | float, ...] | None = None,
    ) -> Any:
        """Return a fake input on the device, in a buffer of its own; values are kept beside it."""
        with self._mode:
            if strides is None:
                fake = torch.empty(shape, dtype=dtype, device="cuda")
            else:
                fake = torch.empty_strided(shape, strides, dtype=dtype, device="cuda")
        self._name(fake, name)
        if values is not None:
            self.known.give(fake, torch.tensor(values, dtype=dtype).reshape(shape))
        return fake

    def view(self, tensor: Any) -> TensorView:
        """Return where a tensor lies; its storage gets a name at its first use."""
        buffer = self._buffers.get(_storage(tensor)) or self._name(tensor, f"scratch{len(self._sizes)}")
        shape, strides = tuple(map(int, tensor.shape)), tuple(map(int, tensor.stride()))
        return TensorView(buffer, int(tensor.storage_offset()), shape, strides, dtype_name(tensor.dtype))

    def scratch(self, size_bytes: int) -> TensorView:
        """Return new bytes that only a compiler's runtime uses."""
        name = f"scratch{len(self._sizes)}"
        self._sizes[name] = size_bytes
        return TensorView(name, 0, (size_bytes,), (1,), "u8")

    def used(self, view: TensorView) -> None:
        """Note that a launch may read and write a buffer."""
        if view.buffer in self._marked:
            self.reasons.append(f"{view.buffer} is computed by {self._marked[view.buffer]} outside the launches")
        self._changed.add(view.buffer)

    def buffers(self, inputs: tuple[Input, ...], outputs: tuple[TensorView, ...]) -> tuple[Buffer, ...]:
        """Return the buffers that steps, inputs and outputs name, with their roles."""
        given, results = {one.view.buffer for one in inputs}, {one.buffer for one in outputs}
        named = given | results | self._changed
        made = []
        for name in (one for one in self._sizes if one in named):
            role = "input" if name in given else "output" if name in results else "scratch"
            changed = role != "input" or name in results
            made.append(Buffer(name, role, max(self._sizes[name], 1), ALIGNMENT, changed))  # type: ignore[arg-type]
        return tuple(made)

    def overwritten(self, inputs: tuple[Input, ...], outputs: tuple[TensorView, ...]) -> tuple[TensorView, ...]:
        """Return the inputs that fills and copies write and that are no outputs yet."""
        steps = {
            one.view.buffer if isinstance(one, Fill) else one.target.buffer
            for one in self.steps
            if isinstance(one, Fill | Copy)
        }
        named = {one.buffer for one in outputs}
        return tuple(one.view for one in inputs if one.view.buffer in steps - named)

    def returned(self, result: object) -> tuple[TensorView, ...]:
        """Return the tensors among what a launcher returned, in order."""
        tensors = [one for one in tree_leaves(result) if isinstance(one, torch.Tensor)]
        self.reasons += [f"a result lies on the {one.device}" for one in tensors if not on_device(one)]
        views = [self.view(one) for one in tensors if on_device(one)]
        for one in views:
            if one.buffer in self._marked:
                self.reasons.append(f"result {one.buffer} is computed by {self._marked[one.buffer]}")
        return tuple(views)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Let the operation happen on fake tensors, and note what it means for a replay."""
        given = kwargs or {}
        name = _operation_name(func)
        own = OPDEFS.get(str(func._schema.name)) or own_kernel(str(func._schema.name))
        if own is not None:  # an operation of somebody else's library, called by its name: what it launches counts
            with self._mode, indexing(self.known, lenient=self._lenient), self:
                return own(*args, **given)
        result = self._result(func, name, args, given)
        self.known.drawn(name, args, result)
        made = [one for one in (*tree_leaves(result), *_written(func, args, given)) if on_device(one)]
        if not made or name in _ALLOCATE:
            self._kept += made
            return result
        known = {_storage(one) for one in tree_leaves((args, given)) if isinstance(one, torch.Tensor)}
        changes = func._schema.is_mutable or any(_storage(one) not in known for one in made)
        if changes:
            self._kept += made
            self._operation(name, made, args, given)
        return result

    def _result(self, func: Any, name: str, args: Any, given: Keywords) -> Any:
        """Return what an operation yields on fake tensors; where values are known, what follows from them is too."""
        real = self.known.computed(func, name, args, given)
        if real is NOT_KNOWN:
            for one in _written(func, args, given):
                if isinstance(one, FakeTensor):
                    self.known.forget(one)
            return func(*args, **given)
        if not any(isinstance(one, torch.Tensor) for one in tree_leaves(real)):
            return real if real is not None else func(*args, **given)
        try:
            result = func(*args, **given)
        except (DynamicOutputShapeException, DataDependentOutputException):
            result = tree_map(self._stands_for, real)
        self.known.told(result, real)
        return result

    def _stands_for(self, real: Any) -> Any:
        """Return a fake tensor on the device with the layout of a known one."""
        if not isinstance(real, torch.Tensor):
            return real
        return torch.empty_strided(tuple(real.shape), real.stride(), dtype=real.dtype, device="cuda")

    def _operation(self, name: str, made: list[Any], args: Any, given: Keywords) -> None:
        value = 0 if name in _FILL[0] else 1 if name in _FILL[1] else _fill_value(name, args, given)
        source = _source_of(name, made[0], args) if name in _COPY else None
        if value is not None and made[0].is_contiguous():
            self._fill(made[0], value)
        elif source is not None and self._copies(source, made[0]):
            self._copy(source, made[0])
        else:
            self.host[name] = None
            for one in made:
                self._marked[self.view(one).buffer] = name

    def _copy(self, source: Any, target: Any) -> None:
        view, into = self.view(source), self.view(target)
        self.steps.append(Copy(view, into))
        self._changed |= {view.buffer, into.buffer}
        if view.buffer in self._marked:
            self._marked[into.buffer] = self._marked[view.buffer]
        elif target.numel() * target.element_size() == self._sizes[into.buffer]:
            self._marked.pop(into.buffer, None)

    def _copies(self, source: Any, target: Any) -> bool:
        """Return whether a replay can do a copy: of any layout, between types of numbers."""
        if format_of(str(source.dtype)) is None or format_of(str(target.dtype)) is None:
            return False
        return move_of(self.view(source), self.view(target)) is not None

    def _fill(self, tensor: Any, value: float | int | bool) -> None:
        with unset_fake_temporarily():
            bits = torch.tensor([value], dtype=torch.float64 if isinstance(value, float) else None).to(tensor.dtype)
            pattern = bytes(bits.view(torch.uint8).tolist()).hex()
        view = self.view(tensor)
        self.steps.append(Fill(view, pattern))
        self._changed.add(view.buffer)
        if tensor.numel() * tensor.element_size() == self._sizes[view.buffer]:
            self._marked.pop(view.buffer, None)

    def _name(self, tensor: Any, name: str) -> str:
        self._kept.append(tensor)
        self._buffers[_storage(tensor)] = name
        self._sizes[name] = int(tensor.untyped_storage().nbytes())
        return name


@contextmanager
def _plainly_named() -> Iterator[None]:
    """Call tensors without memory `Tensor`: libraries launch nothing where a type's name says that they are traced."""
    name = FakeTensor.__name__
    FakeTensor.__name__ = torch.Tensor.__name__
    try:
        yield
    finally:
        FakeTensor.__name__ = name


def on_device(value: object) -> bool:
    """Return whether a value is a tensor without memory on the device that is recorded for."""
    return isinstance(value, FakeTensor) and value.device.type == "cuda"


def _source_of(name: str, target: Any, args: Any) -> Any:
    """Return what a copy reads, broadcast to what it writes; None when it is not on the device."""
    source = args[1] if name == "copy_" else args[0]
    if not on_device(source):
        return None
    return source if source.shape == target.shape else source.expand(target.shape)


def _operation_name(func: Any) -> str:
    """Return the name of torch's own operation; one of another library has its library's name before it."""
    if getattr(func, "namespace", "") == "aten":
        return str(func.overloadpacket.__name__)
    return str(func._schema.name).replace("::", ".")


def _written(func: Any, args: Any, given: Keywords) -> list[Any]:
    """Return the arguments that the operation's schema says are written; not every operation returns them."""
    made = []
    for number, one in enumerate(func._schema.arguments):
        if one.alias_info is not None and one.alias_info.is_write:
            made += tree_leaves(args[number] if number < len(args) else given.get(one.name))
    return made


def _storage(tensor: Any) -> int:
    return int(tensor.untyped_storage()._cdata)


def _fill_value(name: str, args: Any, given: Keywords) -> float | int | bool | None:
    """Return the number that an operation fills with, or None when it is none or not a number."""
    if name not in _FILL_WITH:
        return None
    place = 2 if name == "new_full" else 1
    value = args[place] if len(args) > place else given.get("fill_value", given.get("value"))
    if isinstance(value, bool | int | float):
        return value
    return None
