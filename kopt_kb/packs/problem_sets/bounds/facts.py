"""What a bound of a problem rests on, of no product: tensors that must move, products, operations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kopt_kb.base.wire import Wire

__all__ = ["FoundFacts", "InputFact", "OperationFact", "OutputFact", "ProblemFacts", "ProductFact", "TensorKind"]

TensorKind = Literal["input", "weight", "buffer"]


@dataclass(frozen=True, slots=True)
class InputFact(Wire):
    """A tensor that the problem is given.

    Attributes:
        name: As the problem's own code calls it.
        kind: `input` of a call; `weight` or `buffer` of the model, which exist before the clock starts.
        dtype: Its type as the problem's own code makes it.
        shape: Its extents.
        bytes: Of its elements.
        needed_bytes: That any correct answer has to read; 0 where that is not shown.
        basis: What `needed_bytes` rests on.
    """

    name: str
    kind: TensorKind
    dtype: str
    shape: tuple[int, ...]
    bytes: int
    needed_bytes: int
    basis: str


@dataclass(frozen=True, slots=True)
class OutputFact(Wire):
    """A tensor that any correct answer has to write; `needed_bytes` leaves out what is constant or repeated."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    bytes: int
    needed_bytes: int
    basis: str


@dataclass(frozen=True, slots=True)
class ProductFact(Wire):
    """A product of matrices in the reference.

    Attributes:
        shape: Batch, m, n, k.
        dtype: Type of its operands.
        times: How often it is computed.
        left_out: Why it has no least time of its own; empty where it has one.
    """

    shape: tuple[int, int, int, int]
    dtype: str
    times: int
    left_out: str = ""


@dataclass(frozen=True, slots=True)
class OperationFact(Wire):
    """What the operations of one name come to; `flops` by engine (`fp32 vector`), none without a formula."""

    name: str
    calls: int
    flops: dict[str, int]
    special: dict[str, int]
    is_counted: bool


@dataclass(frozen=True, slots=True)
class ProblemFacts(Wire):
    """A problem, of no product.

    Attributes:
        inputs: What it is given.
        outputs: What it gives.
        products: Its products of matrices.
        operations: Its work by operation.
        state_written_bytes: Running statistics that a call brings up to date.
        notes: What could not be shown.
    """

    inputs: tuple[InputFact, ...]
    outputs: tuple[OutputFact, ...]
    products: tuple[ProductFact, ...]
    operations: tuple[OperationFact, ...]
    state_written_bytes: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FoundFacts(Wire):
    """The answer for one file: its facts, or why there are none."""

    file: str
    facts: ProblemFacts | None = None
    cause: str = ""
    what: str = ""
