"""What is asked of a problem's reference file, and what it answers: plain data, without torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kopt_kb.base.wire import Wire
from kopt_kb.problem.counts import ByteCount, FlopCount, SpecialCount

__all__ = ["Described", "OneShape", "ReferenceRequest", "TensorLayout"]


@dataclass(frozen=True, slots=True)
class ReferenceRequest(Wire):
    """A reference file, its shapes (none: its own), its storage type, and `tf32` where products of fp32 round to it."""

    file: str
    shapes: tuple[tuple[int, ...], ...]
    dtype: str
    compute: str = "storage"


@dataclass(frozen=True, slots=True)
class TensorLayout(Wire):
    """One tensor by name and layout, dtype in this project's or torch's name."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    strides: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class OneShape(Wire):
    """What one shape comes to.

    Attributes:
        shape: Its dimensions.
        inputs: Tensors of the problem.
        outputs: Its results.
        flops: Useful operations, as counted.
        special: Special functions.
        bytes: Distinct bytes of what is read and written.
        uncounted: Operations without a formula, with how often they ran.
        fake: Whether it was counted on tensors without memory.
        note: What was decided while counting.
        stored: The one float type of the inputs as the problem's own code makes them; empty where there are several.
    """

    shape: tuple[int, ...]
    inputs: tuple[TensorLayout, ...]
    outputs: tuple[TensorLayout, ...]
    flops: tuple[FlopCount, ...]
    special: tuple[SpecialCount, ...]
    bytes: tuple[ByteCount, ...]
    uncounted: Mapping[str, int] = field(default_factory=dict)
    fake: bool = True
    note: str = ""
    stored: str = ""


@dataclass(frozen=True, slots=True)
class Described(Wire):
    """What was found, or why nothing was: an error's code, what and fix."""

    shapes: tuple[OneShape, ...] = ()
    cause: str = ""
    what: str = ""
    fix: str = ""
