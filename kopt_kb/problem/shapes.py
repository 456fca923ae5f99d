"""Shapes as people write them: `8192x4096` to a tuple of positive integers, with exact complaints."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kopt_kb.base.errors import BadInput

__all__ = ["MAX_DIM", "Shape", "ShapeError", "check_shape", "format_shape", "parse_shape"]

Shape = tuple[int, ...]

MAX_DIM = 2**63 - 1
"""Largest dimension accepted: the largest signed 64-bit index."""

_DIM = re.compile(r"\d{1,30}")


class ShapeError(BadInput):
    """A shape with a bad dimension or the wrong number of dimensions."""

    code = "KB063"


def parse_shape(text: str, form: str = "") -> Shape:
    """Return the dimensions of a shape written with `x` between them.

    >>> parse_shape("8192x4096")
    (8192, 4096)

    Raises:
        ShapeError: A part is not a positive whole number, the text is empty, or as `check_shape`.
    """
    parts = text.strip().lower().replace("×", "x").split("x")
    dims = []
    for part in parts:
        if not part.isascii() or not _DIM.fullmatch(part):
            what = "is empty" if not part else f"has {part!r}, which is not a positive whole number"
            raise ShapeError(f"shape {_short(text)} {what}", fix="write it like 8192x4096")
        dims.append(int(part))
    return check_shape(dims, form)


def check_shape(shape: Sequence[int], form: str = "") -> Shape:
    """Return the shape as a tuple if it fits the form (`MxN`; `...` at its end allows any rank).

    Raises:
        ShapeError: Wrong rank, a dimension below 1 or beyond 64-bit, or not an integer.
    """
    dims = tuple(shape)
    names = form.split("x") if form else []
    if names and names[-1] != "..." and len(dims) != len(names):
        raise ShapeError(
            f"shape {format_shape(dims)} has {len(dims)} dimensions, {form} has {len(names)}",
            fix=f"give {form}",
        )
    if not dims:
        raise ShapeError("the shape is empty", fix=f"give {form or 'at least one dimension, like 8192x4096'}")
    for index, dim in enumerate(dims):
        if isinstance(dim, bool) or not isinstance(dim, int):
            raise ShapeError(f"dimension {index} of the shape is {dim!r}, not a whole number", fix="give integers")
        if not 1 <= dim <= MAX_DIM:
            name = f" ({names[index]})" if index < len(names) and names[index] != "..." else ""
            raise ShapeError(
                f"dimension {index}{name} of {format_shape(dims)} is {dim}; it must be 1 to {MAX_DIM}",
                fix="give positive dimensions",
            )
    return dims


def format_shape(shape: Sequence[int]) -> str:
    """Return the shape as written on the command line: `8192x4096`."""
    return "x".join(str(dim) for dim in shape)


def _short(text: str, limit: int = 40) -> str:
    shown = text if len(text) <= limit else text[: limit - 1] + "…"
    return repr(shown)
