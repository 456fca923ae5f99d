"""What has to be evaluated for a count, what each block costs, and which arguments a pointer can come from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from kopt_kb.analysis.ir.triton.costs import CostKey, op_cost
from kopt_kb.analysis.ir.triton.model import Block, Function, Module, Op, Region

__all__ = ["BlockSummary", "CountPlan", "IrAccess", "Mode", "accesses", "make_plan"]

Mode = Literal["shape", "exact"]
_CONTROL = {"scf.for": 3, "scf.if": 1, "cf.cond_br": 1}
_STRUCTURED = (
    "scf.for", "scf.while", "scf.if", "tt.call", "tt.return", "scf.yield", "scf.condition",
    "ttg.warp_specialize",
)  # fmt: skip
_READS = ("tt.load", "tt.descriptor_load", "tt.descriptor_gather", "tt.atomic_load", "tt.atomic_poll")
_WRITES = ("tt.store", "tt.descriptor_store", "tt.descriptor_scatter", "tt.atomic_store")
_BOTH = ("tt.atomic_rmw", "tt.atomic_cas", "tt.descriptor_reduce")
MEMORY = (*_READS, *_WRITES, *_BOTH)


@dataclass(frozen=True, slots=True)
class IrAccess:
    """One memory operation: directions, bytes when no lane is masked, and whether lanes can be off."""

    op: Op
    directions: tuple[Literal["read", "written"], ...]
    full_bytes: int
    partial: bool


@dataclass(slots=True)
class BlockSummary:
    """Straight-line cost of one execution of a block, and the operations that must be walked."""

    cost: dict[CostKey, int] = field(default_factory=dict)
    accesses: list[IrAccess] = field(default_factory=list)
    walked: list[Op] = field(default_factory=list)
    uncounted: list[Op] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class CountPlan:
    """The static facts of one kernel in one mode.

    Attributes:
        required: Values that control flow (and, in exact mode, addresses and masks) depend on.
        needed: Those, and in exact mode what selects depend on, which useful work is read from.
        roots: For pointer values, the kernel parameters they can come from.
        known_loads: Results of loads from a parameter whose contents are given and never written.
        summaries: Block summaries by the block's identity.
    """

    module: Module
    mode: Mode
    required: frozenset[int]
    needed: frozenset[int]
    roots: dict[int, frozenset[int]]
    summaries: dict[int, BlockSummary]
    most_lanes: int
    known_loads: frozenset[int]

    def summary(self, block: Block) -> BlockSummary:
        """The summary of a block of this module."""
        return self.summaries[id(block)]


def accesses(op: Op, module: Module) -> IrAccess | None:
    """How an operation touches global memory; None when it does not."""
    if op.name not in MEMORY:
        return None
    if op.name in _READS:
        directions: tuple[Literal["read", "written"], ...] = ("read",)
    else:
        directions = ("written",) if op.name in _WRITES else ("read", "written")
    data = module.types[op.results[0]] if op.results else module.types[_stored(op)]
    partial = "descriptor" in op.name or "boundaryCheck" in op.attributes or _mask_operand(op) is not None
    return IrAccess(op, directions, data.lanes * data.itemsize_bytes, partial)


def _stored(op: Op) -> int:
    return op.operands[-1] if op.name.startswith("tt.descriptor") else op.operands[1]


def _mask_operand(op: Op) -> int | None:
    position = {"tt.load": 1, "tt.store": 2, "tt.atomic_rmw": 2, "tt.atomic_load": 1, "tt.atomic_store": 2}.get(op.name)
    return op.operands[position] if position is not None and len(op.operands) > position else None


def _blocks(region: Region) -> Iterator[Block]:
    for block in region.blocks:
        yield block
        for op in block.ops:
            for inner in op.regions:
                yield from _blocks(inner)


class _Flow:
    """Data-flow edges between values: `sources[v]` are the values that v is made of."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.sources: dict[int, set[int]] = defaultdict(set)
        self.seeds: dict[Mode, set[int]] = {"shape": set(), "exact": set()}
        self.conditions: set[int] = set()
        for function in module.functions:
            for block in _blocks(function.body):
                for op in block.ops:
                    self._op(op, function)

    def _link(self, targets: Iterable[int], sources: Iterable[int]) -> None:
        for target, source in zip(targets, sources, strict=False):
            self.sources[target].add(source)

    def _op(self, op: Op, function: Function) -> None:
        if op.name in _CONTROL:
            self.seeds["shape"].update(op.operands[: _CONTROL[op.name]])
        if op.name == "scf.for":
            self._loop(op)
        elif op.name == "scf.while":
            self._while(op)
        elif op.name == "scf.if":
            for region in op.regions:
                self._link(op.results, region.entry.ops[-1].operands if region.entry.ops else ())
        elif op.name == "ttg.warp_specialize":
            for region in op.regions:
                self._link(region.entry.parameters, op.operands)
            self._link(op.results, op.regions[0].entry.ops[-1].operands)
        elif op.name == "tt.call":
            self._call(op)
        else:
            self._plain(op, function)

    def _loop(self, op: Op) -> None:
        body = op.regions[0].entry
        yielded = body.ops[-1].operands if body.ops else ()
        self.sources[body.parameters[0]].update((op.operands[0], op.operands[2]))
        for targets in (body.parameters[1:], op.results):
            self._link(targets, op.operands[3:])
            self._link(targets, yielded)
        # A result is what the last iteration carried, so that its own parameter is part of it.
        self._link(op.results, body.parameters[1:])

    def _while(self, op: Op) -> None:
        before, after = (region.entry for region in op.regions)
        condition = before.ops[-1].operands
        self.seeds["shape"].add(condition[0])
        self._link(before.parameters, op.operands)
        self._link(before.parameters, after.ops[-1].operands)
        self._link(after.parameters, condition[1:])
        self._link(op.results, condition[1:])

    def _call(self, op: Op) -> None:
        callee = self.module.function(op.detail["callee"])
        self._link(callee.parameters, op.operands)
        for block in callee.body.blocks:
            if block.ops and block.ops[-1].name == "tt.return":
                self._link(op.results, block.ops[-1].operands)

    def _plain(self, op: Op, function: Function) -> None:
        for successor in op.successors:
            block = next(b for b in function.body.blocks if b.label == successor.label)
            self._link(block.parameters, successor.arguments)
        opaque = op.name in MEMORY
        for result in op.results:
            self.sources[result].update(() if opaque else op.operands)
        if opaque:
            self.seeds["exact"].update(_addressing(op))
        elif op.name == "arith.select":
            self.conditions.add(op.operands[0])

    def closure(self, start: Iterable[int]) -> frozenset[int]:
        seen, stack = set(start), list(start)
        while stack:
            for source in self.sources.get(stack.pop(), ()):
                if source not in seen:
                    seen.add(source)
                    stack.append(source)
        return frozenset(seen)


def _addressing(op: Op) -> list[int]:
    if op.name in ("tt.descriptor_store", "tt.descriptor_scatter", "tt.descriptor_reduce"):
        return list(op.operands[:-1])
    mask = _mask_operand(op)
    if op.name.startswith("tt.descriptor"):
        return list(op.operands)
    return [op.operands[0]] if mask is None else [op.operands[0], mask]


def _pointer_roots(flow: _Flow, kernel: Function, found: Iterable[IrAccess]) -> dict[int, frozenset[int]]:
    types = flow.module.types
    pointers = {
        value: index for index, value in enumerate(kernel.parameters) if types[value].kind in ("pointer", "descriptor")
    }
    starts = {access.op.operands[0] for access in found}
    return {start: frozenset(pointers[v] for v in flow.closure([start]) if v in pointers) for start in starts}


GivenContents = Mapping[int, frozenset[int]]
_NO_CONTENTS: GivenContents = MappingProxyType({})


def _known_loads(found: Iterable[IrAccess], roots: dict[int, frozenset[int]], contents: GivenContents) -> list[Op]:
    """Loads that can only read parameters whose contents are given, when nothing writes those."""
    written = {root for access in found if "written" in access.directions for root in roots[access.op.operands[0]]}
    readable = {root for root, sharing in contents.items() if written.isdisjoint(sharing)}
    return [
        access.op
        for access in found
        if access.op.name == "tt.load" and len(roots[access.op.operands[0]]) == 1
        and roots[access.op.operands[0]] <= readable
    ]  # fmt: skip


def _summarise(module: Module, block: Block, needed: frozenset[int], mode: Mode) -> BlockSummary:
    summary = BlockSummary()
    for op in block.ops:
        for key, count in op_cost(op, module).items():
            summary.cost[key] = summary.cost.get(key, 0) + count
        access = accesses(op, module)
        if access is not None:
            summary.accesses.append(access)
        if op.name == "tt.elementwise_inline_asm":
            summary.uncounted.append(op)
        if mode == "exact" or op.name in _STRUCTURED or op.successors or not needed.isdisjoint(op.results):
            summary.walked.append(op)
    return summary


def make_plan(module: Module, kernel: Function, mode: Mode, contents: GivenContents = _NO_CONTENTS) -> CountPlan:
    """Analyse a module for counting one of its kernels.

    Args:
        module: The parsed text.
        kernel: The function that is launched.
        mode: `shape` or `exact`.
        contents: Parameters whose contents are given, with all that share their memory.
    """
    flow = _Flow(module)
    blocks = [block for function in module.functions for block in _blocks(function.body)]
    found = [access for block in blocks for op in block.ops if (access := accesses(op, module)) is not None]
    roots = _pointer_roots(flow, kernel, found)
    known = _known_loads(found, roots, contents)
    for op in known:
        flow.sources[op.results[0]].update(op.operands)
    seeds = flow.seeds["shape"] | (flow.seeds["exact"] if mode == "exact" else set())
    required = flow.closure(seeds)
    needed = flow.closure(seeds | flow.conditions) if mode == "exact" else required
    return CountPlan(
        module=module,
        mode=mode,
        required=required,
        needed=needed,
        roots=roots,
        summaries={id(block): _summarise(module, block, needed, mode) for block in blocks},
        most_lanes=max((kind.lanes for kind in module.types if kind.kind == "tensor"), default=1),
        known_loads=frozenset(op.results[0] for op in known),
    )
