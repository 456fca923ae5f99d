"""The parsed form of a TTIR module: functions, regions, blocks, operations and numbered values."""

from __future__ import annotations

from dataclasses import dataclass, field

from kopt_kb.analysis.ir.triton.irtypes import IrType
from kopt_kb.base.errors import BadInput

__all__ = ["Block", "Function", "IrError", "Module", "Op", "Region", "Successor"]


class IrError(BadInput):
    """Triton IR text, or the arguments given for it, that can't be used; names the line."""

    code = "KB041"


@dataclass(frozen=True, slots=True)
class Successor:
    """A branch target: the block's label and the values it passes."""

    label: str
    arguments: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Op:
    """One operation; values are numbers into `Module.types`.

    `detail` holds what the custom form says outside the attribute dictionary (predicate, axis, callee …);
    `literal` is the value of a constant.
    """

    name: str
    line: int
    operands: tuple[int, ...]
    results: tuple[int, ...]
    attributes: dict[str, str] = field(default_factory=dict)
    detail: dict[str, str] = field(default_factory=dict)
    regions: tuple[Region, ...] = ()
    successors: tuple[Successor, ...] = ()
    literal: object = None

    def integer(self, attribute: str, default: int = 0) -> int:
        """An integer attribute such as `axis = 1 : i32`."""
        text = self.attributes.get(attribute)
        return default if text is None else int(text.split(":")[0].strip())


@dataclass(frozen=True, slots=True)
class Block:
    """A label, its parameters and its operations."""

    label: str
    parameters: tuple[int, ...]
    ops: tuple[Op, ...]


@dataclass(frozen=True, slots=True)
class Region:
    """A list of blocks; the first one is the entry."""

    blocks: tuple[Block, ...]

    @property
    def entry(self) -> Block:
        """The block that control enters first."""
        return self.blocks[0]


@dataclass(frozen=True, slots=True)
class Function:
    """One `tt.func`: public functions are kernels, private ones are called by them."""

    name: str
    line: int
    public: bool
    parameters: tuple[int, ...]
    parameter_names: tuple[str, ...]
    body: Region


@dataclass(frozen=True, slots=True)
class Module:
    """A parsed TTIR text; `types[value]` and `names[value]` describe each numbered value."""

    file: str
    functions: tuple[Function, ...]
    types: tuple[IrType, ...]
    names: tuple[str, ...]

    def function(self, name: str) -> Function:
        """The function with this symbol name; `IrError` when the module has none."""
        for function in self.functions:
            if function.name == name:
                return function
        raise IrError(
            f"no function {name}",
            where=self.file,
            fix=f"it has {', '.join(f.name for f in self.functions)}",
            code="KB044",
        )

    def kernel(self, name: str | None = None) -> Function:
        """The named function, or the only public one; `IrError` when that is not one."""
        if name is not None:
            return self.function(name)
        public = [function for function in self.functions if function.public]
        if len(public) != 1:
            names = ", ".join(function.name for function in public) or "none"
            raise IrError(
                f"{len(public)} public functions: {names}", where=self.file, fix="name one with kernel=", code="KB044"
            )
        return public[0]
