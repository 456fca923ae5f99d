"""How far a result is from its float64 reference: in norm, by block of a row, by element, and where it is infinite."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kopt_kb.base.errors import BadInput
from kopt_kb.problem.tolerances import Tolerance

__all__ = ["BLOCK", "BLOCK_SHARE", "ROUNDINGS", "Errors", "compare", "magnitude_of"]

BLOCK = 128
"""Elements of a row whose norm is judged on its own, so that one wrong tile of a large result shows."""

ROUNDINGS = 8
"""Roundings of fp32 at the size of the terms that any order of summation may cost; more shows as an error."""

BLOCK_SHARE = 1.5
"""Limit of a block, as a multiple of the whole result's: where one element dominates, no roundings average out."""

_CHUNK = 1 << 24
"""Elements that are compared at once: bounds what a comparison holds beside result and reference."""


@dataclass(frozen=True, slots=True)
class Errors:
    """Distance of a result from its reference.

    Attributes:
        rel_l2_err: ‖out − ref‖₂ / ‖ref‖₂ over all finite elements; infinite when the reference is zero and
            the result is not.
        nonfinite: Elements that are NaN or infinite where the reference is not, or the other way round.
        block_err: Largest ‖out − ref‖₂ / ‖ref‖₂ of a block of a row, less what rounding of its terms explains.
        block_at: Where that block begins, as an index.
        element_err: Largest |out − ref| as a share of the largest |ref| of its row, less likewise.
        element_at: Where that element is.
    """

    rel_l2_err: float
    nonfinite: int
    block_err: float = 0.0
    block_at: tuple[int, ...] = ()
    element_err: float = 0.0
    element_at: tuple[int, ...] = ()

    def failure(self, tolerance: Tolerance) -> str:
        """Return why the result is beyond the tolerance, or nothing when it is within."""
        if self.nonfinite:
            return f"{self.nonfinite} elements are NaN or infinite where the reference is not (or were never written)"
        limit = float(tolerance.rel_l2_err)
        # Where every block is right but for rounding of its terms, so is the whole.
        if not self.rel_l2_err <= limit and not self.block_err <= limit:
            return f"relative error {self.rel_l2_err:.3g} is above {limit:.3g}"
        if not self.block_err <= BLOCK_SHARE * limit:
            part = f"relative error {self.block_err:.3g} of the part at {_index(self.block_at)}"
            return f"{part} is above {BLOCK_SHARE * limit:.3g}"
        most = float(tolerance.max_abs_err_rel)
        if not self.element_err <= most:
            place = _index(self.element_at)
            return f"error of the element at {place} is {self.element_err:.3g} of its row's largest, above {most:.3g}"
        return ""


def _index(place: Sequence[int]) -> str:
    return "[" + ", ".join(map(str, place)) + "]"


def compare(out: Any, reference: Any, magnitude: Any = None) -> Errors:  # tensors: torch stays an optional import
    """Return how far a result is from its float64 reference of the same shape.

    Not every error is a fault: a sum of large terms that cancel can't be better than a rounding of the terms, and a
    number below a type's least normal one can't be better than its step. Both are taken from an error before it is
    judged. Where the reference is NaN or infinite, or too large for the result's type, the result has to be likewise.

    Args:
        out: The result.
        reference: float64.
        magnitude: Size of the terms that each element is a sum of, float64, in a shape that broadcasts; None: nobody
            knows it, and the largest element stands for all.

    Raises:
        BadInput: Shapes differ, or the reference is not float64.
    """
    if tuple(out.shape) != tuple(reference.shape):
        raise BadInput(f"the result has shape {tuple(out.shape)}, the reference {tuple(reference.shape)}", code="KB095")
    if str(reference.dtype) != "torch.float64":
        raise BadInput("the reference is not a float64 tensor", code="KB075")
    if not out.numel():
        return Errors(0.0, 0)
    return _Comparison(out, reference, magnitude).errors()


class _Comparison:
    """Goes over a result in chunks of rows and keeps sums and the worst places."""

    def __init__(self, out: Any, reference: Any, magnitude: Any) -> None:
        import torch

        self._shape = tuple(reference.shape)
        known = magnitude is not None
        # A vector of results holds one answer for each row: each is judged alone where the size of its terms is known.
        flat = reference.ndim < 2
        self._width = 1 if flat and known else reference.numel() if flat else self._shape[-1]
        self._out = out.reshape(-1, self._width)
        self._reference = reference.reshape(-1, self._width)
        self._magnitude = _rows_of(magnitude, self._shape, self._width) if known else None
        kind = torch.finfo(out.dtype) if out.dtype.is_floating_point else None
        wide = out.dtype == torch.float64
        self._roundoff = ROUNDINGS * (2.0**-53 if wide else 2.0**-24)
        # Machines may flush what fp32 can't hold as a normal number; a step of a narrower type is larger than that.
        least = torch.finfo(torch.float64 if wide else torch.float32).tiny
        self._step = max(kind.smallest_normal * kind.eps, least) if kind is not None else 0.0
        self._most = kind.max * (1 + kind.eps / 4) if kind is not None else math.inf
        self._error_2 = self._reference_2 = 0.0
        self._nonfinite = 0
        self._size: float | None = None
        self._block: tuple[float, tuple[int, ...]] = (0.0, ())
        self._element: tuple[float, tuple[int, ...]] = (0.0, ())

    def errors(self) -> Errors:
        rows = max(1, _CHUNK // self._width)
        for start in range(0, self._out.shape[0], rows):
            self._chunk(start, min(start + rows, self._out.shape[0]))
        relative = _ratio(math.sqrt(self._error_2), math.sqrt(self._reference_2))
        nan = math.nan if self._nonfinite else 0.0
        return Errors(
            rel_l2_err=relative + nan,
            nonfinite=self._nonfinite,
            block_err=self._block[0],
            block_at=self._block[1],
            element_err=self._element[0],
            element_at=self._element[1],
        )

    def _chunk(self, start: int, end: int) -> None:
        wide = self._reference[start:end]
        out = self._out[start:end]
        error = wide - (out if out.is_floating_point() and out.element_size() > 1 else out.double())
        blocks = self._norms(error)
        if not all(bool(one.isfinite().all()) for one in blocks):
            error, wide = self._finite(out.double(), wide)
            blocks = self._norms(error)
        floor = self._floor(start, end, wide)
        self._error_2 += sum(float(one.square().sum()) for one in blocks)
        self._blocks(start, blocks, self._norms(wide), self._norms(floor))
        self._elements(start, error, wide, floor)

    def _finite(self, out: Any, wide: Any) -> tuple[Any, Any]:
        """Count what is not finite on one side only; return errors and sizes with zeros where either is not."""
        self._nonfinite += int(self._unlike(out, wide).sum())
        both, zero = wide.isfinite() & out.isfinite(), wide.new_zeros(())
        return (wide - out).where(both, zero), wide.where(both, zero)

    def _norms(self, rows: Any) -> list[Any]:
        """Return norms of the blocks of each row: of the whole blocks, and of the last one where it is shorter.

        One column stands for as many equal ones as a row has.
        """
        import torch

        whole = self._width // BLOCK
        counts = [(whole, BLOCK)] if whole else []
        counts += [(1, self._width - whole * BLOCK)] if whole * BLOCK < self._width else []
        if rows.shape[1] < self._width:
            return [(rows * math.sqrt(length)).expand(-1, count) for count, length in counts]
        parts = rows.split([count * length for count, length in counts], dim=1)
        return [torch.linalg.vector_norm(part.unflatten(1, (-1, length)), dim=2)
                for part, (_, length) in zip(parts, counts, strict=True)]  # fmt: skip

    def _unlike(self, out: Any, wide: Any) -> Any:
        """Return where one is finite and the other is not, or where they are infinite or NaN in different ways."""
        beyond = wide.abs() >= self._most
        same = (out == wide) | (out.isnan() & wide.isnan()) | (beyond & out.isinf() & (out.sign() == wide.sign()))
        return ~same & ~(out.isfinite() & wide.isfinite())

    def _floor(self, start: int, end: int, size: Any) -> Any:
        if self._magnitude is None:
            return size.new_full((1, 1), self._roundoff * self._largest() + self._step)
        terms = self._magnitude[start:end]
        return terms.where(terms.isfinite(), terms.new_zeros(())) * self._roundoff + self._step

    def _largest(self) -> float:
        """Return the largest finite number of the reference."""
        if self._size is None:
            zero = self._reference.new_zeros(())
            self._size = float(self._reference.abs().where(self._reference.isfinite(), zero).amax())
        return self._size

    def _blocks(self, start: int, wrong: list[Any], right: list[Any], allowed: list[Any]) -> None:
        first = 0
        for error, size, floor in zip(wrong, right, allowed, strict=True):
            self._reference_2 += float(size.square().sum())
            share = _shares(error - floor, size)
            row, block = divmod(int(share.argmax()), share.shape[1])
            if float(share[row, block]) > self._block[0]:
                self._block = (float(share[row, block]), self._place(start + row, first + block * BLOCK))
            first += share.shape[1] * BLOCK

    def _elements(self, start: int, error: Any, wide: Any, floor: Any) -> None:
        import torch

        largest = torch.linalg.vector_norm(wide, math.inf, dim=1, keepdim=True)
        if floor.shape[1] == self._width:
            share = _shares(error.abs() - floor, largest)
            at = int(share.argmax())
            row, column, worst = at // self._width, at % self._width, float(share.reshape(-1)[at])
        else:  # the floor is the same along a row, and so the largest error of a row is the worst
            share = _shares(torch.linalg.vector_norm(error, math.inf, dim=1, keepdim=True) - floor, largest)
            row = int(share.argmax())
            column, worst = int(error[row].abs().argmax()), float(share[row, 0])
        if worst > self._element[0]:
            self._element = (worst, self._place(start + row, column))

    def _place(self, row: int, column: int) -> tuple[int, ...]:
        at, found = row * self._width + column, []
        for extent in reversed(self._shape):
            at, rest = divmod(at, extent)
            found.append(rest)
        return tuple(reversed(found))


def _rows_of(magnitude: Any, shape: tuple[int, ...], width: int) -> Any:
    """Return a magnitude as rows of a result: of one column where it is the same along each row."""
    if shape and magnitude.ndim and width == shape[-1] and magnitude.shape[-1] == 1 < width:
        return magnitude.broadcast_to((*shape[:-1], 1)).reshape(-1, 1)
    return magnitude.broadcast_to(shape).reshape(-1, width)


def _shares(error: Any, size: Any) -> Any:
    """Return error/size; 0 where there is no error, infinite where there is one of nothing."""
    return (error / size).where(error > 0, error.new_zeros(()))


def _ratio(error: float, reference: float) -> float:
    if error == 0:
        return 0.0
    return error / reference if reference else math.inf


def _rows(x: Any) -> Any:
    """Return the largest finite number of each row."""
    wide = x.double().abs()
    return wide.where(wide.isfinite(), wide.new_zeros(())).amax(-1)


def _layer_norm(x: Any, weight: Any, _: Any = None) -> Any:
    wide = x.double()
    scale = wide.var(-1, correction=0, keepdim=True).add_(1e-5).rsqrt_()
    return _rows(x)[:, None] * scale * weight.double().abs()


def _softmax(x: Any) -> Any:
    """Return what rounding of a logit below the largest moves a weight by: the weight times that distance."""
    wide = x.double()
    below = wide - wide.amax(-1, keepdim=True)
    weights = below.exp()
    return weights.div_(weights.sum(-1, keepdim=True)).mul_(below.abs_().add_(1))


def _attention(q: Any, _: Any, v: Any) -> Any:
    most = v.abs().amax(-2, keepdim=True).double()
    return most.repeat_interleave(q.shape[1] // v.shape[1], dim=1)


_MAGNITUDES: Mapping[str, Callable[..., Any]] = {
    # Cauchy and Schwarz: no sum of products is larger than the product of the norms.
    "gemm": lambda a, b: a.double().norm(dim=-1)[..., None] * b.double().norm(dim=-2)[..., None, :],
    "elementwise": lambda *given: sum(one.double().abs() for one in given),
    "reduction": lambda x: x.double().abs().sum(-1),
    "cross_entropy": lambda x, _: _rows(x),
    "layer_norm": _layer_norm,
    "softmax": _softmax,
    "rms_norm": lambda x, *_: x.new_zeros((1,) * x.ndim).double(),
    "attention": _attention,
    "swiglu": lambda a, b: (a.double() * b.double()).abs(),
}
"""Size of the terms that an element of the result is a sum of, or of what rounding can move it by."""


def magnitude_of(op: str, inputs: Sequence[Any], shape: Sequence[int]) -> Any:
    """Return the size of the terms of each element of an operation's result, None where nobody knows it.

    Args:
        op: Operation id.
        inputs: In the order of the packaged file's.
        shape: Of the result; a magnitude that does not broadcast to it belongs to another operation of that name.
    """
    import torch

    if op not in _MAGNITUDES:
        return None
    try:
        found = _MAGNITUDES[op](*inputs)
        torch.broadcast_shapes(found.shape, tuple(shape))
    except (TypeError, RuntimeError, IndexError, AttributeError):
        return None
    return found if torch.broadcast_shapes(found.shape, tuple(shape)) == torch.Size(shape) else None
