"""What becomes of padding lanes in arithmetic: folded, absorbed, passed through as an identity, or lost."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from kopt_kb.analysis.ir.triton.values import Bools, Node

__all__ = ["PaddingOutcome", "fold", "identity_of", "propagate"]

_INF = math.inf


@dataclass(frozen=True, slots=True)
class PaddingOutcome:
    """Padding of a result: its lanes and fill, the lanes where the operation did nothing, and lanes lost track of."""

    pad: Bools | None = None
    fill: float | None = None
    idle: Bools | None = None
    lost: Bools | None = None


def _exp(x: float) -> float:
    return math.exp(min(x, 700.0))


def _same(x: float) -> float:
    return x


_UNARY: dict[str, Callable[[float], float]] = {
    "arith.extf": _same,
    "arith.truncf": _same,
    "tt.fp_to_fp": _same,
    "math.exp": _exp,
    "math.exp2": lambda x: 2.0 ** min(x, 1000.0),
    "math.absf": abs,
    "arith.negf": lambda x: -x,
    "math.sqrt": lambda x: math.sqrt(x) if x >= 0 else math.nan,
    "math.tanh": math.tanh,
    "math.erf": math.erf,
    "math.sin": lambda x: math.sin(x) if math.isfinite(x) else math.nan,
    "math.cos": lambda x: math.cos(x) if math.isfinite(x) else math.nan,
}
_BINARY: dict[str, Callable[[float, float], float]] = {
    "arith.addf": lambda a, b: a + b,
    "arith.subf": lambda a, b: a - b,
    "arith.mulf": lambda a, b: a * b,
    "arith.divf": lambda a, b: a / b if b else math.nan,
    "arith.maxnumf": max,
    "arith.maximumf": max,
    "arith.minnumf": min,
    "arith.minimumf": min,
}
_IDENTITY = {
    "arith.addf": 0.0, "arith.mulf": 1.0, "arith.maxnumf": -_INF, "arith.maximumf": -_INF, "arith.minnumf": _INF,
    "arith.minimumf": _INF,
}  # fmt: skip


def identity_of(name: str) -> float | None:
    """The value that a combining operation passes over, for example 0 for addition."""
    return _IDENTITY.get(name)


def _absorbed(name: str, fill: float, left: bool) -> float | None:
    """The result when one operand is `fill` and the other any finite value; None when it depends on the other."""
    if name in ("arith.addf", "arith.subf") and math.isinf(fill):
        return fill if left or name == "arith.addf" else -fill
    if fill == 0.0 and (name == "arith.mulf" or (name == "arith.divf" and left)):
        return 0.0
    largest, smallest = ("arith.maxnumf", "arith.maximumf"), ("arith.minnumf", "arith.minimumf")
    if (name in largest and fill == _INF) or (name in smallest and fill == -_INF):
        return fill
    return None


def _passes(name: str, fill: float, left: bool) -> bool:
    if name in _IDENTITY:
        return fill == _IDENTITY[name]
    return not left and ((name == "arith.subf" and fill == 0.0) or (name == "arith.divf" and fill == 1.0))


def fold(name: str, values: Sequence[float | None]) -> float | None:
    """The result on known operands; None when an operand or the operation is not known."""
    known = [value for value in values if value is not None]
    return _fold(name, known) if len(known) == len(values) else None


def _fold(name: str, values: Sequence[float]) -> float | None:
    table = _UNARY.get(name) if len(values) == 1 else None
    if table is not None:
        return table(values[0])
    both = _BINARY.get(name) if len(values) == 2 else None
    return both(values[0], values[1]) if both is not None else None


def propagate(name: str, operands: Sequence[Node]) -> PaddingOutcome:
    """Padding of an elementwise result, from the padding of its operands (finite values assumed elsewhere)."""
    padded = [node for node in operands if node.pad is not None]
    if not padded:
        return PaddingOutcome()
    if any(node.pad is not None and node.fill is None for node in operands):
        # Undefined lanes stay undefined and mean no work.
        pad = _union([node.pad for node in padded])
        return PaddingOutcome(pad, None, pad)
    known = [node.fill if node.pad is not None else node.const for node in operands]
    if all(value is not None for value in known):
        return _all_known(name, operands, [float(value) for value in known if value is not None])
    if len(operands) == 2:
        return _one_varies(name, operands)
    return PaddingOutcome(lost=_union([node.pad for node in padded]))


def _union(masks: Sequence[Bools | None]) -> Bools:
    present = [mask for mask in masks if mask is not None]
    total = present[0]
    for mask in present[1:]:
        if mask is not total:
            total = total | mask
    return total


def _all_known(name: str, operands: Sequence[Node], values: list[float]) -> PaddingOutcome:
    padded = [node.pad for node in operands if node.pad is not None]
    both = padded[0]
    for mask in padded[1:]:
        both = both if mask is both else both & mask
    if len(padded) == 1 or all(mask is padded[0] for mask in padded):
        fill = _fold(name, values)
        return (
            PaddingOutcome(both, fill, both) if fill is not None and not math.isnan(fill) else PaddingOutcome(lost=both)
        )
    return _one_varies(name, operands)


def _one_varies(name: str, operands: Sequence[Node]) -> PaddingOutcome:
    """Both operands may vary; lanes where one is padding are absorbed, passed over, or lost."""
    absorbed: list[tuple[Bools, float]] = []
    idle: list[Bools] = []
    lost: list[Bools] = []
    for position, node in enumerate(operands):
        if node.pad is None or node.fill is None:
            continue
        result = _absorbed(name, node.fill, left=position == 0)
        if result is not None:
            absorbed.append((node.pad, result))
        elif _passes(name, node.fill, left=position == 0):
            idle.append(node.pad)
        else:
            lost.append(node.pad)
    return _assemble(name, operands, absorbed, idle, lost)


def _assemble(
    name: str, operands: Sequence[Node], absorbed: list[tuple[Bools, float]], idle: list[Bools], lost: list[Bools]
) -> PaddingOutcome:
    pads = [mask for mask, _ in absorbed]
    fills = {fill for _, fill in absorbed}
    pad, fill = (_union(pads), fills.pop()) if len(fills) == 1 else (None, None)
    if not absorbed and len(idle) == len(operands):
        # Identity on both sides: the lane still holds the identity.
        pad, fill = idle[0] & idle[1], _IDENTITY.get(name)
    quiet = [*idle, *([] if pad is None else [pad])]
    gone = lost if pad is not None or not pads else [*lost, *pads]
    missing = _union(gone) if gone else None
    if missing is not None and quiet:
        missing = missing & ~np.asarray(_union(quiet))
    return PaddingOutcome(pad, fill, _union(quiet) if quiet else None, missing)
