"""The operations whose work is known in closed form: dimensions, options and what is counted, in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kopt_kb.base.wire import Wire
from kopt_kb.problem.ops import ALIASES, OPS, definition
from kopt_kb.problem.ops.definition import OpDefinition, Option, OptionValue

__all__ = ["Dimension", "Operation", "OperationOption", "Operations", "operations"]


@dataclass(frozen=True, slots=True)
class Dimension(Wire):
    """One size of a shape: its letter and what it counts; `...` stands for any number of further sizes."""

    name: str
    meaning: str


@dataclass(frozen=True, slots=True)
class OperationOption(Wire):
    """What else the counts depend on; `values` names what it takes."""

    name: str
    default: OptionValue
    values: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Operation(Wire):
    """One operation.

    Attributes:
        op: Its id.
        aliases: Other names.
        form: How a shape is written, `BxHxSxD`.
        dimensions: What each letter of the form is, in order.
        summary: What is computed.
        flops: What counts as an operation.
        bytes: Which bytes are compulsory.
        special: Which special functions are counted; empty for none.
        options: With their defaults.
    """

    WIRE: ClassVar = ("op", "aliases", "form", "dimensions", "summary", "flops", "bytes", "special", "options")
    op: str
    aliases: tuple[str, ...]
    form: str
    dimensions: tuple[Dimension, ...]
    summary: str
    flops: str
    bytes: str
    special: str
    options: tuple[OperationOption, ...]

    def __repr__(self) -> str:
        sizes = "; ".join(f"{one.name} {one.meaning}" for one in self.dimensions)
        return f"Operation({self.op} {self.form}: {sizes})"


@dataclass(frozen=True, slots=True)
class Operations(Wire):
    """All operations."""

    operations: tuple[Operation, ...]


def operations() -> tuple[Operation, ...]:
    """Return the operations that `work()` and `--op` know, in the order of their list."""
    return tuple(_operation(definition(one)) for one in OPS)


def _operation(found: OpDefinition) -> Operation:
    aliases = tuple(name for name, op in ALIASES.items() if op == found.id)
    sizes = tuple(Dimension(*pair) for pair in zip(found.form.split("x"), found.dimensions, strict=True))
    options = tuple(_option(one) for one in found.options)
    return Operation(
        found.id, aliases, found.form, sizes, found.summary, found.flops, found.bytes, found.special, options
    )


def _option(one: Option) -> OperationOption:
    kinds = {
        "int": f"a whole number of at least {one.minimum}",
        "bool": "true or false",
        "choice": " or ".join(one.choices),
        "dtype": "a type, or storage",
        "ints": "whole numbers with commas between them",
    }
    return OperationOption(one.name, one.default, kinds[one.kind], one.meaning)
