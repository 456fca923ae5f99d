"""Counting one launch: plan it, run its programs in batches, and turn the tally into a result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Literal

import numpy as np

from kopt_kb.analysis.ir.triton.arguments import Binding, KernelArgument, bind
from kopt_kb.analysis.ir.triton.budget import CountBudget, CountLimits
from kopt_kb.analysis.ir.triton.cfg import run_function
from kopt_kb.analysis.ir.triton.machine import Machine
from kopt_kb.analysis.ir.triton.model import Block, Function, IrError, Module, Region
from kopt_kb.analysis.ir.triton.plan import CountPlan, Mode, make_plan
from kopt_kb.analysis.ir.triton.read import parse_ttir
from kopt_kb.analysis.ir.triton.result import Amount, DirectionBytes, Flops, IrCount, IrNote, KernelCount, Special
from kopt_kb.analysis.ir.triton.shifted import ApartError, TooDenseError
from kopt_kb.analysis.ir.triton.tally import LOWER, UPPER, IrDirection, IrTally
from kopt_kb.analysis.ir.triton.values import Array

__all__ = ["count_ir"]

_BATCH_LANES = 1 << 19
_BATCH_PROGRAMS = 1 << 18
_ALIKE_LANES, _MOST_DENSE = 1 << 26, 1 << 22
"""Lanes of a batch whose programs are alike but for a shift (bools of them are made where a loop ends early in some),
and elements of a value that may be made lane by lane in it."""
_LIMITS = CountLimits()
_FEW = 2
"""Programs below which nothing is gained by keeping them as shifts."""
_MOST_SPLITS = 256
"""Times that batches may be told apart before the rest is followed lane by lane."""


def count_ir(
    module_or_text: Module | str,
    grid: int | Sequence[int],
    args: Mapping[int | str, KernelArgument],
    *,
    mode: Mode | Literal["every_lane"] = "shape",
    file: str = "<ir>",
    kernel: str | None = None,
    limits: CountLimits = _LIMITS,
) -> IrCount:
    """The work of launching a kernel over a grid: FLOPs, special functions and global memory bytes.

    Shape mode takes milliseconds: trip counts are exact for every program, memory is counted without masks.
    Exact mode evaluates masks and addresses: requested and distinct bytes, sectors and useful FLOPs.

    Args:
        module_or_text: A parsed module or TTIR text.
        grid: Programs along x, y and z.
        args: By IR parameter position or name; only those that the count depends on must be given.
        mode: `shape` or `exact`; or `every_lane`: exact, without evaluating lanes but once of programs that are alike
            but for a shift of their addresses. The same numbers, slower; tests hold the two against each other.
        file: The name for messages when a text is given.
        kernel: Which public function, when the text has several.
        limits: Lanes that exact mode evaluates, and seconds that either may take.

    Raises:
        IrError: Text that is not TTIR, an argument that is missing or does not fit, or a launch too large for
            exact mode; `where` is `file:line`.
    """
    budget = CountBudget(limits, file)
    module = parse_ttir(module_or_text, file=file) if isinstance(module_or_text, str) else module_or_text
    function = module.kernel(kernel)
    shape = _grid(grid, module.file)
    binding = bind(module, function, args)
    plan = make_plan(module, function, "shape" if mode == "shape" else "exact", _contents(binding))
    tally = _run(plan, function, binding, shape, budget, every_lane=mode == "every_lane")
    return IrCount(module.file, (_result(plan, function, binding, shape, tally),))


def _grid(grid: int | Sequence[int], file: str) -> tuple[int, int, int]:
    sizes = [grid] if isinstance(grid, int) else list(grid)
    if not 1 <= len(sizes) <= 3 or any(size < 1 for size in sizes):
        raise IrError(
            f"grid {grid} is not one to three positive sizes", where=file, fix="give for example (128, 4)", code="KB042"
        )
    padded = [*sizes, 1, 1][:3]
    return padded[0], padded[1], padded[2]


def _contents(binding: Binding) -> dict[int, frozenset[int]]:
    """Parameters whose contents are given, with all that share their memory; none that overlaps another in part."""
    found = {}
    for index, tensor in binding.tensors.items():
        if tensor.data is None:
            continue
        sharing = frozenset(other for other in binding.tensors if binding.overlap(index, other))
        if all(binding.holds_the_same(index, other) for other in sharing):
            found[index] = sharing
    return found


def _uses_program_id(plan: CountPlan, region: Region) -> bool:
    def block_does(block: Block) -> bool:
        return any(
            (op.name == "tt.get_program_id" and op.results[0] in plan.needed)
            or any(_uses_program_id(plan, inner) for inner in op.regions)
            for op in block.ops
        )

    return any(block_does(block) for block in region.blocks)


def _run(
    plan: CountPlan, kernel: Function, binding: Binding, grid: tuple[int, int, int], budget: CountBudget, *,
    every_lane: bool,
) -> IrTally:  # fmt: skip
    total, programs = IrTally(), prod(grid)
    with np.errstate(all="ignore"):
        if plan.mode == "shape" and not any(_uses_program_id(plan, f.body) for f in plan.module.functions):
            machine = Machine(plan, binding, grid, None, budget)
            _run_batch(machine, kernel, np.asarray([programs], np.int64), total)
            return total
        few = max(1, _BATCH_LANES // plan.most_lanes) if plan.mode == "exact" else _BATCH_PROGRAMS
        alike = plan.mode == "exact" and not every_lane
        many = min(_BATCH_PROGRAMS, max(1, _ALIKE_LANES // plan.most_lanes)) if alike else few
        for first in range(0, programs, many):
            ids = np.arange(first, min(first + many, programs), dtype=np.int64)
            for group in _run_alike(plan, kernel, binding, grid, budget, ids, total) if alike else [ids]:
                for start in range(0, len(group), few):
                    some = group[start : start + few]
                    _run_batch(Machine(plan, binding, grid, some, budget), kernel, np.ones(len(some), np.int64), total)
    return total


def _run_alike(
    plan: CountPlan, kernel: Function, binding: Binding, grid: tuple[int, int, int], budget: CountBudget,
    programs: Array, total: IrTally,
) -> list[Array]:  # fmt: skip
    """Count programs that are alike but for a shift together; returns those that have to be followed lane by lane."""
    waiting, dense = [programs], list[Array]()
    splits = 0
    while waiting:
        ids = waiting.pop()
        if len(ids) < _FEW:
            dense.append(ids)
            continue
        try:
            machine = Machine(plan, binding, grid, ids, budget, _MOST_DENSE)
            _run_batch(machine, kernel, np.ones(len(ids), np.int64), total)
        except ApartError as apart:
            splits += 1
            groups = [ids[apart.labels == label] for label in np.unique(apart.labels)]
            (waiting if splits <= _MOST_SPLITS else dense).extend(groups)
        except TooDenseError:
            dense.append(ids)
    return dense


def _run_batch(
    machine: Machine, kernel: Function, weight: np.ndarray[tuple[int], np.dtype[np.int64]], total: IrTally
) -> None:
    machine.bind_parameters(kernel)
    run_function(machine, kernel, weight)
    if machine.exact:
        machine.tape.rewind()
        flags = (LOWER if machine.tape.incomplete else 0) | (UPPER if machine.tape.blurred else 0)
        if flags:
            _doubt_useful(machine.tally, flags)
    total.include(machine.tally)


def _doubt_useful(tally: IrTally, flags: int) -> None:
    for key in [key for key in tally.amounts if key[0] == "executed"]:
        tally.add(("useful", *key[1:]), 0, flags)


def _flops(tally: IrTally, kind: str) -> tuple[Flops, ...]:
    found = sorted(key for key in tally.amounts if key[:2] == (kind, "flops"))
    return tuple(
        Flops(str(key[2]), str(key[3]), Amount.of(tally.amounts[key], tally.flags.get(key, 0))) for key in found
    )


def _amount(tally: IrTally, key: tuple[object, ...]) -> Amount:
    return Amount.of(tally.amounts.get(key, 0), tally.flags.get(key, 0))


def _special(tally: IrTally, mode: Mode) -> tuple[Special, ...]:
    found = []
    for key in sorted(key for key in tally.amounts if key[:2] == ("executed", "special")):
        executed = _amount(tally, key)
        useful = _amount(tally, ("useful", *key[1:])) if mode == "exact" else _at_most(executed)
        found.append(Special(str(key[2]), str(key[3]), executed, useful))
    return tuple(found)


def _at_most(amount: Amount) -> Amount:
    return Amount.of(amount.value or 0, amount.flags | UPPER)


def _useful(tally: IrTally, mode: Mode, executed: tuple[Flops, ...]) -> tuple[Flops, ...]:
    if mode == "shape":
        return tuple(Flops(flops.dtype, flops.engine, _at_most(flops.amount)) for flops in executed)
    return tuple(Flops(f.dtype, f.engine, _amount(tally, ("useful", "flops", f.dtype, f.engine))) for f in executed)


def _unknown_bytes(tally: IrTally, direction: IrDirection, binding: Binding) -> Amount:
    """Bytes at addresses that were not evaluated: no more than asked for, nor than their tensors hold."""
    bounded, flags = 0, 0
    everything: set[int] = set()
    for key, amount in tally.amounts.items():
        if key[:2] != ("group", direction) or not isinstance(key[2], frozenset):
            continue
        bounded += min(amount, _tensor_bytes(key[2], binding, amount))
        flags |= tally.flags.get(key, 0)
        everything |= key[2]
    return Amount.of(min(bounded, _tensor_bytes(frozenset(everything), binding, bounded)), flags)


def _tensor_bytes(roots: frozenset[int], binding: Binding, unknown: int) -> int:
    """Bytes of the tensors that some pointers can reach; `unknown` when one of them was not described."""
    if not roots or not all(root in binding.tensors for root in roots):
        return unknown
    return binding.memory_bytes(roots)


def _pointers(plan: CountPlan) -> frozenset[int]:
    """Parameters that any access can reach."""
    return frozenset[int]().union(*plan.roots.values())


def _bytes(plan: CountPlan, tally: IrTally, direction: IrDirection, binding: Binding) -> DirectionBytes:
    mode = plan.mode
    requested = _amount(tally, ("requested", direction))
    unknown = _unknown_bytes(tally, direction, binding)
    touched, flags = tally.touched[direction], tally.flags.get(("touched", direction), 0)
    flags |= unknown.flags | (requested.flags & LOWER)
    distinct = touched.size_bytes() + (unknown.value or 0)
    if unknown.value:  # what some accesses touch for certain, others at unknown addresses may touch again
        distinct = max(touched.size_bytes(), min(distinct, _tensor_bytes(_pointers(plan), binding, distinct)))
    compulsory = Amount.of(distinct, flags)
    requested = Amount.of(requested.value or 0, requested.flags | tally.flags.get(("repeated", direction), 0))
    if mode == "shape":
        nothing = (
            Amount(0, "exact") if requested.value == 0 and requested.exactness == "exact" else Amount(None, "unknown")
        )
        return DirectionBytes(requested, compulsory, nothing, nothing)
    far = _amount(tally, ("sectors", direction))
    sectors = Amount.of(touched.sectors() + (far.value or 0), flags | far.flags)
    return DirectionBytes(requested, compulsory, sectors, _amount(tally, ("sector_requests", direction)))


def _result(
    plan: CountPlan, kernel: Function, binding: Binding, grid: tuple[int, int, int], tally: IrTally
) -> KernelCount:
    executed = _flops(tally, "executed")
    return KernelCount(
        name=kernel.name,
        mode=plan.mode,
        grid=grid,
        executed=executed,
        useful=_useful(tally, plan.mode, executed),
        special=_special(tally, plan.mode),
        read=_bytes(plan, tally, "read", binding),
        written=_bytes(plan, tally, "written", binding),
        notes=tuple(IrNote(line, text) for line, text in sorted(tally.notes)),
    )
