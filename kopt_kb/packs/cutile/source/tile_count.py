"""The work of a launch of Tile IR: operations and bytes of every block, its loops and edges followed exactly.

What a block does depends on its place, the extents of arrays and numbers that are passed, and those are evaluated for
all blocks at once; elements are not. Rules of counting are those of Triton IR (`analysis.ttir.costs`): a multiply-add
of a tile is 2·M·N·K on the matrix engine, add, subtract, multiply, divide, minimum and maximum one a lane, a fused
multiply-add two, exponentials and roots are kept apart. A tile that reaches beyond its array asks for what lies within;
then useful operations are an upper bound. Bytes are distinct elements of arrays, whatever tiles they lie in.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from kopt_kb.analysis.ir.triton.irtypes import IrType
from kopt_kb.analysis.ir.triton.model import IrError
from kopt_kb.analysis.ir.triton.result import Amount, DirectionBytes, Flops, IrCount, IrNote, KernelCount, Special
from kopt_kb.analysis.ir.triton.tally import LOWER, UPPER, IrDirection, IrTally
from kopt_kb.packs.cutile.source.tile_ir import TileEntry, TileOp, parse_tile_ir, tile_type
from kopt_kb.packs.cutile.source.tile_touched import BlockLanes, TileTouched

__all__ = ["TileArray", "count_tile_ir"]

_MOST_STEPS = 1 << 26
"""Blocks times trips that are followed: seconds of one core."""

_MOST_TILES = 1 << 28
"""Tiles of one size that an array has: a byte each."""

_FLOPS = {**dict.fromkeys(("addf", "subf", "mulf", "divf", "remf", "maxf", "minf"), 1), "fma": 2}
_ROOTS = ("sqrt", "rsqrt", "atan2", "fpowf", "fpowi")
_SPECIAL = {"exp", "exp2", "log", "log2", "sin", "cos", "tan", "sinh", "cosh", "tanh", *_ROOTS}
_PRODUCTS = ("mmaf", "mmai", "mmaf_scaled")
_NAME = re.compile(r"%[\w.$]+(?:#\d+)?")
_LIST = re.compile(r"(\w+) = \[([^\]]*)\]")
_FOR = re.compile(r"(?:unsigned )?(%\S+) in \((\S+) to (\S+), step (\S+)\)")
_ITER = re.compile(r"iter_values\((.*?)\)")
_VIEW = re.compile(r"partition_view<tile=\(([\dx]+)\)")
_DIMS = re.compile(r"dim_map=\[([\d, ]*)\]")
_PREDICATES: Mapping[str, Callable[[Any, Any], Any]] = {
    "equal": np.equal, "not_equal": np.not_equal, "less_than": np.less, "less_than_or_equal": np.less_equal,
    "greater_than": np.greater, "greater_than_or_equal": np.greater_equal,
}  # fmt: skip
_INTEGERS: Mapping[str, Callable[[Any, Any], Any]] = {
    "addi": np.add, "subi": np.subtract, "muli": np.multiply, "mini": np.minimum, "maxi": np.maximum,
    "andi": np.bitwise_and, "ori": np.bitwise_or, "xori": np.bitwise_xor, "shli": np.left_shift, "shri": np.right_shift,
}  # fmt: skip
_SAME = {"assume", "exti", "trunci", "bitcast"}


@dataclass(frozen=True, slots=True)
class TileArray:
    """An array that a launch is given: extents and strides, in elements."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _View:
    base: object
    shape: tuple[int, ...]
    item_bytes: int
    tile: tuple[int, ...] = ()
    dims: tuple[int, ...] = ()


TileValue = int | float | BlockLanes | tuple[object, ...] | _View | None
"""What a name stands for: a number, one a block, an array's address, a view; None where it depends on data."""


def count_tile_ir(
    text: str, grid: Sequence[int], arguments: Sequence[TileArray | float | None], *, file: str = "<tile ir>"
) -> IrCount:
    """Return the work of a launch.

    Args:
        text: Tile IR of one kernel.
        grid: Blocks along each axis.
        arguments: In order: arrays, whose address, extents and strides are parameters, and numbers.
        file: What errors name.

    Raises:
        IrError: The text is no Tile IR, arguments do not fit, or control flow depends on data.
    """
    entry = parse_tile_ir(text, file)
    sizes = (*map(int, grid), 1, 1)[:3]
    given: list[TileValue] = []
    for at, one in enumerate(arguments):
        given += [("array", at), *one.shape, *one.strides] if isinstance(one, TileArray) else [one]
    if len(given) != len(entry.parameters):
        what = f"{entry.name} has {len(entry.parameters)} parameters, the arguments make {len(given)}"
        raise IrError(what, where=file, fix="give arrays and numbers in the order of the launch", code="KB042")
    walk = _Walk(sizes, file)
    walk.env |= dict(zip(entry.parameters, given, strict=True))
    walk.run(entry.ops, np.ones(prod(sizes), dtype=bool))
    return IrCount(file, (_result(entry, sizes, walk),))


class _Walk:
    """Runs the operations of all blocks, those that decide where something happens evaluated."""

    def __init__(self, grid: tuple[int, ...], file: str) -> None:
        self.env: dict[str, TileValue] = {}
        self.grid, self.file, self.steps = grid, file, 0
        self.tally = IrTally()
        self.touched: dict[IrDirection, TileTouched] = {"read": TileTouched(), "written": TileTouched()}
        ids = np.arange(prod(grid), dtype=np.int64)
        self.place = (ids % grid[0], ids // grid[0] % grid[1], ids // (grid[0] * grid[1]))

    def fail(self, op: TileOp, what: str) -> IrError:
        fix = "take the operation's closed form: kb roofline --op OP --shape MxN"
        return IrError(f"{op.name}: {what}", where=f"{self.file}:{op.line}", fix=fix, code="KB086")

    def run(self, ops: Sequence[TileOp], active: BlockLanes) -> tuple[Any, ...]:
        """Run operations in the blocks that come there; return what the last one hands on."""
        for op in ops:
            if op.name in {"yield", "continue", "return"}:
                return tuple(self.env.get(name) for name in _NAME.findall(op.text))
            try:
                self.one(op, active)
            except (IndexError, ValueError, TypeError, KeyError) as error:
                raise self.fail(op, f"is of a form that is not known: {op.text[:60]}") from error
        return ()

    def one(self, op: TileOp, active: BlockLanes) -> None:
        """Run one operation."""
        if op.name == "for":
            self.loop(op, active)
        elif op.name == "if":
            self.branch(op, active)
        elif op.name in {"loop", "break"}:
            raise self.fail(op, "trips that depend on data are not counted")
        else:
            self.env |= zip(op.results, self.values(op), strict=False)
            self.cost(op, int(active.sum()))
            self.access(op, active)

    def whole(self, op: TileOp, value: Any) -> BlockLanes:
        if value is None or isinstance(value, tuple | _View):
            raise self.fail(op, "depends on data, or on an argument that is not given")
        return np.broadcast_to(np.asarray(value), self.place[0].shape)

    def loop(self, op: TileOp, active: BlockLanes) -> None:
        found = _FOR.match(op.text)
        if found is None:
            raise self.fail(op, f"a loop of unknown form: {op.text[:60]}")
        first, last, step = (self.whole(op, self.value(name)) for name in found.groups()[1:])
        trips = np.maximum(-((first - last) // np.where(step == 0, 1, step)), 0)
        carried = _ITER.search(f"{op.text} : {op.types}")
        pairs = [one.split(" = ") for one in carried[1].split(", ")] if carried else []
        state: list[Any] = [self.value(start) for _, start in pairs]
        for trip in range(int(np.where(active, trips, 0).max(initial=0))):
            here = active & (trips > trip)
            self.steps += int(here.sum())
            if self.steps > _MOST_STEPS:
                raise IrError("more steps of blocks than are followed", where=f"{self.file}:{op.line}", code="KB043")
            self.env[found[1]] = first + trip * step
            self.env |= {name: one for (name, _), one in zip(pairs, state, strict=True)}
            state = [_chosen(here, new, old) for new, old in zip(self.run(op.regions[0], here), state, strict=True)]
        self.env |= zip(op.results, state, strict=False)

    def branch(self, op: TileOp, active: BlockLanes) -> None:
        taken = self.whole(op, self.value(_NAME.findall(op.text)[0])).astype(bool)
        yes = self.run(op.regions[0], active & taken)
        no = self.run(op.regions[1], active & ~taken) if len(op.regions) > 1 else ()
        made = [_chosen(taken, one, other) for one, other in zip(yes, no, strict=False)]
        self.env |= zip(op.results, made, strict=False)

    def value(self, name: str) -> Any:
        """Return what a name stands for; a plain number stands for itself."""
        word = name.strip().rstrip(",")
        return self.env.get(word) if word.startswith("%") else _number(word)

    def values(self, op: TileOp) -> tuple[Any, ...]:
        """Return the results of an operation; None where nobody needs to know."""
        operands = [self.env.get(name) for name in _NAME.findall(op.text)]
        if op.name == "get_tile_block_id":
            return self.place
        if op.name == "get_num_tile_blocks":
            return self.grid
        if op.name == "make_tensor_view":
            return (self.tensor(op, operands),)
        if op.name == "make_partition_view" and isinstance(operands[0], _View):
            return (self.partition(op, operands[0]),)
        if op.name == "get_index_space_shape" and isinstance(operands[0], _View):
            one = operands[0]
            return tuple(-(-one.shape[dim] // size) for dim, size in zip(one.dims, one.tile, strict=True))
        if op.name == "get_tensor_shape" and isinstance(operands[0], _View):
            return operands[0].shape
        kind = tile_type(op.types)
        if kind is None or kind.shape:
            return ()
        return (_scalar(op, operands),)

    def tensor(self, op: TileOp, operands: list[Any]) -> _View:
        lists = dict(_LIST.findall(op.text))
        shape = tuple(self.value(one) for one in lists.get("shape", "").split(",") if one.strip())
        sizes = [self.whole(op, one) for one in shape]
        if any(len(np.unique(one)) > 1 for one in sizes):
            raise self.fail(op, "views of another shape in each block are not counted")
        element = IrType(
            "scalar", op.types.rpartition("tensor_view<")[2].partition(",")[0].rpartition("x")[2].strip("> ")
        )
        return _View(operands[0], tuple(int(one.flat[0]) for one in sizes), element.itemsize_bytes)

    def partition(self, op: TileOp, view: _View) -> _View:
        found, dims = _VIEW.search(op.types), _DIMS.search(op.types)
        if found is None:
            raise self.fail(op, f"a view of unknown form: {op.types[:60]}")
        tile = tuple(int(one) for one in found[1].split("x"))
        order = tuple(int(one) for one in dims[1].split(",")) if dims else tuple(range(len(tile)))
        return _View(view.base, view.shape, view.item_bytes, tile, order)

    def cost(self, op: TileOp, times: int) -> None:
        kind = tile_type(op.types)
        if kind is None:
            return
        if op.name in _PRODUCTS:
            left = tile_type(op.types.partition(", tile")[0]) or kind
            work = 2 * prod(kind.shape) * left.shape[-1] * times
            self.tally.add(("executed", "flops", left.dtype, "matrix"), work)
        elif op.name in {"reduce", "scan"}:
            source = tile_type(op.types.partition("->")[0]) or kind
            outputs = kind.lanes if op.name == "reduce" else source.lanes // source.shape[_axis(op)]
            for inner in op.regions[0]:
                self.lanes(inner, tile_type(inner.types), (source.lanes - outputs) * times)
        else:
            self.lanes(op, kind, kind.lanes * times)

    def lanes(self, op: TileOp, kind: IrType | None, lanes: int) -> None:
        if kind is not None and kind.is_float and op.name in _FLOPS:
            self.tally.add(("executed", "flops", kind.dtype, "vector"), _FLOPS[op.name] * lanes)
        elif kind is not None and kind.is_float and op.name in _SPECIAL:
            self.tally.add(("executed", "special", kind.dtype, op.name), lanes)

    def access(self, op: TileOp, active: BlockLanes) -> None:
        if op.name.endswith("_ptr_tko") or op.name.startswith("atomic_") or "gather_scatter_view<" in op.types:
            self.elsewhere(op, active)
        if op.name not in {"load_view_tko", "store_view_tko"} or "gather_scatter_view<" in op.types:
            return
        way: IrDirection = "read" if op.name.startswith("load") else "written"
        named, _, rest = op.text.partition("[")
        view = self.env.get(_NAME.findall(named)[-1])
        if not isinstance(view, _View) or not view.tile:
            raise self.fail(op, "an access through a view of unknown form")
        index = [self.whole(op, self.value(one)) for one in rest.partition("]")[0].split(",")]
        place = [np.zeros(0, np.int64)] * len(view.shape)
        tile = [1] * len(view.shape)
        for dim, size, at in zip(view.dims, view.tile, index, strict=True):
            place[dim], tile[dim] = at, size
        if prod(-(-size // step) for size, step in zip(view.shape, tile, strict=True)) > _MOST_TILES:
            raise IrError("more tiles of an array than are followed", where=f"{self.file}:{op.line}", code="KB043")
        asked, clipped = self.touched[way].add(view.base, view.shape, view.item_bytes, tuple(tile), place, active)
        self.tally.add(("requested", way), asked)
        if clipped:
            self.tally.note(op.line, "tiles reach beyond their array: useful operations are an upper bound")

    def elsewhere(self, op: TileOp, active: BlockLanes) -> None:
        """Count an access by pointers: what is asked for at most, addresses unknown."""
        reads = op.name.startswith(("load", "atomic"))
        kind = tile_type(op.types.partition("->")[2]) if reads else tile_type(op.types.rpartition(",")[0])
        size = kind.lanes * kind.itemsize_bytes * int(active.sum()) if kind is not None else 0
        for way in (["read"] if reads else []) + (["written"] if not op.name.startswith("load") else []):
            self.tally.add(("requested", way), size, UPPER)
            self.tally.add(("touched", way), 0, UPPER | LOWER)
        self.tally.note(op.line, f"{op.name} goes by pointers, whose addresses are not followed")


def _axis(op: TileOp) -> int:
    found = re.search(r"dim=(\d+)", op.text)
    return int(found[1]) if found else 0


def _number(word: str) -> int | None:
    return {"true": 1, "false": 0}.get(word, int(word) if re.fullmatch(r"-?\d+", word) else None)


def _scalar(op: TileOp, operands: list[Any]) -> Any:
    """Return the value of an operation on numbers, None where it is no whole number or not known."""
    if op.name == "constant":
        return _number(f"{op.text} : {op.types}".partition(": ")[2].partition(">")[0].strip())
    if op.name in _SAME:
        return operands[0]
    if any(one is None or isinstance(one, tuple | _View) for one in operands) or not operands:
        return None
    if op.name == "select":
        return np.where(np.asarray(operands[0]).astype(bool), operands[1], operands[2])
    if op.name == "cmpi":
        return _PREDICATES[op.text.split()[0]](operands[0], operands[1]).astype(np.int64)
    if op.name in {"divi", "remi"}:
        return _divided(op, *(np.asarray(one) for one in operands))
    return _INTEGERS[op.name](*operands) if op.name in _INTEGERS else None


def _divided(op: TileOp, above: BlockLanes, below: BlockLanes) -> Any:
    safe = np.where(below == 0, 1, below)
    if op.name == "remi":
        return np.fmod(above, safe)
    if "negative_inf" in op.text:
        return above // safe
    return -(-above // safe) if "positive_inf" in op.text else np.trunc(above / safe).astype(np.int64)


def _chosen(here: BlockLanes, new: Any, old: Any) -> Any:
    if any(one is None or isinstance(one, tuple | _View) for one in (new, old)):
        return new if new is old else None
    return np.where(here, new, old)


def _result(entry: TileEntry, grid: tuple[int, ...], walk: _Walk) -> KernelCount:
    tally = walk.tally
    doubt = UPPER if any("beyond" in text for _, text in tally.notes) else 0
    found = sorted(key for key in tally.amounts if key[:2] == ("executed", "flops"))
    special = sorted(key for key in tally.amounts if key[:2] == ("executed", "special"))
    return KernelCount(
        name=entry.name, mode="exact", grid=(grid[0], grid[1], grid[2]),
        executed=tuple(Flops(str(key[2]), str(key[3]), Amount.of(tally.amounts[key])) for key in found),
        useful=tuple(Flops(str(key[2]), str(key[3]), Amount.of(tally.amounts[key], doubt)) for key in found),
        special=tuple(
            Special(str(key[2]), str(key[3]), Amount.of(tally.amounts[key]), Amount.of(tally.amounts[key], doubt))
            for key in special
        ),
        read=_bytes(walk, "read"), written=_bytes(walk, "written"),
        notes=tuple(IrNote(line, text) for line, text in sorted(tally.notes)),
    )  # fmt: skip


def _bytes(walk: _Walk, way: IrDirection) -> DirectionBytes:
    asked, flags = walk.tally.amounts.get(("requested", way), 0), walk.tally.flags.get(("requested", way), 0)
    touched = Amount.of(walk.touched[way].size_bytes(), walk.tally.flags.get(("touched", way), 0))
    nothing = Amount(0, "exact") if asked == 0 and not flags else Amount(None, "unknown")
    return DirectionBytes(Amount.of(asked, flags), touched, nothing, nothing)
