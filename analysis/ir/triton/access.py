"""Global memory operations of programs that run: which bytes they ask for, and what a load yields."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from kopt_kb.analysis.ir.triton.footprint import SECTOR_BYTES, runs_of, sectors_per_row
from kopt_kb.analysis.ir.triton.integers import numpy_type
from kopt_kb.analysis.ir.triton.model import Op
from kopt_kb.analysis.ir.triton.plan import IrAccess
from kopt_kb.analysis.ir.triton.shifted import ApartError, agreed
from kopt_kb.analysis.ir.triton.tally import UPPER
from kopt_kb.analysis.ir.triton.values import Array, BlockView, Bools, Node, Shifted, Value, expand, lanes, shape_of

if TYPE_CHECKING:
    from kopt_kb.analysis.ir.triton.machine import Machine

__all__ = ["keep", "known_contents", "run_access", "shape_access", "view_addresses"]

_ACCESS_LANES = 1 << 12
"""Lanes that take as long to follow as recording an access of programs that are alike."""
_MASK_AT = {"tt.load": 1, "tt.store": 2, "tt.atomic_rmw": 2, "tt.atomic_load": 1, "tt.atomic_store": 2}


def shape_access(machine: Machine, access: IrAccess, times: int) -> None:
    """Count a memory operation from its shape alone: masks may make it smaller."""
    flags = UPPER if access.partial else 0
    amount = access.full_bytes * times
    roots = machine.plan.roots.get(access.op.operands[0], frozenset())
    for direction in access.directions:
        machine.tally.add(("requested", direction), amount, flags)
        machine.tally.add(("group", direction, roots), amount, UPPER)


def view_addresses(
    view: BlockView, checked: Sequence[int], steps: Sequence[Array], *, kept: bool = False
) -> tuple[Array | Shifted, Bools | None]:
    """Byte addresses of a block and the lanes inside the tensor along the checked dimensions.

    `steps[d]` are the coordinates along dimension d relative to the view's offset, program axis first. `kept`: as a
    shift of lanes where that can be, and with masks on which programs agree.
    """
    alike = all(step.shape[0] == 1 for step in steps) and all(bool((one == one[0]).all()) for one in view.strides)
    if kept and alike:
        return _shifted_view(view, checked, steps)
    rank = len(view.block)
    address: Array = expand(view.base, rank)
    mask: Bools | None = None
    for axis, step in enumerate(steps):
        coordinate = expand(view.offsets[axis].astype(np.int64), rank) + step
        address = np.add(address, coordinate * expand(view.strides[axis].astype(np.int64), rank) * view.itemsize_bytes)
        if axis in checked:
            inside = (coordinate >= 0) & (coordinate < expand(view.extents[axis], rank))
            mask = inside if mask is None else mask & inside
    return address, mask


def _shifted_view(
    view: BlockView, checked: Sequence[int], steps: Sequence[Array]
) -> tuple[Array | Shifted, Bools | None]:
    base = view.base.astype(np.int64)
    pattern: Array = np.zeros((1,) * (1 + len(view.block)), np.int64)
    mask: Bools | None = None
    for axis, step in enumerate(steps):
        offset, stride = view.offsets[axis].astype(np.int64), int(view.strides[axis][0]) * view.itemsize_bytes
        base, pattern = base + offset * stride, pattern + step * stride
        if axis in checked:
            low, high = int(step.min()) - 1, int(step.max()) + 1
            first, after = agreed(-offset, low, high), agreed(view.extents[axis] - offset, low, high)
            inside = (step >= first) & (step < after)
            mask = inside if mask is None else mask & inside
    address = Shifted(base, pattern)
    return (address.dense() if base.size == 1 else address), mask


def _ranges(block: tuple[int, ...]) -> list[Array]:
    rank = len(block)
    return [
        np.arange(n, dtype=np.int64).reshape(1, *(n if i == axis else 1 for i in range(rank)))
        for axis, n in enumerate(block)
    ]


def run_access(machine: Machine, op: Op, weight: Array, access: IrAccess) -> None:
    """Execute one memory operation of the active programs."""
    values = [machine.get(value) for value in op.operands]
    data = op.results[0] if op.results else op.operands[-1 if "descriptor" in op.name else 1]
    kind = machine.plan.module.types[data]
    address, mask, fill = _locate(op, values, kind.shape, kept=machine.most_dense is not None)
    active = np.asarray(weight > 0)
    if active.all():
        active = np.ones(1, np.bool_)
    _shared_padding(machine, op, mask, active)
    _record(machine, op, access, (address, mask, active), shape_of(kind))
    tape = machine.tape
    lit = expand(active, len(kind.shape))
    for value in (values[0], mask):
        if isinstance(value, Node):
            tape.sink(value, expand(active, len(value.shape)))
    stored = values[len(op.operands) - 1 if "descriptor" in op.name else 1] if "written" in access.directions else None
    if isinstance(stored, Node):
        tape.sink(stored, _demanded(machine, lit, mask))
    for result in op.results:
        known = known_contents(machine, op, values)
        machine.env[result] = _loaded(machine, op, values, mask, fill) if known is None else known


def keep(machine: Machine, op: Op, weight: Array) -> None:
    """Ask for all lanes of a value that goes to shared or tensor memory, whoever reads it there."""
    value = machine.get(op.operands[0])
    if not isinstance(value, Node):
        return
    lit = expand(np.asarray(weight > 0), len(value.shape))
    if value.pad is not None and bool((value.pad & lit).any()):
        machine.tape.blur(op.line, "shared memory")
    machine.tape.sink(value, lit)


def _shared_padding(machine: Machine, op: Op, mask: Bools | Node | None, active: Bools) -> None:
    """Note that lanes outside a tensor go to or come from shared memory, where they are told apart no more.

    A copy without any lane, such as one for the step behind the last, leaves nothing there.
    """
    if "shared" not in op.attributes or mask is None:
        return
    if isinstance(mask, Node):
        machine.tape.blur(op.line, "shared memory")
        return
    copied = mask.reshape(mask.shape[0], -1).any(1) & active
    if bool((~mask & expand(copied, mask.ndim - 1)).any()):
        machine.tape.blur(op.line, "shared memory")


def known_contents(machine: Machine, op: Op, values: list[Value]) -> Array | None:
    """What a load yields when its tensor's contents are given; None when they or its addresses are not known."""
    if not op.results or op.results[0] not in machine.plan.known_loads:
        return None
    address, *rest = (machine.dense(v, machine.type_of(k)) for v, k in zip(values[:3], op.operands, strict=False))
    if not isinstance(address, np.ndarray) or not all(isinstance(value, np.ndarray) for value in rest):
        return None
    (root,) = machine.plan.roots[op.operands[0]]
    data = machine.binding.tensors[root].data
    width = numpy_type(machine.type_of(op.results[0]))
    if data is None or width is None:
        return None
    offset = (address - machine.binding.bases[root]) // machine.itemsize(op)
    read = data.reshape(-1)[np.clip(offset, 0, max(data.size - 1, 0))].astype(width)
    masked = (np.asarray(value) for value in rest)
    mask, other = next(masked, np.ones(1, np.bool_)), next(masked, np.zeros(1, width))
    units = (1,) * (read.ndim - 1)
    lit = mask if mask.ndim == read.ndim else mask.reshape(-1, *units)
    return np.where(lit, read, other if other.ndim == read.ndim else other.reshape(-1, *units))


def _lit(lit: Bools, mask: Bools | Node | None) -> Bools:
    if isinstance(mask, Node):
        mask = mask.may
    if mask is not None and lit.size == 1 and bool(lit.all()) and mask.ndim == lit.ndim:
        return mask
    return lit if mask is None else lit & (mask if mask.ndim == lit.ndim else expand(mask, lit.ndim - mask.ndim))


def _demanded(machine: Machine, lit: Bools, mask: Bools | Node | None) -> Bools:
    """Lanes that active programs need; programs that run are told apart from others before lanes are repeated."""
    wanted = mask.may if isinstance(mask, Node) else mask
    if machine.most_dense is not None and wanted is not None and lit.size > 1 and wanted.size > wanted.shape[0]:
        raise ApartError(lit.reshape(-1).astype(np.int64))
    return _lit(lit, mask)


def _locate(
    op: Op, values: list[Value], shape: tuple[int, ...], *, kept: bool
) -> tuple[Array | Shifted | None, Bools | Node | None, float | None]:
    """(addresses or None when they depend on data, mask, padding value)."""
    pointer = values[0]
    if isinstance(pointer, BlockView):
        return _locate_view(op, pointer, values, shape, kept=kept)
    if isinstance(pointer, Node) and ("descriptor" in op.name or "boundaryCheck" in op.attributes):
        return None, Node(shape), 0.0
    position = _MASK_AT.get(op.name)
    mask = values[position] if position is not None and len(values) > position else None
    other = values[2] if op.name == "tt.load" and len(values) > 2 else None
    fill = other.const if isinstance(other, Node) else None
    known = None if isinstance(pointer, Node) else pointer
    lit = np.asarray(mask, np.bool_) if isinstance(mask, np.ndarray) else None
    return known, (mask if isinstance(mask, Node) else lit), fill


def _locate_view(
    op: Op, view: BlockView, values: list[Value], shape: tuple[int, ...], *, kept: bool
) -> tuple[Array | Shifted | None, Bools | Node | None, float | None]:
    if not op.name.startswith("tt.descriptor"):
        checked = [int(n) for n in re.findall(r"\d+", op.attributes.get("boundaryCheck", "").partition(":")[2])]
        address, mask = view_addresses(view, checked, _ranges(view.block), kept=kept)
        padding = 0.0 if op.integer("padding", 0) == 1 else None
        return address, mask, padding
    indices = values[1 : 1 + len(view.block)]
    known = [index for index in indices if isinstance(index, np.ndarray)]
    if len(known) < len(indices):
        return None, Node(shape), 0.0
    by_index = op.name in ("tt.descriptor_gather", "tt.descriptor_scatter")
    # A copy from or to shared memory moves its buffer, which may be a part of the descriptor's block.
    whole = "shared" in op.attributes and len(shape) == len(view.block)
    block = shape if by_index or whole else view.block
    steps = _ranges(block)
    if by_index:
        steps[0] = known[0].astype(np.int64).reshape(known[0].shape[0], -1, 1)
        known[0] = np.zeros(1, np.int64)
    address, mask = view_addresses(view.moved(known), range(len(view.block)), steps, kept=kept)
    lit = np.ones(1, np.bool_) if mask is None else mask
    if isinstance(address, Shifted):
        return Shifted(address.base, _shaped(address.pattern, block, shape)), _shaped(lit, block, shape), 0.0
    return _shaped(address, block, shape), _shaped(lit, block, shape), 0.0


def _shaped(array: Array, block: tuple[int, ...], shape: tuple[int, ...]) -> Array:
    """A block's array in the shape of the loaded tensor, which may leave out dimensions of length one."""
    if block == shape:
        return array
    return np.broadcast_to(array, (array.shape[0], *block)).reshape(array.shape[0], *shape)


def _record(
    machine: Machine,
    op: Op,
    access: IrAccess,
    where: tuple[Array | Shifted | None, Bools | Node | None, Bools],
    shape: tuple[int, ...],
) -> None:
    address, mask, active = where
    tally, programs = machine.tally, machine.programs
    flags = 0
    if isinstance(mask, Node):
        flags = UPPER
        tally.note(op.line, f"{op.name}: which lanes it touches depends on data")
    if isinstance(address, Shifted):
        on = _pattern(mask, len(shape))
        if on is not None:
            _record_shifted(machine, op, access, (address, on, active, flags), shape)
            return
        machine.room(address.size)
        address = address.dense()
    lit = _demanded(machine, expand(active, len(shape)), mask)
    count = lanes(lit, programs, shape)
    itemsize = machine.itemsize(op)
    for direction in access.directions:
        tally.add(("requested", direction), count * itemsize, flags)
    if address is None:
        _record_unknown(machine, op, access, count, itemsize)
        return
    rows = max(address.shape[0], lit.shape[0])
    machine.spend(rows * prod(shape))
    flat = np.broadcast_to(address, (rows, *shape)).reshape(rows, -1)
    on = np.broadcast_to(lit, (rows, *shape)).reshape(rows, -1)
    row, starts, ends = runs_of(flat.astype(np.int64, copy=False), np.asarray(on), itemsize)
    sectors = sectors_per_row(row, starts, ends) * (programs // rows)
    for direction in access.directions:
        tally.touched[direction].add(starts, ends)
        tally.add(("touched", direction), 0, flags)
        tally.add(("sector_requests", direction), sectors, flags)
    machine.check_bounds(op, starts, ends)


def _pattern(mask: Bools | Node | None, rank: int) -> Bools | None:
    """The mask of every program; None when programs differ in it."""
    known = mask.may if isinstance(mask, Node) else mask
    if known is None:
        return np.ones((1,) * (rank + 1), np.bool_)
    known = known if known.ndim == rank + 1 else expand(known, rank + 1 - known.ndim)
    return known if known.shape[0] == 1 else None


def _record_shifted(
    machine: Machine,
    op: Op,
    access: IrAccess,
    where: tuple[Shifted, Bools, Bools, int],
    shape: tuple[int, ...],
) -> None:
    """Record an access whose lanes are those of one program, shifted: runs are found once."""
    address, mask, active, flags = where
    tally, itemsize = machine.tally, machine.itemsize(op)
    base = np.broadcast_to(address.base, (machine.programs,))
    base = base if active.size == 1 else base[active]
    flat = np.broadcast_to(address.pattern, (1, *shape)).reshape(1, -1)
    on = np.broadcast_to(mask, (1, *shape)).reshape(1, -1)
    machine.spend(max(int(on.size) + int(base.size), _ACCESS_LANES))
    row, starts, ends = runs_of(flat, np.asarray(on), itemsize)
    bases = base if bool((base[1:] > base[:-1]).all()) else np.unique(base)
    counts = np.bincount(base % SECTOR_BYTES, minlength=SECTOR_BYTES)
    sectors = sum(
        sectors_per_row(row, starts + offset, ends + offset) * int(counts[offset]) for offset in np.flatnonzero(counts)
    )
    amount = int(np.count_nonzero(on)) * int(base.size) * itemsize
    for direction in access.directions:
        tally.add(("requested", direction), amount, flags)
        tally.touched[direction].add_shifted(bases, starts, ends)
        tally.add(("touched", direction), 0, flags)
        tally.add(("sector_requests", direction), sectors, flags)
    if bases.size and starts.size:
        machine.check_bounds(op, starts + bases[0], ends + bases[-1])


def _record_unknown(machine: Machine, op: Op, access: IrAccess, count: int, itemsize: int) -> None:
    machine.tally.note(op.line, f"{op.name}: its addresses depend on data, so that distinct bytes are an upper bound")
    roots = machine.plan.roots.get(op.operands[0], frozenset())
    for direction in access.directions:
        machine.tally.add(("group", direction, roots), count * itemsize, UPPER)
        machine.tally.add(("sectors", direction), count, UPPER)
        machine.tally.add(("sector_requests", direction), count, UPPER)


def _loaded(machine: Machine, op: Op, values: list[Value], mask: Bools | Node | None, fill: float | None) -> Node:
    kind = machine.plan.module.types[op.results[0]]
    shape = shape_of(kind)
    if mask is None or isinstance(mask, Node) or bool(mask.all()) or not kind.is_float:
        return Node(shape, leaf=True)
    other = values[2] if op.name == "tt.load" and len(values) > 2 else None
    if isinstance(other, Node) and other.const is None:
        return machine.tape.select(op.line, mask, Node(shape, leaf=True), other, kind)
    return Node(shape, ~mask, fill, leaf=True)
