"""Useful work of matrix products, reductions and scans: steps that lanes share, recorded on the tape."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kopt_kb.analysis.ir.triton.costs import Cost, combine_cost, combine_ops, dot_dims, dot_key
from kopt_kb.analysis.ir.triton.demand import Tape
from kopt_kb.analysis.ir.triton.irtypes import IrType
from kopt_kb.analysis.ir.triton.model import Op
from kopt_kb.analysis.ir.triton.padding import identity_of
from kopt_kb.analysis.ir.triton.products import Factor, count_products, reached_left, reached_right
from kopt_kb.analysis.ir.triton.structure import full
from kopt_kb.analysis.ir.triton.values import Bools, Node, Value, compact, expand, lanes, shape_of

__all__ = ["record_dot", "record_reduce", "record_scan"]


def record_dot(tape: Tape, op: Op, values: Sequence[Value], result: IrType) -> Node:
    """A matrix product: useful are products of two real elements that reach a demanded lane."""
    left, right = (v if isinstance(v, Node) else Node() for v in (values[0], values[_right_operand(op)]))
    start = values[-1] if op.name == "tt.dot" or len(values) > _right_operand(op) + 1 else Node()
    out = Node(result.shape)
    key, _ = dot_key(op, tape.module)
    depth = dot_dims(op, tape.module)[3]

    def step() -> None:
        if out.demand is None:
            return
        if isinstance(start, Node):
            start.require(out.demand)
        if left.pad is None and right.pad is None:
            tape.count({key: 2}, lanes(out.demand, tape.programs, result.shape) * depth)
            left.require(np.asarray(out.demand.any(-1, keepdims=True)))
            right.require(np.asarray(out.demand.any(-2, keepdims=True)))
        else:
            _padded_dot(tape, op, out.demand, (left, right), {key: 2})

    tape.record(step)
    return out


def _whole(demand: Bools, operand: Node) -> Bools:
    """All of an operand in the programs that need anything of the product."""
    return expand(np.asarray(demand.reshape(demand.shape[0], -1).any(1)), len(operand.shape))


def _padded_dot(tape: Tape, op: Op, asked: Bools, operands: tuple[Node, Node], cost: Cost) -> None:
    left, right = operands
    shape = tape.module.types[op.results[0]].shape
    known = [node.pad if node.fill in (0.0, None) else None for node in operands]
    fits = left.shape[-1:] == right.shape[-2:-1]
    if not fits or any(node.pad is not pad for node, pad in zip(operands, known, strict=True)):
        tape.doubt(cost, op.line, f"{op.name} runs over padding lanes: useful work is an upper bound")
    if not fits:
        depth = dot_dims(op, tape.module)[3]
        tape.count(cost, lanes(asked, tape.programs, shape) * depth)
        left.require(_whole(asked, left))
        right.require(_whole(asked, right))
        return
    factors = [Factor.of(pad, node.shape) for pad, node in zip(known, operands, strict=True)]
    asked, times, here = _alike(asked, factors)
    demand = full(asked, shape)
    programs = max(demand.shape[0], *(factor.real.shape[0] for factor in factors))
    tape.count(cost, count_products(demand, factors[0], factors[1]) * times * (tape.programs // (programs * len(here))))
    if not left.leaf:
        left.require(compact(reached_left(demand, factors[1])) & here)
    if not right.leaf:
        right.require(compact(reached_right(demand, factors[0])) & here)


def _alike(asked: Bools, factors: Sequence[Factor]) -> tuple[Bools, int, Bools]:
    """Return the demand of one program, how many are like it, and which; all of them where programs differ."""
    if asked.size > len(asked) or any(len(factor.real) > 1 for factor in factors):
        return asked, 1, np.ones((1,) * asked.ndim, np.bool_)
    return np.ones((1,) * asked.ndim, np.bool_), int(np.count_nonzero(asked)), asked


def record_reduce(tape: Tape, op: Op, values: Sequence[Value], results: Sequence[IrType]) -> list[Node]:
    """A reduction: n real demanded inputs cost n − 1 combines for each output."""
    nodes = [value if isinstance(value, Node) else Node() for value in values]
    source, axis = tape.module.types[op.operands[0]], op.integer("axis") + 1
    cost = combine_cost(op, tape.module)
    body = combine_ops(op, tape.module)
    neutral = identity_of(body[0].name) if len(body) == 1 else None
    pad = (
        nodes[0].pad if nodes[0].pad is not None and nodes[0].fill in (neutral, None) and neutral is not None else None
    )
    rest = full(pad, source.shape).all(axis) if pad is not None else None
    rest = rest if rest is not None and rest.any() else None
    outs = [Node(shape_of(kind), rest, nodes[0].fill) for kind in results]

    def step() -> None:
        demand = _any_demand(outs)
        if demand is None:
            return
        inner = np.expand_dims(demand, axis)
        for node in nodes:
            node.require(inner)
        if cost:
            _reduced(tape, op, cost, (inner, pad, nodes[0].pad), source, axis)

    tape.record(step)
    return outs


def _reduced(
    tape: Tape, op: Op, cost: Cost, masks: tuple[Bools, Bools | None, Bools | None], source: IrType, axis: int
) -> None:
    inner, pad, any_pad = masks
    if pad is None:
        outputs = lanes(inner, tape.programs, tuple(1 if i + 1 == axis else n for i, n in enumerate(source.shape)))
        tape.count(cost, outputs * (source.shape[axis - 1] - 1))
        if any_pad is not None and bool((any_pad & inner).any()):
            tape.doubt(cost, op.line, "a reduction runs over padding lanes: useful work is an upper bound")
        return
    real = full(inner & ~pad, source.shape)
    combines = int(np.maximum(real.sum(axis, dtype=np.int64) - 1, 0).sum())
    tape.count(cost, combines * (tape.programs // real.shape[0]))


def record_scan(tape: Tape, op: Op, values: Sequence[Value], results: Sequence[IrType]) -> list[Node]:
    """A scan: an output lane needs all lanes before it."""
    nodes = [value if isinstance(value, Node) else Node() for value in values]
    source, axis = tape.module.types[op.operands[0]], op.integer("axis") + 1
    cost = combine_cost(op, tape.module)
    ahead = "true" in op.attributes.get("reverse", "false")
    outs = [Node(shape_of(kind)) for kind in results]

    def step() -> None:
        demand = _any_demand(outs)
        if demand is None:
            return
        whole = full(demand, source.shape)
        turned = whole if ahead else np.flip(whole, axis)
        needed = np.logical_or.accumulate(turned, axis)
        needed = needed if ahead else np.flip(needed, axis)
        for node in nodes:
            node.require(needed)
        combines = int(needed.sum()) - int(needed.any(axis).sum())
        tape.count(cost, combines * (tape.programs // needed.shape[0]))
        if nodes[0].pad is not None and bool((nodes[0].pad & needed).any()):
            tape.doubt(cost, op.line, "a scan runs over padding lanes: useful work is an upper bound")

    tape.record(step)
    return outs


def _right_operand(op: Op) -> int:
    return 2 if op.name == "tt.dot_scaled" and op.detail.get("a_scaled") == "True" else 1


def _any_demand(outs: Sequence[Node]) -> Bools | None:
    demands = [out.demand for out in outs if out.demand is not None]
    if not demands:
        return None
    total = demands[0]
    for demand in demands[1:]:
        total = total | demand
    return total
