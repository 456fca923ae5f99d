"""Functions with several blocks, as early returns leave them: forward branches by execution weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from kopt_kb.analysis.ir.triton.model import Block, Function, Op, Successor
from kopt_kb.analysis.ir.triton.tally import UPPER, IrTally
from kopt_kb.analysis.ir.triton.values import Array, Bools, Value

if TYPE_CHECKING:
    from kopt_kb.analysis.ir.triton.machine import Machine

__all__ = ["merge_all", "run_function", "values_of"]


def values_of(machine: Machine, ids: Sequence[int]) -> list[Value]:
    """The current contents of some values."""
    return [machine.get(value) for value in ids]


def merge_all(
    machine: Machine, ids: Sequence[int], choose: Bools, ones: Sequence[Value], twos: Sequence[Value]
) -> list[Value]:
    """Merge two lists of values program by program; `ids` name values of the same types."""
    kinds = [machine.type_of(value) for value in ids]
    return [machine.merge(choose, a, b, kind) for a, b, kind in zip(ones, twos, kinds, strict=True)]


@dataclass(slots=True)
class _Walk:
    """What has arrived where during one run of a function."""

    machine: Machine
    blocks: dict[str, Block]
    arriving: dict[str, Array] = field(default_factory=dict)
    doubtful: set[str] = field(default_factory=set)
    returned: list[Value] | None = None

    def run(self, block: Block, weight: Array) -> Op | None:
        """Run a block; one that data may skip counts as an upper bound."""
        machine = self.machine
        if block.label not in self.doubtful:
            return machine.run_block(block, weight)
        outer, outer_flags = machine.tally, machine.tape.flags
        machine.tally, machine.tape.flags = IrTally(), UPPER
        end = machine.run_block(block, weight)
        outer.include(machine.tally, UPPER)
        machine.tally, machine.tape.flags = outer, outer_flags
        return end

    def leave(self, end: Op | None, here: Array) -> None:
        """Merge what one return statement gives into what the function returns."""
        ids = end.operands if end is not None else ()
        values = values_of(self.machine, ids)
        if self.returned is not None and values:
            values = merge_all(self.machine, ids, np.asarray(here > 0), values, self.returned)
        self.returned = values

    def go(self, end: Op, here: Array, label: str) -> None:
        """Carry weights and arguments along a branch."""
        for successor, share, unsure in _edges(self.machine, end, here):
            target = self.blocks[successor.label]
            passed = values_of(self.machine, successor.arguments)
            before = self.arriving.get(successor.label)
            if before is not None:
                old = values_of(self.machine, target.parameters)
                passed = merge_all(self.machine, target.parameters, np.asarray(share > 0), passed, old)
            self.machine.env.update(zip(target.parameters, passed, strict=True))
            self.arriving[successor.label] = share if before is None else before + share
            if unsure or label in self.doubtful:
                self.doubtful.add(successor.label)


def _edges(machine: Machine, end: Op, here: Array) -> list[tuple[Successor, Array, bool]]:
    if end.name == "cf.br":
        return [(end.successors[0], here, False)]
    condition = machine.get(end.operands[0])
    if isinstance(condition, np.ndarray):
        taken = condition.astype(np.bool_)
        return [(end.successors[0], here * taken, False), (end.successors[1], here * ~taken, False)]
    machine.tally.note(end.line, "a branch depends on data: both sides are counted, an upper bound")
    return [(successor, here, True) for successor in end.successors]


def _flow_order(machine: Machine, blocks: dict[str, Block], entry: str) -> list[str]:
    """Reachable labels, every block after all that branch to it."""
    order: list[str] = []
    open_, done = set[str](), set[str]()

    def visit(label: str) -> None:
        open_.add(label)
        end = blocks[label].ops[-1] if blocks[label].ops else None
        for successor in end.successors if end is not None else ():
            if successor.label in open_ and end is not None:
                raise machine.fail(end, "a loop made of branches", "only scf.for and scf.while are counted")
            if successor.label not in done:
                visit(successor.label)
        open_.discard(label)
        done.add(label)
        order.append(label)

    visit(entry)
    return order[::-1]


def run_function(machine: Machine, function: Function, weight: Array) -> list[Value]:
    """Run a function's blocks in flow order; returns what it returns.

    Raises:
        IrError: A backward branch: loops must be `scf.for` or `scf.while`.
    """
    blocks = {block.label: block for block in function.body.blocks}
    entry = function.body.entry.label
    walk = _Walk(machine, blocks, {entry: weight})
    for label in _flow_order(machine, blocks, entry):
        arrived = walk.arriving.get(label)
        if arrived is None:
            continue
        # Both sides of an undecidable branch carry full weight; no program passes a block twice.
        here = np.minimum(arrived, weight)
        end = walk.run(blocks[label], here)
        if end is None or end.name == "tt.return":
            walk.leave(end, here)
        else:
            walk.go(end, here, label)
    return walk.returned or []
