"""Kernel arguments as a user writes them: `fp16[4096,4096]`, `fp16[512,512;block=64,64]`, `4096`, `0.5`, `inf`.

Integers that steer the work (lengths, offsets, expert ids) stand behind a tensor: `int32[4]=0,100,300,512`, or in a
file of numbers, `int32[4]=@offsets.txt`.
"""

from __future__ import annotations

import ast
import math
import re

from kopt_kb.base.errors import BadInput
from kopt_kb.base.files import read_words
from kopt_kb.kernels.launch_case import Scalar, TensorSpec

__all__ = ["integers_below", "parse_argument", "parse_values"]

_TENSOR = re.compile(r"([A-Za-z][\w.]*)\[([\d,\s]*)((?:;\s*\w+\s*=[\d,\s-]+)*)\]")
_WORDS: dict[str, Scalar] = {
    "true": True, "false": False, "none": None, "inf": math.inf, "-inf": -math.inf, "nan": math.nan,
}  # fmt: skip
_FORMS = (
    "write fp16[64,128], fp16[64,128;strides=1,64;block=16,64], int32[3]=0,8,16, a number, inf, true, false or none"
)


def parse_argument(text: str) -> TensorSpec | Scalar:
    """Return the tensor or scalar that the text describes; raises `BadInput` with the forms."""
    text = text.strip()
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    layout, equals, values = text.partition("]=")
    if equals and (match := _TENSOR.fullmatch(layout + "]")):
        tensor = _tensor(match, text)
        given = parse_values(values, text)
        if not all(isinstance(one, int) for one in given):
            raise BadInput(f"{text[:80]!r} has values that are no integers", where="argument", fix=_FORMS, code="KB078")
        whole = tuple(int(one) for one in given)
        return TensorSpec(tensor.shape, tensor.dtype, tensor.strides, tensor.block_shape, whole)
    if match := _TENSOR.fullmatch(text):
        return _tensor(match, text)
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        value = None
    if isinstance(value, int | float):
        return value
    raise BadInput(f"{text!r} is no kernel argument", where="argument", fix=_FORMS, code="KB078")


def _tensor(match: re.Match[str], text: str) -> TensorSpec:
    extras = dict(part.split("=", 1) for part in match[3].replace(" ", "").split(";") if part)
    if unknown := set(extras) - {"strides", "block"}:
        raise BadInput(f"unknown {', '.join(sorted(unknown))} in {text!r}", where="argument", fix=_FORMS, code="KB078")
    strides, block = (_numbers(extras[name]) if name in extras else None for name in ("strides", "block"))
    return TensorSpec(_numbers(match[2]), match[1], strides, block)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(one) for one in text.split(",") if one.strip())


def integers_below(text: str) -> tuple[str, tuple[int, int] | None]:
    """Return an argument without the bound of its integers (`int64[4096]<1000`), and that: from 0 to below it."""
    layout, found, bound = text.partition("]<")
    if not found:
        return text, None
    if not bound.strip().isdigit() or int(bound) < 1:
        raise BadInput(f"{text!r} has no bound", where="argument", fix="such as int64[4096]<1000", code="KB078")
    return layout + "]", (0, int(bound))


def parse_values(text: str, whole: str) -> tuple[int | float, ...]:
    """Return numbers written one behind the other, or those of a file; raises `BadInput` for what is none."""
    words = read_words(text[1:]) if text.startswith("@") else text
    try:
        return tuple(_number(one) for one in re.split(r"[,\s]+", words.strip("[] \t\n")) if one)
    except ValueError:
        what = f"{whole[:80]!r} has values that are no numbers"
        raise BadInput(what, where="argument", fix="such as int32[3]=0,128,256", code="KB078") from None


def _number(word: str) -> int | float:
    return int(word) if word.lstrip("+-").isdigit() else float(word)
