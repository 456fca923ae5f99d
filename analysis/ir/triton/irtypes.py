"""The types of Triton IR: scalars, pointers, tensors and tensor descriptors, with their sizes and dtype names."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from math import prod
from typing import Literal

from kopt_kb.problem.dtypes import DTYPES, FORMATS

__all__ = ["IrType", "parse_type", "split_top"]

TypeKind = Literal["scalar", "pointer", "tensor", "descriptor", "other"]

_DTYPE_OF_ELEMENT = {"i4": "int4", **{one.ir: one.dtype for one in reversed(FORMATS) if one.dtype in DTYPES}}

_BITS = re.compile(r"^(?:bf|f|i|si|ui|u)(\d+)")
_POINTER_BITS = 64
_OPEN, _CLOSE = "(<[{", ")>]}"


@dataclass(frozen=True, slots=True)
class IrType:
    """One IR type; `element` is the scalar's name, for pointers and tensors of pointers the pointee's.

    `shape` is empty for scalars; a descriptor's or block pointer's shape is its block.
    """

    kind: TypeKind
    element: str
    shape: tuple[int, ...] = ()
    of_pointers: bool = False
    lanes: int = field(init=False, default=1)

    def __post_init__(self) -> None:
        object.__setattr__(self, "lanes", prod(self.shape))

    @property
    def is_float(self) -> bool:
        """True for floating-point values; pointers to floats are not floats."""
        return not self.of_pointers and self.kind in ("scalar", "tensor") and self.element[0] in "fb"

    @property
    def bits(self) -> int:
        """Width of one element in bits; the pointee's width for pointers and descriptors."""
        match = _BITS.match(self.element)
        return int(match.group(1)) if match else _POINTER_BITS

    @property
    def itemsize_bytes(self) -> int:
        """Bytes one element takes in memory; an i1 is stored as a whole byte."""
        return max(1, self.bits // 8)

    @property
    def dtype(self) -> str:
        """The wiki's dtype name, for example `fp16`; the IR's own name where the wiki has none."""
        if self.element.startswith("f8"):
            return "fp8"
        return _DTYPE_OF_ELEMENT.get(self.element, self.element)

    def with_element(self, element: str) -> IrType:
        """The same shape over another scalar element, pointers dropped."""
        return IrType("tensor" if self.kind == "tensor" else "scalar", element, self.shape)

    def pointee(self) -> IrType:
        """What a load through this pointer, tensor of pointers or block pointer yields."""
        return IrType("tensor" if self.shape else "scalar", self.element, self.shape)


def split_top(text: str, separator: str = ",") -> list[str]:
    """Split at separators outside brackets; arrows must have been replaced by `→` before."""
    parts, depth, start = [], 0, 0
    for position, char in enumerate(text):
        if char in _OPEN:
            depth += 1
        elif char in _CLOSE:
            depth -= 1
        elif char == separator and depth == 0:
            parts.append(text[start:position].strip())
            start = position + 1
    last = text[start:].strip()
    return [*parts, last] if last or parts else []


def _shaped(inner: str) -> tuple[tuple[int, ...], str]:
    inner = split_top(inner)[0]
    dims: list[int] = []
    while (match := re.match(r"(\d+)x", inner)) is not None:
        dims.append(int(match.group(1)))
        inner = inner[match.end() :]
    return tuple(dims), inner


def _inside(text: str) -> str:
    return text[text.index("<") + 1 : text.rindex(">")]


@lru_cache(maxsize=4096)
def parse_type(text: str) -> IrType:
    """The type a piece of IR text names; `ValueError` with the text when it is none.

    Both spellings of descriptors are read: `!tt.tensordesc<tensor<128x64xf16>>` (triton 3.6) and
    `!tt.tensordesc<128x64xf16>` (triton 3.9).
    """
    text = text.strip()
    if text.startswith(("tensor<", "!ttg.memdesc<")):
        dims, element = _shaped(_inside(text))
        inner = parse_type(element)
        return IrType("tensor", inner.element, dims, of_pointers=inner.kind == "pointer")
    if text.startswith(("!tt.ptr<", "!tt.tensordesc<")):
        body = split_top(_inside(text))[0]
        shaped = body if body.startswith("tensor<") else f"tensor<{body}>"
        inner = parse_type(shaped)
        if text.startswith("!tt.ptr"):
            return IrType("pointer", inner.element, inner.shape, of_pointers=True)
        return IrType("descriptor", inner.element, inner.shape)
    if re.fullmatch(r"(?:b?f\d+\w*|[su]?i\d+|index|tf32)", text):
        return IrType("scalar", "i64" if text == "index" else text)
    if re.fullmatch(r"(?:![\w.]+(<.*>)?|none|token)", text):
        return IrType("other", text)
    raise ValueError(text)
