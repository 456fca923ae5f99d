"""Structured control flow for many programs at once: loops, branches and calls, by execution weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from kopt_kb.analysis.ir.triton.cfg import merge_all, run_function, values_of
from kopt_kb.analysis.ir.triton.integers import numpy_type
from kopt_kb.analysis.ir.triton.model import Op, Region
from kopt_kb.analysis.ir.triton.tally import UPPER, IrTally
from kopt_kb.analysis.ir.triton.values import Array, Bools, Node, Value, shape_of

if TYPE_CHECKING:
    from kopt_kb.analysis.ir.triton.machine import Machine

__all__ = ["CONTROL"]

_MOST_STEPS = 1 << 20

Handler = Callable[["Machine", Op, Array], None]


def _run_region(machine: Machine, region: Region, weight: Array) -> list[Value]:
    end = machine.run_block(region.entry, weight)
    return values_of(machine, end.operands) if end is not None else []


def _set(machine: Machine, ids: Sequence[int], values: Sequence[Value]) -> None:
    machine.env.update(zip(ids, values, strict=True))


def _call(machine: Machine, op: Op, weight: Array) -> None:
    callee = machine.plan.module.function(op.detail["callee"])
    _set(machine, callee.parameters, values_of(machine, op.operands))
    returned = run_function(machine, callee, weight)
    if op.results:
        _set(machine, op.results, returned)


def _if(machine: Machine, op: Op, weight: Array) -> None:
    condition = machine.get(op.operands[0])
    if isinstance(condition, np.ndarray):
        _known_if(machine, op, weight, condition.astype(np.bool_))
    else:
        _doubtful_if(machine, op, weight)


def _known_if(machine: Machine, op: Op, weight: Array, taken: Bools) -> None:
    shares = (weight * taken, weight * ~taken)
    sides = [
        _run_region(machine, region, share) if share.any() else None
        for region, share in zip(op.regions, shares, strict=False)
    ]
    if not op.results:
        return
    one, two = (side if side is not None else None for side in sides)
    if one is None or two is None:
        _set(machine, op.results, one or two or [_blank(machine, value) for value in op.results])
        return
    _set(machine, op.results, merge_all(machine, op.results, np.broadcast_to(taken, weight.shape), one, two))


def _blank(machine: Machine, value: int) -> Node:
    return Node(shape_of(machine.type_of(value)))


def _doubtful_if(machine: Machine, op: Op, weight: Array) -> None:
    machine.tally.note(op.line, "a branch depends on data: counted as its costlier side, an upper bound")
    outer, outer_flags = machine.tally, machine.tape.flags
    machine.tape.flags = UPPER
    tallies, sides = [], []
    for region in op.regions:
        machine.tally = IrTally()
        sides.append(_run_region(machine, region, weight))
        tallies.append(machine.tally)
    machine.tally, machine.tape.flags = outer, outer_flags
    outer.include_larger(tallies[0], tallies[1] if len(tallies) > 1 else IrTally())
    for position, result in enumerate(op.results):
        shape = shape_of(machine.type_of(result))
        blank = Node(shape)
        machine.env[result] = (
            machine.tape.either(sides[0][position], sides[1][position], shape) if machine.exact else blank
        )


def _for(machine: Machine, op: Op, weight: Array) -> None:
    lower, upper, step = values_of(machine, op.operands[:3])
    if not (isinstance(lower, np.ndarray) and isinstance(upper, np.ndarray) and isinstance(step, np.ndarray)):
        _uncountable(machine, op, weight, op.regions[0])
        return
    low, width = lower.astype(np.int64), np.maximum(step.astype(np.int64), 1)
    trips: Array = np.maximum((upper.astype(np.int64) - low + width - 1) // width, 0)
    parameters = op.regions[0].entry.parameters
    if not machine.exact and machine.plan.needed.isdisjoint(parameters):
        _multiplied(machine, op, weight, trips)
    else:
        _iterated(machine, op, weight, (low, width, trips))


def _multiplied(machine: Machine, op: Op, weight: Array, trips: Array) -> None:
    """One run of the body stands for all trips: nothing that is needed changes between them."""
    yielded = _run_region(machine, op.regions[0], weight * trips)
    entered = np.asarray(trips > 0)
    initial = values_of(machine, op.operands[3:])
    _set(machine, op.results, merge_all(machine, op.results, entered, yielded, initial) if op.results else [])


def _iterated(machine: Machine, op: Op, weight: Array, bounds: tuple[Array, Array, Array]) -> None:
    low, width, trips = bounds
    parameters = op.regions[0].entry.parameters
    counter = numpy_type(machine.type_of(parameters[0])) or np.int64
    carried = values_of(machine, op.operands[3:])
    live = np.asarray(weight > 0)
    reached = np.broadcast_to(trips, live.shape)[live] if trips.size > 1 else trips
    for trip in range(int(reached.max()) if live.any() else 0):
        running = np.asarray(trips > trip)
        _set(machine, parameters, [(low + trip * width).astype(counter), *carried])
        yielded = _run_region(machine, op.regions[0], weight * running)
        # Programs without weight are never counted, so that they may follow the others.
        carried = merge_all(machine, parameters[1:], running | ~live, yielded, carried)
    _set(machine, op.results, carried)


def _while(machine: Machine, op: Op, weight: Array) -> None:
    before, after = op.regions
    carried = values_of(machine, op.operands)
    running = np.asarray(weight > 0)
    results: list[Value] | None = None
    for _ in range(_MOST_STEPS):
        _set(machine, before.entry.parameters, carried)
        condition, *passed = _run_region(machine, before, weight * running)
        if not isinstance(condition, np.ndarray):
            _set(machine, after.entry.parameters, passed)
            _uncountable(machine, op, weight * running, after, before)
            return
        results = passed if results is None else merge_all(machine, op.results, running, passed, results)
        running = running & condition.astype(np.bool_)
        if not running.any():
            _set(machine, op.results, results)
            return
        _set(machine, after.entry.parameters, passed)
        yielded = _run_region(machine, after, weight * running)
        carried = merge_all(machine, before.entry.parameters, running, yielded, carried)
    raise machine.fail(op, f"scf.while still runs after {_MOST_STEPS} steps", "check the arguments that end it")


def _uncountable(machine: Machine, op: Op, weight: Array, body: Region, condition: Region | None = None) -> None:
    """A loop whose trips depend on data: its body is tried once for its cost and left out of the count.

    A loop that computes and stores nothing, such as one that waits for a lock, leaves the operations exact. Its
    condition was counted once before; one that nothing is carried to touches the same bytes whenever it runs again.
    """
    outer, position = machine.tally, machine.tape.position
    blurred, notes = machine.tape.blurred, dict(machine.tape.tally.notes)
    machine.tally = IrTally()
    carried = body.entry.parameters
    if op.name == "scf.for":
        _set(machine, carried, [_blank(machine, value) for value in carried])
    _run_region(machine, body, weight)
    stores = machine.tape.position > position
    trial = machine.tally
    again = machine.tally = IrTally()
    if condition is not None:
        _run_region(machine, condition, weight)
    machine.tally = outer
    machine.tape.forget(position)
    machine.tape.blurred, machine.tape.tally.notes = blurred, notes
    trip = [*trial.amounts.items(), *again.amounts.items()]
    flops = sum(n for key, n in trip if key[:2] == ("executed", "flops"))
    moved = sum(n for key, n in trip if key[0] == "requested")
    machine.tape.incomplete |= stores or any(key[0] == "executed" for key, _ in trip)
    programs = max(int(weight.sum()), 1)
    outer.include_as_possible(trial)
    outer.include_as_possible(again, repeated=condition is not None and not condition.entry.parameters)
    outer.note(
        op.line,
        f"trips of {op.name} depend on data: its body is left out, a lower bound; one trip of one program costs "
        f"{flops // programs} FLOP and asks for {moved // programs} bytes",
    )
    initial = values_of(machine, op.operands[3:] if op.name == "scf.for" else op.operands)
    for value, start in zip(op.results, initial, strict=False):
        shape = shape_of(machine.type_of(value))
        machine.env[value] = machine.tape.either(start, Node(), shape) if machine.exact else Node(shape)


def _roles(machine: Machine, op: Op, weight: Array) -> None:
    """Run each role of a program once: that they run at the same time changes no work."""
    given = values_of(machine, op.operands)
    for number, region in enumerate(op.regions):
        _set(machine, region.entry.parameters, given if number else [])
        yielded = _run_region(machine, region, weight)
        if not number:
            _set(machine, op.results, yielded)


CONTROL: Mapping[str, Handler] = {
    "scf.for": _for,
    "scf.while": _while,
    "scf.if": _if,
    "tt.call": _call,
    "ttg.warp_specialize": _roles,
}
"""Operations with regions or callees, by name."""
