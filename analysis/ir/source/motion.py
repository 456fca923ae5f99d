"""Masks and block pointers of a kernel, and how pointers move from one iteration of a loop to the next."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace

from kopt_kb.analysis.ir.source.affine import ONE, Affine, Poly

__all__ = ["AxisBound", "BlockPointer", "Known", "Mask", "assigned", "called", "growth", "moved"]


@dataclass(frozen=True, slots=True)
class AxisBound:
    """`origin + arange(0, size) < limit` along an axis; `size` is None for the lower bound 0, which says nothing."""

    axis: int
    origin: Poly
    size: Poly
    limit: Poly


@dataclass(frozen=True, slots=True)
class Mask:
    """Bounds along axes, all of which hold; `other` says what else is tested."""

    bounds: tuple[AxisBound, ...] = ()
    rank: int = 0
    other: str = ""

    def both(self, more: Mask) -> Mask:
        """Return the conjunction."""
        return Mask((*self.bounds, *more.bounds), max(self.rank, more.rank), self.other or more.other)


@dataclass(frozen=True, slots=True)
class BlockPointer:
    """A block pointer: where it points and its shape, strides, offsets and block sizes."""

    target: Affine
    shape: tuple[Poly, ...]
    strides: tuple[Poly, ...]
    offsets: tuple[Poly, ...]
    sizes: tuple[Poly, ...]


Known = Affine | Mask | BlockPointer | None


def growth(statement: ast.stmt, name: str) -> ast.expr | None:
    """Return what a statement adds to a name: `p += x`, `p = p + x`, `p = tl.advance(p, x)`."""
    if isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Add) and _is(statement.target, name):
        return statement.value
    if not (isinstance(statement, ast.Assign) and len(statement.targets) == 1 and _is(statement.targets[0], name)):
        return None
    value = statement.value
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add) and _is(value.left, name):
        return value.right
    if isinstance(value, ast.Call) and called(value) == "advance" and len(value.args) == 2 and _is(value.args[0], name):
        return value.args[1]
    return None


def moved(value: Known, step: tuple[Poly, ...] | None, count: tuple[Poly, Poly] | None) -> Known:
    """Return a pointer or index vector as it is at the beginning of an iteration, or None."""
    if step is None or count is None:
        return None
    passed, each = count
    rates = [one.over(each) for one in step]
    known = tuple(one for one in rates if one is not None)
    if len(known) != len(step):
        return None
    if isinstance(value, BlockPointer) and len(known) == len(value.offsets):
        return replace(value, offsets=tuple(a + passed * b for a, b in zip(value.offsets, known, strict=True)))
    return (
        _moved_axis(value, passed, known[0]) if isinstance(value, Affine) and value.axes and len(known) == 1 else None
    )


def _moved_axis(value: Affine, passed: Poly, rate: Poly) -> Affine | None:
    fits = [(at, axis, quotient) for at, axis in value.axes if (quotient := rate.over(axis.scale)) is not None]
    # A step that is a multiple of a named stride goes along that axis; 1 divides everything.
    fits.sort(key=lambda one: one[1].scale == ONE)
    if not fits:
        return None
    at, axis, quotient = fits[0]
    moved = replace(axis, origin=axis.origin + passed * quotient)
    return replace(value, axes=tuple((where, moved if where == at else one) for where, one in value.axes))


def assigned(node: ast.stmt) -> set[str]:
    """Return the names that the bodies of a statement assign."""
    body = [*getattr(node, "body", []), *getattr(node, "orelse", [])]
    inner = (each for one in body for each in ast.walk(one))
    return {each.id for each in inner if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}


def called(call: ast.Call) -> str:
    """Return the last part of what a call names."""
    func = call.func
    return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""


def _is(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
