"""Tensor maps (TMA descriptors) among a header's arguments: `map a [BM, 64] of [B*S, D] swizzle 128`.

A kernel that copies tiles by TMA takes a `CUtensorMap` by value; whoever replays encodes it. The header names the
tensor, the box that one copy moves (as the kernel's instructions move it, the last extent dense), if need be another
shape over the same elements, and the swizzle in bytes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping

from kopt_kb.launch.record.model import TensorMapArg, TensorView

__all__ = ["map_of", "map_tensor"]

_MAP = re.compile(
    r"map\s+(?P<name>[A-Za-z_]\w*)\s*\[(?P<box>[^\[\]]+)\](?:\s*of\s*\[(?P<shape>[^\[\]]+)\])?"
    r"\s+swizzle\s+(?P<swizzle>0|32|64|128)"
)
_SWIZZLES = {"0": 0, "32": 1, "64": 2, "128": 3}
"""Bytes → CUtensorMapSwizzle (CUDA driver API, "Tensor Map Object Management")."""
_TYPES = {
    "u8": 0, "i8": 0, "fp8e4nv": 0, "fp8e5": 0, "i1": 0, "i16": 1, "i32": 3, "i64": 5, "fp16": 6, "fp32": 7, "fp64": 8,
    "bf16": 9,
}  # fmt: skip
"""Triton's word for an element → CUtensorMapDataType."""


def map_tensor(text: str) -> str:
    """Return the tensor that an argument `map …` names; empty when it is no such argument."""
    found = _MAP.fullmatch(text.strip())
    return found["name"] if found else ""


def map_of(text: str, tensors: Mapping[str, TensorView], value: Callable[[str], int]) -> TensorMapArg:
    """Return the tensor map of an argument `map …`.

    Args:
        text: As the header has it; `map_tensor` knows it.
        tensors: Name → where it lies.
        value: Puts numbers into an expression.

    Raises:
        ValueError: The other shape has more or fewer elements, or the box another rank.
    """
    match = _MAP.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is no tensor map; such as map a [BM, 64] swizzle 128")
    whole = tensors[match["name"]]
    box = tuple(value(one.strip()) for one in match["box"].split(","))
    shape = tuple(value(one.strip()) for one in match["shape"].split(",")) if match["shape"] else whole.shape
    if math.prod(shape) != math.prod(whole.shape):
        raise ValueError(f"{text!r}: {match['name']} has {math.prod(whole.shape)} elements, {list(shape)} others")
    if len(box) != len(shape):
        raise ValueError(f"{text!r}: a box of {len(box)} extents for {len(shape)} dimensions")
    strides = tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))
    view = TensorView(whole.buffer, whole.offset, shape, strides, whole.dtype)
    return TensorMapArg(view, box, _TYPES.get(whole.dtype, 0), _SWIZZLES[match["swizzle"]], name=text)
