"""Which types a kernel's matrix instructions multiply: PTX and AMDGCN spell them in the instruction's name.

What the source multiplies is not always what runs: a part without fp8 units gets fp16 products of widened operands, one
without block-scaled units products of what was unpacked, and fp32 at full precision has no instruction on NVIDIA.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from kopt_kb.problem.dtypes import Engine

__all__ = ["executed_as", "multiplied"]

_FORM = re.compile(r"\b(cbsz|blgp):(\d)")
_TYPES = {
    "f16": "fp16", "bf16": "bf16", "bf16_1k": "bf16", "tf32": "tf32", "xf32": "tf32", "f32": "fp32", "f64": "fp64",
    "s8": "int8", "u8": "int8", "i8": "int8", "iu8": "int8", "s4": "int4", "u4": "int4", "iu4": "int4",
    "e4m3": "fp8", "e5m2": "fp8", "fp8": "fp8", "bf8": "fp8", "f8f6f4": "fp8", "b1": "int1",
}  # fmt: skip
_KINDS = {
    "f16": ("fp16", "bf16"), "tf32": ("tf32",), "f8f6f4": ("fp8",), "i8": ("int8",), "mxf8f6f4": ("mxfp8", "mxfp6"),
    "mxf4": ("mxfp4",), "mxf4nvf4": ("nvfp4", "mxfp4"),
}  # fmt: skip
"""What the kinds of `tcgen05.mma` and block-scaled `mma` multiply; f16 is said of both types of 16 bits."""
_SCALED_FORMS = {0: "mxfp8", 1: "mxfp8", 2: "mxfp6", 3: "mxfp6", 4: "mxfp4"}
"""Element formats that `cbsz` and `blgp` number (ISA documents of CDNA4, matrix formats)."""
_WIDTH = (
    "fp4", "mxfp4", "nvfp4", "fp6", "mxfp6", "int4", "mxfp8", "fp8", "int8", "fp16", "bf16", "tf32", "fp32", "fp64",
)  # fmt: skip
_INTEGERS = ("int4", "int8", "int32")


def multiplied(instruction: str) -> tuple[str, ...]:
    """Return the types that an instruction multiplies, the wider one where its operands differ; () when unknown."""
    if instruction.startswith("v_"):
        return _of_amd(instruction)
    parts = instruction.replace("kind:", "kind_").split(".")
    kind = next((one[5:].partition(":")[0] for one in parts if one.startswith("kind_")), "")
    if kind in _KINDS:
        return _KINDS[kind]
    types = [_TYPES[one] for one in parts if one in _TYPES]
    # wgmma names D, A and B; mma and wmma D, A, B and C, or D and C alone where all are of one type.
    inputs = types[1:3] if len(types) > 2 else types[:1]
    return (max(inputs, key=_WIDTH.index),) if inputs and all(one in _WIDTH for one in inputs) else ()


def _of_amd(instruction: str) -> tuple[str, ...]:
    name, _, formats = instruction.partition(" ")
    if "f8f6f4" in name:
        numbers = [int(number) for _, number in _FORM.findall(formats)] or [0]
        kinds = [_SCALED_FORMS.get(one, "mxfp8") for one in (*numbers, *([0] if len(numbers) < 2 else []))]
        wider = max(kinds, key=_WIDTH.index)
        return (wider if "scale" in name else wider.removeprefix("mx"),)
    words = name.removesuffix("_1k").split("_")
    inputs = [_TYPES[one] for one in words[3:] if one in _TYPES]
    return (max(inputs, key=_WIDTH.index),) if inputs else ()


def executed_as(dtype: str, engine: Engine, instructions: Sequence[str], *, known: bool) -> tuple[str, Engine, str]:
    """Return what runs of operations that the IR has, and by which instruction.

    Args:
        dtype: Type of the IR's operations.
        engine: Engine that the IR's operation is meant for.
        instructions: Matrix instructions of the machine code.
        known: Whether the machine code was read; without it nothing is changed.

    Returns:
        (type, engine, instruction; empty where nothing is known or it is no matrix instruction).
    """
    if engine != "matrix" or not known:
        return dtype, engine, ""
    offered = _offered(instructions)
    if dtype in offered:
        return dtype, "matrix", offered[dtype]
    integer = dtype in _INTEGERS
    wider = [
        one
        for one in offered
        if dtype in _WIDTH and _WIDTH.index(one) > _WIDTH.index(dtype) and integer == (one in _INTEGERS)
    ]
    if wider:
        best = min(wider, key=_WIDTH.index)
        return best, "matrix", offered[best]
    # Products that no matrix instruction does are fused multiply-adds of the accumulator's type.
    return ("int32" if integer else dtype if dtype == "fp64" else "fp32"), "vector", ""


def _offered(instructions: Iterable[str]) -> dict[str, str]:
    offered: dict[str, str] = {}
    for one in instructions:
        for dtype in multiplied(one):
            offered.setdefault(dtype, one)
    return offered
