"""Kernel arguments as a user writes them: `fp16[4096,4096]`, `fp16[512,512;block=64,64]`, `4096`, `0.5`."""

from __future__ import annotations

import ast
import re

from kopt_kb.errors import BadInput
from kopt_kb.kernels.launch_case import Scalar, TensorSpec

__all__ = ["parse_argument"]

_TENSOR = re.compile(r"([A-Za-z][\w.]*)\[([\d,\s]*)((?:;\s*\w+\s*=[\d,\s-]+)*)\]")
_WORDS: dict[str, Scalar] = {"true": True, "false": False, "none": None}
_FORMS = "write DTYPE[SHAPE], DTYPE[SHAPE;strides=…;block=…], a number, true, false or none"


def parse_argument(text: str) -> TensorSpec | Scalar:
    """Return the tensor or scalar that the text describes; raises `BadInput` with the forms."""
    text = text.strip()
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if found := _TENSOR.fullmatch(text):
        return _tensor(found, text)
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        value = None
    if isinstance(value, int | float):
        return value
    raise BadInput(f"{text!r} is no kernel argument", where="argument", fix=_FORMS, code="KB078")


def _tensor(found: re.Match[str], text: str) -> TensorSpec:
    extras = dict(part.split("=", 1) for part in found[3].replace(" ", "").split(";") if part)
    if unknown := set(extras) - {"strides", "block"}:
        raise BadInput(f"unknown {', '.join(sorted(unknown))} in {text!r}", where="argument", fix=_FORMS, code="KB078")
    strides, block = (_numbers(extras[name]) if name in extras else None for name in ("strides", "block"))
    return TensorSpec(_numbers(found[2]), found[1], strides, block)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(one) for one in text.split(",") if one.strip())
