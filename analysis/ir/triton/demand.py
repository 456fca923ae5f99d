"""Useful work: a tape of what was executed, read backwards from the stores to see which lanes mattered."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from kopt_kb.analysis.ir.triton.costs import Cost, cost_per_lane
from kopt_kb.analysis.ir.triton.irtypes import IrType
from kopt_kb.analysis.ir.triton.model import Module, Op
from kopt_kb.analysis.ir.triton.padding import PaddingOutcome, fold, propagate
from kopt_kb.analysis.ir.triton.structure import backward, forward
from kopt_kb.analysis.ir.triton.tally import UPPER, IrTally
from kopt_kb.analysis.ir.triton.values import Bools, Node, Value, compact, expand, lanes, shape_of

__all__ = ["Tape"]


class Tape:
    """Records unevaluated operations while programs run; `rewind` counts the lanes that reached a store."""

    def __init__(self, module: Module, tally: IrTally, programs: int) -> None:
        self.module = module
        self.tally = tally
        self.programs = programs
        self.flags = 0
        self.incomplete = False
        self.blurred = False
        self._steps: list[tuple[Callable[[], None], int]] = []
        self._flags_now = 0

    def record(self, step: Callable[[], None]) -> None:
        """Remember what to do when the tape is rewound past this point."""
        self._steps.append((step, self.flags))

    @property
    def position(self) -> int:
        """How much has been recorded; `forget` takes it back to there."""
        return len(self._steps)

    def forget(self, position: int) -> None:
        """Drop what was recorded since a position: a trial run of a loop nobody can count."""
        del self._steps[position:]

    def rewind(self) -> None:
        """Propagate demand from the last operation to the first and count useful lanes."""
        while self._steps:
            step, self._flags_now = self._steps.pop()
            step()

    def count(self, cost: Cost, amount: int) -> None:
        """Count useful operations, `amount` times a cost."""
        self.tally.add_cost("useful", cost, amount, self._flags_now)

    def doubt(self, cost: Cost, line: int, why: str) -> None:
        """Make the useful counts of these kinds upper bounds, and say why."""
        for key in cost:
            self.tally.add(("useful", *key), 0, UPPER)
        self.tally.note(line, why)

    def blur(self, line: int, what: str) -> None:
        """Padding lanes became indistinguishable from data: every useful count is an upper bound."""
        self.blurred = True
        self.tally.note(line, f"{what} mixes padding lanes with data: useful work is an upper bound")

    def sink(self, node: Node, demand: Bools) -> None:
        """Lanes of a value that a store or atomic writes."""
        needed = compact(demand)
        self.record(lambda: node.require(needed))

    def elementwise(self, op: Op, values: Sequence[Value], result: IrType) -> Node:
        """An operation that works lane by lane."""
        nodes = [value for value in values if isinstance(value, Node)]
        found = propagate(op.name, nodes) if len(nodes) == len(values) else propagate("", nodes)
        constants = [node.const for node in nodes]
        const = fold(op.name, constants) if nodes and len(nodes) == len(values) else None
        out = Node(shape_of(result), found.pad, found.fill, const=const)
        cost = cost_per_lane(op, result)

        def step() -> None:
            if out.demand is None:
                return
            for node in nodes:
                node.require(out.demand)
            if cost:
                busy = out.demand if found.idle is None else out.demand & ~found.idle
                self.count(cost, lanes(busy, self.programs, out.shape))
            if found.lost is not None and bool((out.demand & found.lost).any()):
                self.blur(op.line, op.name)

        self.record(step)
        return out

    def move(self, op: Op, values: Sequence[Value], results: Sequence[IrType]) -> list[Node]:
        """An operation that only moves lanes; at least one operand is unevaluated."""
        sources = [self.module.types[value] for value in op.operands]
        nodes = [
            value if isinstance(value, Node) else Node(shape_of(k)) for value, k in zip(values, sources, strict=True)
        ]
        pads, fill = _moved_padding(op, sources, results[0], nodes)
        const = nodes[0].const if len({node.const for node in nodes}) == 1 else None
        outs = [
            Node(shape_of(kind), pad, fill, const=const, leaf=all(node.leaf for node in nodes))
            for kind, pad in zip(results, pads, strict=True)
        ]

        def step() -> None:
            demands = [out.demand for out in outs]
            if any(demand is not None for demand in demands):
                for node, demand in zip(nodes, backward(op, sources, results[0], demands), strict=True):
                    node.require(demand)
                    if node.pad is not None and pads[0] is None and bool((demand & node.pad).any()):
                        self.blur(op.line, op.name)

        self.record(step)
        return outs

    def select(self, line: int, condition: Bools, one: Value, two: Value, result: IrType) -> Node:
        """`arith.select` with a known condition: constants chosen by it are padding."""
        rank = len(shape_of(result))
        if isinstance(one, Node) and isinstance(two, Node) and bool(condition.all() or not condition.any()):
            return one if bool(condition.all()) else two
        condition = condition if condition.ndim == rank + 1 else expand(condition, rank)
        first, second = (value if isinstance(value, Node) else Node() for value in (one, two))
        found = _selected_padding(condition, first, second)
        out = Node(shape_of(result), found.pad, found.fill)
        self._choose(out, condition, (first, second), found.lost, line)
        return out

    def merge(self, choose: Bools, one: Value, two: Value, shape: tuple[int, ...]) -> Node:
        """A value that control flow takes from one of two places, program by program."""
        first, second = (value if isinstance(value, Node) else Node() for value in (one, two))
        if first is second:
            return first
        condition = expand(choose, len(shape))
        found = _merged_padding(condition, first, second)
        out = Node(shape, found.pad, found.fill)
        self._choose(out, condition, (first, second), found.lost)
        return out

    def either(self, one: Value, two: Value, shape: tuple[int, ...]) -> Node:
        """A value that comes from one of two places, nobody knows which: both are needed."""
        out = Node(shape)
        always = np.ones((1,) * (len(shape) + 1), np.bool_)
        nodes = [value if isinstance(value, Node) else Node() for value in (one, two)]
        self._choose(out, always, (nodes[0], Node()))
        self._choose(out, always, (nodes[1], Node()))
        return out

    def _choose(
        self, out: Node, condition: Bools, sides: tuple[Node, Node], lost: Bools | None = None, line: int = 0
    ) -> None:
        def step() -> None:
            if out.demand is None:
                return
            sides[0].require(out.demand & condition)
            sides[1].require(out.demand & ~condition)
            if lost is not None and bool((out.demand & lost).any()):
                self.blur(line, "a choice between values")

        self.record(step)

    def everything(self, op: Op, values: Sequence[Value], results: Sequence[IrType], cost: Cost) -> list[Node]:
        """An operation whose lanes can't be told apart: all inputs count once any output is needed."""
        nodes = [value for value in values if isinstance(value, Node)]
        outs = [Node(shape_of(kind)) for kind in results]

        def step() -> None:
            demand = _any_demand_flat(outs)
            if demand is None:
                return
            for node in nodes:
                node.require(expand(demand, len(node.shape)))
            if cost:
                self.count(cost, int(demand.sum()) * (self.programs // demand.shape[0]))
                self.doubt(cost, op.line, f"{op.name}: useful work is an upper bound")

        self.record(step)
        return outs


def _any_demand_flat(outs: Sequence[Node]) -> Bools | None:
    demands = [out.demand.reshape(out.demand.shape[0], -1).any(1) for out in outs if out.demand is not None]
    return None if not demands else np.logical_or.reduce(np.broadcast_arrays(*demands))


def _moved_padding(
    op: Op, sources: list[IrType], result: IrType, nodes: list[Node]
) -> tuple[list[Bools | None], float | None]:
    fills = {node.fill for node in nodes if node.pad is not None}
    if len(fills) != 1:
        return [None] * len(op.results), None
    pads = [node.pad if node.pad is not None else np.zeros((1, *(1,) * len(node.shape)), np.bool_) for node in nodes]
    moved: list[Bools | None] = [np.asarray(m, np.bool_) for m in forward(op, sources, result, list(pads))]
    return moved, fills.pop()


def _selected_padding(condition: Bools, first: Node, second: Node) -> PaddingOutcome:
    """Padding of a select: the lanes of a chosen constant; of two constants, a bias mask, the infinite one."""
    if first.const is not None and second.const is not None:
        if np.isinf(second.const):
            return PaddingOutcome(~condition, second.const)
        return PaddingOutcome(condition, first.const) if np.isinf(first.const) else PaddingOutcome()
    return _joined_padding(_chosen(condition, first), _chosen(~condition, second))


def _chosen(chosen: Bools, node: Node) -> PaddingOutcome:
    return PaddingOutcome(chosen, node.const) if node.const is not None else _padded(chosen, node)


def _merged_padding(condition: Bools, first: Node, second: Node) -> PaddingOutcome:
    """Padding that control flow brings from either side; a constant start value is no padding."""
    return _joined_padding(_padded(condition, first), _padded(~condition, second))


def _joined_padding(one: PaddingOutcome, two: PaddingOutcome) -> PaddingOutcome:
    if one.pad is None or two.pad is None:
        return two if one.pad is None else one
    if one.fill == two.fill:
        return PaddingOutcome(one.pad | two.pad, one.fill)
    # Only one fill is kept: the one that holds more lanes.
    few, many = sorted((one, two), key=lambda side: 0.0 if side.pad is None else float(side.pad.mean()))
    return PaddingOutcome(many.pad, many.fill, lost=few.pad if few.pad is not None and few.pad.any() else None)


def _padded(chosen: Bools, node: Node) -> PaddingOutcome:
    return PaddingOutcome() if node.pad is None else PaddingOutcome(chosen & node.pad, node.fill)
