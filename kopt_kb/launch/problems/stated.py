"""A problem stated by a table: named inputs with shapes of named dimensions, and a function that is the reference.

A `problem.toml` is such a table, and so are the definitions of public benchmarks.
"""

from __future__ import annotations

import base64
import inspect
import zlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import ModuleType
from typing import Any

import torch

from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import JSON, read
from kopt_kb.launch.problems.adapted import (
    KEYWORDS,
    Adapted,
    Places,
    entry_of,
    refuse_shape,
    seeded,
    takes,
    torch_dtype,
)
from kopt_kb.problem.shapes import Shape, parse_shape
from kopt_kb.problem.table import ProblemTable, RecordedTensor, StatedTensor, Workload

__all__ = ["Stated"]

_HIGH = 128
"""Above integers that nobody says more of: a range that indexes most things."""


class Stated(Adapted):
    """A problem of a table.

    Args:
        file: Names of the Python file with the reference.
        table: A `ProblemTable` as JSON.
    """

    def __init__(self, file: Mapping[str, object], table: JSON) -> None:
        self._table = read(ProblemTable, table, where="the problem's table")
        self.op = self._table.name
        self._function: Any = file[self._table.reference]
        self._make: Any = file.get(self._table.make_inputs)
        self._custom: Any = file.get(self._table.custom)
        self._places: dict[tuple[Shape, ...], Places] = {}
        self._last = Places((), ())

    # ---- inputs --------------------------------------------------------------------------------

    def make_inputs(self, shape: Shape, dtype: str, device: str = "cuda", seed: int = 0) -> tuple[Any, ...]:
        """Return the tensors of a workload, from a seed; scalars are kept beside them."""
        workload = self._workload(tuple(shape))
        if self._make is not None:
            given = list(self._made(tuple(shape), dtype, device, seed))
            names = [one.name for one in takes(self._function)][: len(given)]
            names += [f"input{number}" for number in range(len(names), len(given))]
        else:
            names = [one.name for one in self._table.inputs]
            given = self._drawn(tuple(shape), workload, dtype, device, seed)
        found = {name: one for name, one in zip(names, given, strict=True) if isinstance(one, torch.Tensor)}
        self.names = tuple(found)
        self._last = self._places[_shapes(tuple(found.values()))] = Places(given, tuple(shape))
        return tuple(found.values())

    def _made(self, shape: Shape, dtype: str, device: str, seed: int) -> Sequence[Any]:
        seeded(seed)
        keywords = {"device": device, "seed": seed}
        known = set(inspect.signature(self._make).parameters)
        made = self._make(shape, dtype, **{name: one for name, one in keywords.items() if name in known})
        return made if isinstance(made, tuple | list) else (made,)

    def _drawn(self, shape: Shape, workload: Workload, dtype: str, device: str, seed: int) -> list[Any]:
        seeded(seed)
        dims, scalars = self._table.dims(shape), dict(workload.scalars)
        made = dict(self._custom({**dims, **scalars}, torch.device(device))) if self._custom is not None else {}
        given: list[Any] = []
        for at, one in enumerate(self._table.inputs):
            name = one.name
            if name in scalars:
                given.append(scalars[name])
            elif name in workload.held:
                given.append(_held(workload.held[name], device))
            elif name in made:
                given.append(made[name])
            else:
                generator = torch.Generator(device=device).manual_seed(seed ^ zlib.crc32(f"{at} {name}".encode()))
                kind = torch_dtype(one.dtype or dtype, name)
                given.append(_draw(one, one.extents(dims), kind, device, generator))
        return given

    def _workload(self, shape: Shape) -> Workload:
        known = self._table.workloads
        for text, found in known.items():
            if parse_shape(text) == shape:
                return found
        raise refuse_shape(self.op, shape, [parse_shape(text) for text in known])

    # ---- calls ---------------------------------------------------------------------------------

    def result(self, inputs: Sequence[Any]) -> object:
        """Return what the reference gives."""
        return self.called(self._function, inputs)

    def called(self, function: Callable[..., Any], inputs: Sequence[Any]) -> object:
        """Return what a function gives for these tensors and the workload's scalars, in the order of the table."""
        return function(*self._of(inputs).filled(inputs))

    def _of(self, inputs: Sequence[Any]) -> Places:
        """Return the arguments of the workload that tensors of such shapes are of."""
        return self._places.get(_shapes(inputs), self._last)

    def target(self, module: ModuleType) -> Callable[..., Any]:
        """Return a call of a candidate's function: one that returns its results, or is given tensors to write."""
        function = entry_of(module, self._table.entry)
        places = [one for one in takes(function) if one.default is one.empty]
        named = tuple(one.name for one in takes(function) if one.name in KEYWORDS and one.default is not one.empty)
        outputs = self._table.outputs

        def run(*inputs: Any, **options: Any) -> Any:
            own = self._of(inputs)
            if not outputs or len(places) != own.count + len(outputs):
                return self.called(partial(function, **options), inputs)
            dims = self._table.dims(own.shape)
            out = [self._empty(one, dims, inputs[0].device) for one in outputs]
            function(*own.filled(inputs), *out)
            return tuple(out)

        run.keywords = named  # type: ignore[attr-defined] # read by whoever calls it
        return run

    def _empty(self, spec: StatedTensor, dims: Mapping[str, int], device: Any) -> Any:
        if spec.shape is None:
            raise BadInput(f"the output {spec.name} is no tensor", where=self.op, fix="return it", code="KB447")
        return torch.empty(spec.extents(dims), dtype=torch_dtype(spec.dtype or self._table.dtype), device=device)


def _shapes(tensors: Sequence[Any]) -> tuple[Shape, ...]:
    return tuple(tuple(map(int, one.shape)) for one in tensors)


def _held(held: RecordedTensor, device: str) -> Any:
    raw = bytearray(base64.b64decode(held.data))
    flat = torch.frombuffer(raw, dtype=torch.uint8) if raw else torch.empty(0, dtype=torch.uint8)
    return flat.view(torch_dtype(held.dtype)).reshape(held.shape).to(device)


def _draw(spec: StatedTensor, shape: Shape, dtype: torch.dtype, device: str, generator: Any) -> Any:
    """Return one random tensor, in the strides that the table declares."""
    values = _values(spec, shape, dtype, device, generator)
    if spec.strides is None:
        return values
    spread = torch.empty_strided(shape, spec.strides, dtype=dtype, device=device)
    return spread.copy_(values)


def _values(spec: StatedTensor, shape: Shape, dtype: torch.dtype, device: str, generator: Any) -> Any:
    if dtype is torch.bool:
        return torch.randint(0, 2, shape, generator=generator, device=device).bool()
    if not dtype.is_floating_point:
        low, high = int(spec.low or 0), _HIGH if spec.high is None else int(spec.high)
        return torch.randint(low, high, shape, generator=generator, device=device).to(dtype)
    if spec.draw in {"zeros", "ones"}:
        return torch.full(shape, float(spec.draw == "ones"), device=device).to(dtype)
    if spec.draw == "uniform":
        drawn = torch.rand(shape, generator=generator, device=device)
        low_f, high_f = float(spec.low or 0.0), 1.0 if spec.high is None else float(spec.high)
        return (drawn * (high_f - low_f) + low_f).to(dtype)
    drawn = _FORMS[spec.draw](torch.randn(shape, generator=generator, device=device))
    return drawn.clamp(-2.0, 2.0).to(dtype) if dtype.itemsize == 1 else drawn.to(dtype)


_FORMS: Mapping[str, Callable[[Any], Any]] = {
    "normal": lambda drawn: drawn,
    "positive": lambda drawn: drawn.abs() + 0.1,
    "weight": lambda drawn: drawn / max(drawn.shape[-1] if drawn.ndim else 1, 1) ** 0.5,
    "scale": lambda drawn: 1.0 + 0.1 * drawn,
    "angle": torch.sin,
}
