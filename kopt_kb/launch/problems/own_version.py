"""A launcher that has no reference besides itself: the version given says what is right, on whatever contents.

Another version of it is right where it gives the same results within the rounding of their types. An autotuned kernel
takes the first of its configurations that the device takes, as in its record, and times none.
"""

from __future__ import annotations

import inspect
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

import torch

from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import JSON, read
from kopt_kb.launch.compile.loader import imported
from kopt_kb.launch.problems.adapted import tensors_of
from kopt_kb.launch.problems.called import CalledTable
from kopt_kb.launch.problems.stated import Stated
from kopt_kb.launch.record.model import Keywords
from kopt_kb.problem.shapes import Shape, parse_shape

__all__ = ["OwnVersion", "first_fitting"]

_WORDS = {"float.inf": math.inf, "float.-inf": -math.inf, "float.nan": math.nan}


_ROUNDINGS = 16
"""Unit roundoffs that a sum over a few thousand terms in another order may be off by."""


class OwnVersion(Stated):
    """A problem of one call.

    Args:
        file: Names of the file with the launcher.
        table: A `CalledTable` as JSON.
    """

    def __init__(self, file: Mapping[str, object], table: JSON) -> None:
        self._call = read(CalledTable, table, where="the call's table")
        super().__init__(file, self._call.table.to_json())
        self._file = str(file.get("__file__", ""))
        self._function = _of(file, self._call.table.entry, self._file)
        self._interpreted: Any = None

    def own_shape(self) -> Shape:
        """Return the one shape of the problem."""
        return next(parse_shape(one) for one in self._table.workloads)

    def called(self, function: Callable[..., Any], inputs: Sequence[Any]) -> object:
        """Return what a function gives for these tensors; arguments that it writes are results, and stay as they are.

        Of those that it only writes the contents are nobody's; of those that it reads first they are copied.
        """
        (workload,), tensors = self._table.workloads.values(), iter(inputs)
        names = [one.name for one in self._table.inputs]
        given = {one: _plain(workload.scalars[one]) if one in workload.scalars else next(tensors) for one in names}
        kept = {_storage(one) for one in inputs}
        given |= {name: torch.empty_like(given[name]) for name in self._call.written}
        given |= {name: given[name].clone() for name in self._call.changed}
        found = _with_names(function, given)
        results = () if self._call.returns else (*self._call.written, *self._call.changed)
        if results:
            return tuple(given[name] for name in results)
        # What a function hands back as it was given is no result of its own.
        return tuple(one for one in tensors_of(found) if _storage(one) not in kept)

    def result(self, inputs: Sequence[Any]) -> object:
        """Return what the version given does, on Triton's interpreter where the tensors are on the CPU."""
        function = self._function if inputs[0].is_cuda else self._on_cpu()
        with first_fitting():
            return self.called(function, inputs)

    def reference(self, *inputs: Any) -> Any:
        """Return its results in float64: what it computes in is its own."""
        given = tensors_of(super().published(*inputs))
        wide = tuple(one.double() if one.is_floating_point() else one for one in given)
        return wide[0] if len(wide) == 1 else wide

    def published(self, *inputs: Any) -> Any:
        """Return its results on inputs that differ by a few roundings of fp32.

        Where those are beyond the tolerance, another order of summation may be, too: such inputs say nothing of another
        version (a row of equal elements, whose deviation from its mean is nothing but rounding).
        """
        return super().published(*(_rounded_otherwise(one) for one in inputs))

    def target(self, module: ModuleType) -> Callable[..., Any]:
        """Return a call of another version: the function of the same name in its file."""
        function = _of(vars(module), self._table.entry, str(module.__file__))

        def run(*inputs: Any) -> Any:
            with first_fitting():
                return self.called(function, inputs)

        run.keywords = ()  # type: ignore[attr-defined] # read by whoever calls it
        return run

    def _on_cpu(self) -> Callable[..., Any]:
        """Return the launcher of the same file, imported again with kernels that Triton interprets."""
        if self._interpreted is None:
            with mock.patch.dict(os.environ, {"TRITON_INTERPRET": "1"}):
                self._interpreted = imported("_kopt_interpreted", Path(self._file))
        return _of(vars(self._interpreted), self._table.entry, self._file)


def _rounded_otherwise(tensor: torch.Tensor) -> torch.Tensor:
    """Return a tensor of fp32 with each element moved by `_ROUNDINGS` up or down; others as they are."""
    if tensor.dtype is not torch.float32:
        return tensor
    chance = torch.Generator(device=tensor.device).manual_seed(tensor.numel())
    drawn = torch.rand(tensor.shape, device=tensor.device, generator=chance)
    return torch.where(drawn < 0.5, tensor * (1 - _ROUNDINGS * 2**-24), tensor * (1 + _ROUNDINGS * 2**-24))


def _storage(tensor: torch.Tensor) -> int:
    return int(tensor.untyped_storage()._cdata)


def _of(file: Mapping[str, object], entry: str, where: str) -> Callable[..., Any]:
    """Return a function by its name, which may stand in a class; raises `BadInput` where there is none."""
    first, *inner = entry.split(".")
    found: Any = file.get(first)
    for one in inner:
        found = getattr(found, one, None)
    if not callable(found):
        raise BadInput(f"the file has no function {entry}", where=where, fix="the call names it", code="KB447")
    return found  # type: ignore[no-any-return] # an attribute of whatever stands there


def _with_names(function: Callable[..., Any], given: Keywords) -> object:
    """Call a function by its parameters' names; `apply` of an autograd function takes places alone."""
    owner = getattr(function, "__self__", None)
    if isinstance(owner, type) and issubclass(owner, torch.autograd.Function):
        kind: Any = owner
        names = [one for one in inspect.signature(kind.forward).parameters.values() if one.name != "ctx"]
        places = [given.get(one.name, one.default) for one in names]
        while places and places[-1] is inspect.Parameter.empty:
            places.pop()
        return function(*places)
    return function(**given)


def _plain(value: Any) -> Any:
    """Return an argument as Python has it: what JSON lacks is written as words."""
    if isinstance(value, list):
        return tuple(value)
    if isinstance(value, str) and value.startswith("torch."):
        return getattr(torch, value.removeprefix("torch."))
    return _WORDS.get(value, value) if isinstance(value, str) else value


@contextmanager
def first_fitting() -> Iterator[None]:
    """Have autotuned kernels take their first configuration that fits, and time none.

    While launches are recorded the recorder chooses, by the same rule.
    """
    from triton.runtime.autotuner import Autotuner, OutOfResources  # where there is no Triton, calls are described too

    def run(tuner: Any, *args: Any, **kwargs: Any) -> Any:
        return _run_first(tuner, args, kwargs, OutOfResources)

    is_plain = str(Autotuner.run.__module__).startswith("triton.")
    with mock.patch.object(Autotuner, "run", run) if is_plain else nullcontext():
        yield


def _run_first(tuner: Any, args: Sequence[Any], kwargs: Keywords, too_much: type[Exception]) -> Any:
    refused: Exception | None = None
    for config in _kept(tuner, args, kwargs):
        tuner.best_config = config
        if config.pre_hook is not None:
            config.pre_hook({**dict(zip(tuner.arg_names, args, strict=False)), **kwargs, **config.all_kwargs()})
        try:
            return tuner.fn.run(*args, **kwargs, **config.all_kwargs())
        except too_much as error:
            refused = refused or error
    raise refused or RuntimeError("the kernel prunes all of its configurations")


def _kept(tuner: Any, args: Sequence[Any], kwargs: Keywords) -> Iterator[Any]:
    """Yield the configurations that the kernel's own rule leaves, all of them where it leaves none."""
    rule = getattr(tuner, "early_config_prune", None)
    tuner.nargs = dict(zip(tuner.arg_names, args, strict=False))
    kept = {id(one) for one in rule(list(tuner.configs), tuner.nargs, **kwargs)} if rule is not None else set()
    yield from [one for one in tuner.configs if id(one) in kept] or tuner.configs
