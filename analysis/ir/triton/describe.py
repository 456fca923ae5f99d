"""What a kernel of an IR text wants to be given: its parameters, and which of them a count depends on."""

from __future__ import annotations

from dataclasses import dataclass

from kopt_kb.analysis.ir.triton.model import Function, Module
from kopt_kb.analysis.ir.triton.plan import Mode, make_plan
from kopt_kb.base.wire import Wire

__all__ = ["IrParameter", "KernelDescription", "describe"]


@dataclass(frozen=True, slots=True)
class IrParameter(Wire):
    """One IR parameter.

    Attributes:
        index: Position, the key that `count_ir` takes; names may be changed by the compiler.
        name: The IR's name, without the percent sign.
        kind: `scalar`, `pointer` or `descriptor`.
        dtype: The wiki's dtype name of the scalar or of what is pointed at.
        block: A descriptor's block, else empty.
        required: True for numbers without which the mode refuses to count.
    """

    index: int
    name: str
    kind: str
    dtype: str
    block: tuple[int, ...]
    required: bool


@dataclass(frozen=True, slots=True)
class KernelDescription(Wire):
    """A kernel's name and parameters."""

    name: str
    parameters: tuple[IrParameter, ...]


def describe(module: Module, mode: Mode = "shape") -> tuple[KernelDescription, ...]:
    """Every public function of a module, with the arguments a count in this mode needs."""
    return tuple(_described(module, function, mode) for function in module.functions if function.public)


def _described(module: Module, kernel: Function, mode: Mode) -> KernelDescription:
    plan = make_plan(module, kernel, mode)
    found = []
    for index, (value, name) in enumerate(zip(kernel.parameters, kernel.parameter_names, strict=True)):
        kind = module.types[value]
        required = value in plan.required and kind.kind == "scalar" and not kind.is_float
        block = kind.shape if kind.kind == "descriptor" else ()
        found.append(IrParameter(index, name, kind.kind, kind.dtype, block, required))
    return KernelDescription(kernel.name, tuple(found))
