"""A problem whose file has a function that makes one argument, of tensors, numbers and text, and one that takes it."""

# mypy: allow-subclassing-any
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any
from unittest import mock

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import keystr, tree_flatten_with_path, tree_leaves, tree_unflatten

from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import JSON, JsonMap, Wire, read
from kopt_kb.launch.problems.adapted import Adapted, entry_of, refuse_shape, seeded, stored_in, takes
from kopt_kb.problem.shapes import Shape, parse_shape

__all__ = ["MadeInput", "MadeTable"]

_PLAIN = (int, float, str, torch.dtype, torch.device, type(None))


@dataclass(frozen=True, slots=True)
class MadeTable(Wire):
    """What is known of such a file.

    Attributes:
        name: The problem's name.
        form: Parameters of `make` that are a shape's dimensions, in order.
        workloads: Shape, as written, to further arguments of `make`.
        make: Name of the function that makes the argument.
        reference: Name of the function that takes it.
        seed: Parameter of `make` that seeds it; empty: it draws from torch's own generator.
        names: Members of the argument, as the reference calls them; empty where it does not unpack it.
        changed: Those that the reference writes: each call gets copies.
    """

    name: str
    form: tuple[str, ...]
    workloads: Mapping[str, JsonMap]
    make: str
    reference: str
    seed: str = ""
    names: tuple[str, ...] = ()
    changed: tuple[str, ...] = field(default_factory=tuple)


@dataclass(frozen=True, slots=True)
class _Blank:
    """A tensor that is made for results: each call gets a fresh one."""

    shape: Shape
    strides: Shape
    dtype: torch.dtype
    zero: bool

    def made(self, device: Any) -> Any:
        """Return one."""
        found = torch.empty_strided(self.shape, self.strides, dtype=self.dtype, device=device)
        return found.zero_() if self.zero else found


_TENSOR = object()


class MadeInput(Adapted):
    """A problem of one argument.

    Tensors that are made empty or of zeros and then left alone are places for results, and no inputs.

    Args:
        file: Names of the Python file with the functions.
        table: A `MadeTable` as JSON.
    """

    def __init__(self, file: Mapping[str, object], table: JSON) -> None:
        self._table = read(MadeTable, table, where="the problem's table")
        self.op = self._table.name
        self._make: Any = file[self._table.make]
        self._function: Any = file[self._table.reference]
        self._given: list[Any] = []
        self._copied: list[bool] = []
        self._spec: Any = None
        self._device: Any = "cpu"

    def make_inputs(self, shape: Shape, dtype: str, device: str = "cuda", seed: int = 0) -> tuple[Any, ...]:  # noqa: ARG002 - the file states its types
        """Return the tensors of the argument that a shape's numbers make, without places for results."""
        more = next((one for text, one in self._table.workloads.items() if parse_shape(text) == tuple(shape)), None)
        if more is None:
            raise refuse_shape(self.op, shape, [parse_shape(one) for one in self._table.workloads])
        numbers = {**dict(zip(self._table.form, shape, strict=False)), **more}
        numbers |= {self._table.seed: seed} if self._table.seed else {}
        with torch.no_grad(), _on(device), _Blanks() as blanks:
            seeded(seed)
            made = self._make(**numbers)
        leaves, self._spec = tree_flatten_with_path(made)
        found = {_name(path, self._table.names): one for path, one in leaves}
        for name, one in found.items():
            if not isinstance(one, (torch.Tensor, *_PLAIN)):
                what = f"{self._table.make} returns a {type(one).__name__} ({name})"
                fix = "tensors, numbers and text in tuples, lists and dictionaries make a problem"
                raise BadInput(what, where=self.op, fix=fix, code="KB447")
        self._given = [blanks.place_of(one) for one in found.values()]
        self._device = device
        tensors = {name: one for (name, one), at in zip(found.items(), self._given, strict=True) if at is _TENSOR}
        self._copied = [name.partition(".")[0] in self._table.changed for name in tensors]
        self.names, self.stored = tuple(tensors), stored_in(tensors.values())
        return tuple(tensors.values())

    def result(self, inputs: Sequence[Any]) -> object:
        """Return what the reference gives."""
        with _on(str(self._device)):
            return self.called(self._function, inputs)

    def called(self, function: Callable[..., Any], inputs: Sequence[Any]) -> object:
        """Return what a function of the one argument gives for these tensors."""
        return function(tree_unflatten(self._filled(inputs), self._spec))

    def target(self, module: ModuleType) -> Callable[..., Any]:
        """Return a call of a candidate's function: of the one argument, or of its members that are no results."""
        function = entry_of(module)
        needed = [one for one in takes(function) if one.default is one.empty]

        def run(*inputs: Any) -> Any:
            if len(needed) == 1:
                return self.called(function, inputs)
            leaves = zip(self._filled(inputs), self._given, strict=True)
            return function(*(one for one, at in leaves if not isinstance(at, _Blank)))

        run.keywords = ()  # type: ignore[attr-defined] # read by whoever calls it
        return run

    def _filled(self, inputs: Sequence[Any]) -> list[Any]:
        left = iter([one.clone() if copied else one for one, copied in zip(inputs, self._copied, strict=True)])
        device = inputs[0].device if inputs else self._device
        return [
            next(left) if one is _TENSOR else one.made(device) if isinstance(one, _Blank) else one
            for one in self._given
        ]


def _name(path: Any, names: Sequence[str]) -> str:
    """Return how a member is called: by the reference's name for it, then its keys."""
    if not path:
        return names[0] if len(names) == 1 else "data"
    number = getattr(path[0], "idx", None)
    first = names[number] if number is not None and number < len(names) else f"data{keystr(path[:1])}"
    keys = [str(getattr(one, "key", getattr(one, "idx", one))) for one in path[1:]]
    return ".".join([first, *keys])


class _Blanks(TorchDispatchMode):
    """Notes which tensors are made empty or of zeros and are written by nothing else."""

    def __init__(self) -> None:
        super().__init__()
        self._zero: dict[int, tuple[bool, Any]] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Let the operation happen, and note what it makes or writes."""
        given = kwargs or {}
        name = str(func._schema.name).rpartition("::")[2]
        found = func(*args, **given)
        if name in {"empty", "empty_like", "empty_strided", "new_empty", "zeros", "zeros_like", "new_zeros"}:
            self._zero[_storage(found)] = "zeros" in name, found
        elif func._schema.is_mutable:
            for number, one in enumerate(func._schema.arguments):
                if one.alias_info is not None and one.alias_info.is_write:
                    self._note_written(name, args[number] if number < len(args) else given.get(one.name))
        return found

    def _note_written(self, name: str, value: Any) -> None:
        for one in tree_leaves(value):
            if not isinstance(one, torch.Tensor):
                continue
            made = self._zero.pop(_storage(one), None)
            if made is not None and name == "zero_" and one.numel() == made[1].numel():
                self._zero[_storage(one)] = True, made[1]

    def place_of(self, value: Any) -> Any:
        """Return what stands for a member: a blank, a place for a tensor, or the value itself."""
        if not isinstance(value, torch.Tensor):
            return value
        made = self._zero.get(_storage(value))
        if made is None:
            return _TENSOR
        return _Blank(tuple(map(int, value.shape)), tuple(map(int, value.stride())), value.dtype, made[0])


def _storage(tensor: Any) -> int:
    return int(tensor.untyped_storage()._cdata)


class _OnDevice(TorchFunctionMode):
    """Makes and moves tensors on one device where a file says CUDA."""

    def __init__(self, device: str) -> None:
        super().__init__()
        self._device = device

    def __torch_function__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        given = dict(kwargs or {})
        if getattr(func, "__name__", "") == "cuda" and args:
            return args[0].to(self._device)
        if "device" in given:
            given["device"] = self.named(given["device"])
        return func(*(self.named(one) if isinstance(one, str | torch.device) else one for one in args), **given)

    def named(self, device: Any) -> Any:
        """Return the device that a file's name for one means here."""
        return self._device if str(device).partition(":")[0] == "cuda" else device


_GENERATOR = torch.Generator


class _IsGenerator(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, _GENERATOR)


@contextmanager
def _on(device: str) -> Iterator[None]:
    """Everything that names CUDA inside is on this device."""
    here = _OnDevice(device)

    class Generator(metaclass=_IsGenerator):
        def __new__(cls, device: Any = "cpu") -> Any:
            return _GENERATOR(device=here.named(device))

    with here, mock.patch.object(torch, "Generator", Generator):
        yield
