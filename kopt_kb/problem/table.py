"""A problem as a table: named tensors with extents of named dimensions, workloads, and functions to call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from kopt_kb.base.wire import JsonMap, Wire
from kopt_kb.problem.extents import whole_of
from kopt_kb.problem.shapes import Shape

__all__ = ["DRAWS", "Draw", "ProblemTable", "RecordedTensor", "StatedTensor", "Workload"]

Draw = Literal["normal", "uniform", "ones", "zeros", "positive", "weight", "scale", "angle"]
DRAWS: tuple[Draw, ...] = ("normal", "uniform", "ones", "zeros", "positive", "weight", "scale", "angle")
"""How a tensor of a floating type is drawn; `weight` over the root of its last extent, `angle` within ±1."""


@dataclass(frozen=True, slots=True)
class StatedTensor(Wire):
    """One tensor of a problem.

    Attributes:
        name: As the reference's parameter.
        shape: Extents: numbers, dimensions or expressions; None: a Python scalar.
        dtype: Any spelling; None: the storage type.
        draw: How it is drawn.
        low: Least value of integers and of `uniform`; None: 0.
        high: What integers stay below, and `uniform` too; None: 128, and 1.
        strides: Steps in elements; None: contiguous.
    """

    name: str
    shape: tuple[int | str, ...] | None
    dtype: str | None = None
    draw: Draw = "normal"
    low: int | float | None = None
    high: int | float | None = None
    strides: tuple[int, ...] | None = None

    def extents(self, dims: Mapping[str, int]) -> Shape:
        """Return the extents of a workload's tensor; raises `BadInput` for one that can't be computed."""
        return tuple(whole_of(one, dims, f"tensor {self.name}") for one in self.shape or ())


@dataclass(frozen=True, slots=True)
class RecordedTensor(Wire):
    """A recorded tensor: torch's type, extents, and bytes in base64."""

    dtype: str
    shape: tuple[int, ...]
    data: str


@dataclass(frozen=True, slots=True)
class Workload(Wire):
    """What a shape brings with it: Python scalars by name, and recorded tensors."""

    scalars: JsonMap = field(default_factory=dict)
    held: Mapping[str, RecordedTensor] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ProblemTable(Wire):
    """A whole problem.

    Attributes:
        name: Its name.
        form: Dimensions of a shape, in order.
        constants: Further dimensions: numbers, or expressions of those before them.
        inputs: Tensors and scalars in the order in which the reference takes them.
        outputs: Likewise its results; empty where nobody says.
        workloads: Shape, as written, to what belongs to it.
        dtype: Storage type.
        reference: Name of the function that computes it.
        custom: Name of a function of (dimensions and scalars, device) that makes some inputs; empty: none.
        make_inputs: Name of a function of (shape, dtype, device, seed) that makes all of them; empty: none.
        entry: Name of a candidate's function; empty: a usual one.
    """

    name: str
    form: tuple[str, ...]
    constants: Mapping[str, int | str]
    inputs: tuple[StatedTensor, ...]
    outputs: tuple[StatedTensor, ...]
    workloads: Mapping[str, Workload]
    dtype: str
    reference: str = "reference"
    custom: str = ""
    make_inputs: str = ""
    entry: str = ""

    def dims(self, shape: Shape) -> dict[str, int]:
        """Return dimensions by name; raises `BadInput` for a constant that can't be computed."""
        dims = dict(zip(self.form, shape, strict=False))
        for name, value in self.constants.items():
            dims[name] = whole_of(value, dims, f"axis {name}")
        return dims
