"""Which types a matrix instruction of machine code multiplies: SASS spells them in its family and its modifiers."""

from __future__ import annotations

import re
from collections.abc import Iterable

from kopt_kb.analysis.ir.machine.model import IsaScan
from kopt_kb.analysis.ir.machine.multiplied import multiplied
from kopt_kb.problem.dtypes import DTYPES

__all__ = ["executed_types", "operand_types"]

_FAMILY = re.compile(r"(?:UTC)?([A-Z])G?MMA$")
_BY_LETTER = {"D": ("fp64",), "Q": ("fp8", "fp6", "fp4"), "O": ("fp4", "nvfp4", "mxfp4"), "B": ("int1",)}
"""Letter before MMA to what it may multiply; halves and integers say more in their modifiers."""


def operand_types(instruction: str) -> tuple[str, ...]:
    """Return the types that an instruction may multiply, as far as its spelling tells; () where unknown.

    >>> operand_types("HMMA.1688.F32.TF32"), operand_types("IMMA.16832.S8.S8")
    (('tf32',), ('int8',))
    """
    family, *modifiers = instruction.split(".")
    match = _FAMILY.fullmatch(family)
    if match is None:
        return multiplied(instruction)
    letter, said = match[1], set(modifiers)
    if letter == "H" and family.startswith("UTC"):  # the descriptor says which type of 16 bits, or tf32
        return ("fp16", "bf16", "tf32")
    if letter == "H":
        return ("tf32",) if "TF32" in said else ("bf16",) if "BF16" in said else ("fp16",)
    if letter == "I":
        return ("int4",) if said & {"S4", "U4"} else ("int8",)
    return _BY_LETTER.get(letter, ())


def executed_types(scans: Iterable[IsaScan]) -> tuple[str, ...] | None:
    """Return every type that the matrix instructions of some kernels may multiply, each once.

    Empty without such an instruction; None where one of them is not known, or there is nothing to read.
    """
    found: dict[str, None] = {}
    kernels = tuple(scans)
    for spelling in (one for scan in kernels for one in scan.matrix_shapes):
        types = operand_types(spelling)
        if not types or not set(types) <= DTYPES.keys():
            return None
        found |= dict.fromkeys(types)
    return tuple(found) if kernels else None
