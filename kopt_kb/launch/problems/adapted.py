"""What every form of a problem is made into: inputs from a seed, a float64 reference, a call of a candidate.

A reference file made of a foreign problem ends in one of these.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import FunctionType, ModuleType
from typing import Any

import torch

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.problems.one_float import in_one_float, with_floats
from kopt_kb.problem.dtypes import FORMATS, format_of
from kopt_kb.problem.shapes import Shape, format_shape

__all__ = [
    "KEYWORDS",
    "Adapted",
    "Places",
    "entry_of",
    "refuse_shape",
    "seeded",
    "stored_in",
    "takes",
    "tensors_of",
    "torch_dtype",
]

KEYWORDS = ("out", "config")
"""What the `launch` of a kernel file may take besides tensors: where to write, and tuning values."""

_ENTRIES = ("launch", "run", "custom_kernel", "solution")
_STORAGE = {one.dtype: one.torch for one in reversed(FORMATS)}


def torch_dtype(name: str, where: str = "") -> torch.dtype:
    """Return torch's type of a name in any spelling; raises `BadInput` for one that torch lacks."""
    known = format_of(_STORAGE.get(name, name))
    if known is None:
        raise BadInput(f"unknown dtype {name!r}", where=where, fix="give one that torch has", code="KB061")
    found: torch.dtype = getattr(torch, known.torch)
    return found


class Places:
    """The arguments of a call in order: scalars as they are, places for tensors.

    Args:
        given: Arguments of one call, whose tensors are not kept.
        shape: Of the problem.
    """

    def __init__(self, given: Sequence[Any], shape: Shape) -> None:
        self.shape = shape
        self._given = [_TENSOR if isinstance(one, torch.Tensor) else one for one in given]

    @property
    def tensors(self) -> int:
        """How many of them are tensors."""
        return sum(one is _TENSOR for one in self._given)

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self._given)

    def filled(self, tensors: Sequence[Any]) -> tuple[Any, ...]:
        """Return the arguments with these tensors in their places."""
        left = iter(tensors)
        return tuple(next(left) if one is _TENSOR else one for one in self._given)


_TENSOR = object()


def seeded(seed: int) -> None:
    """Make all that torch draws from here on follow from a seed."""
    torch.manual_seed(seed)


def tensors_of(result: object) -> tuple[Any, ...]:
    """Return the tensors of a result: one, or several in a tuple, list or mapping, in order."""
    if isinstance(result, torch.Tensor):
        return (result,)
    values = result.values() if isinstance(result, Mapping) else result if isinstance(result, tuple | list) else ()
    return tuple(one for one in values if isinstance(one, torch.Tensor))


def entry_of(module: ModuleType, wanted: str = "") -> Callable[..., Any]:
    """Return the function of a candidate's file that is to be called: by name, a usual name, or the only one.

    Raises:
        BadInput: There is none, or several could be meant.
    """
    names = (wanted,) if wanted else _ENTRIES
    for name in names:
        found = getattr(module, name, None)
        if callable(found):
            return found  # type: ignore[no-any-return] # a module's attribute
    where = str(module.__file__)
    if wanted:
        raise BadInput(f"the file has no function {wanted}", where=where, fix="the problem names it", code="KB447")
    own = [
        value
        for name, value in vars(module).items()
        if isinstance(value, FunctionType) and value.__module__ == module.__name__ and not name.startswith("_")
    ]
    if len(own) == 1:
        return own[0]
    found_names = ", ".join(one.__name__ for one in own) or "none"
    raise BadInput(
        f"which function is to be called is not clear: the file has {found_names}",
        where=where,
        fix=f"call it {_ENTRIES[0]}",
        code="KB447",
    )


class Adapted(ABC):
    """One problem in the form that judges know; each source of problems fills in what its files say.

    Attributes:
        op: Name of the problem.
        names: Names of the tensors that `make_inputs` returns.
        stored: The one float type that its own code made of them, in this project's name; empty: several, or stated.
    """

    op: str
    names: tuple[str, ...] = ()
    stored: str = ""

    @abstractmethod
    def make_inputs(self, shape: Shape, dtype: str, device: str = "cuda", seed: int = 0) -> tuple[Any, ...]:
        """Return the tensors of a shape, from a seed."""

    @abstractmethod
    def called(self, function: Callable[..., Any], inputs: Sequence[Any]) -> object:
        """Return what a function gives for tensors, with the arguments that are no tensors put in their places."""

    @abstractmethod
    def result(self, inputs: Sequence[Any]) -> object:
        """Return what the published reference gives, in whatever types are in force."""

    @abstractmethod
    def target(self, module: ModuleType) -> Callable[..., Any]:
        """Return a function of tensors that calls a candidate's file; `keywords` says if it takes `out` or `config`."""

    # ---- what judges call ----------------------------------------------------------------------

    def published(self, *inputs: Any) -> Any:
        """Return the reference's result as it was published: its own types, its own casts."""
        with torch.no_grad():
            return _plain(self.result(inputs))

    def reference(self, *inputs: Any) -> Any:
        """Return the result in float64: of one result a tensor, of several a tuple."""
        with torch.no_grad(), in_one_float(torch.float64):
            found = _plain(self.result(with_floats(inputs, torch.float64)))
        wide = tuple(one.double() for one in tensors_of(found))
        return wide[0] if len(wide) == 1 else wide

    def launcher(self, module: ModuleType) -> Callable[..., Any]:
        """Return a candidate as `launch` is called: with tensors, and with an output to write if there is one."""
        function = self.target(module)
        known = _keywords(function)

        def launch(*inputs: Any, out: Any = None, config: Mapping[str, object] | None = None) -> Any:
            asked = {"out": out, "config": config}
            given = {name: one for name, one in asked.items() if name in known and one is not None}
            found = _plain(function(*inputs, **given))
            return found if out is None or found is out else out.copy_(found)

        return launch

    def parts(self) -> tuple[Any, ...]:
        """Return what a reference file exports: OP, make_inputs, reference, published, launcher, INPUT_NAMES."""
        return self.op, self.make_inputs, self.reference, self.published, self.launcher, self


def _keywords(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return which of `out` and `config` a candidate takes, as whoever wraps it says, else by its signature."""
    said: tuple[str, ...] | None = getattr(function, "keywords", None)
    if said is not None:
        return said
    return tuple(one for one in KEYWORDS if one in {each.name for each in takes(function)})


def _plain(result: object) -> Any:
    tensors = tensors_of(result)
    if not tensors:
        raise BadInput("the result holds no tensor", where="reference", fix="return a tensor", code="KB447")
    return tensors[0] if len(tensors) == 1 else tensors


def refuse_shape(op: str, shape: Shape, known: Sequence[Shape]) -> BadInput:
    """Return the refusal of a shape that a problem does not have."""
    fix = f"its shapes are {', '.join(map(format_shape, known))}"
    return BadInput(f"the problem has no shape {format_shape(shape)}", where=op, fix=fix, code="KB102")


def takes(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """Return the named parameters of a function, none where they can't be known."""
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    return [one for one in found if one.kind not in {one.VAR_POSITIONAL, one.VAR_KEYWORD}]


def stored_in(tensors: Iterable[Any]) -> str:
    """Return the one float type of tensors; empty where there are several, or none."""
    floats = {str(one.dtype) for one in tensors if one.is_floating_point()}
    known = format_of(floats.pop()) if len(floats) == 1 else None
    return "" if known is None else known.dtype
