"""Which gathers of a cuTile kernel read whole tiles: indices that are a block's number times a length plus a range."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from kopt_kb.analysis.frameworks import dotted_name
from kopt_kb.packs.cutile.source.source import CuTileFile, TextEdit, TileCall, keyword_of

__all__ = ["BlockTile", "Untiled", "load_edit", "tile_of"]


@dataclass(frozen=True, slots=True)
class BlockTile:
    """A tile by block indices: index and length of each axis as text, and the shape that a gather gives for it."""

    index: tuple[str, ...]
    lengths: tuple[str, ...]
    shape: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Untiled:
    """Why a gather is none of a tile."""

    why: str


def tile_of(file: CuTileFile, place: TileCall) -> BlockTile | Untiled:
    """Return the tile that a gather or scatter moves, or why its indices are no tile's."""
    call = place.call
    if keyword_of(call, "mask") is not None:
        return Untiled("it has a mask of its own")
    bounds = keyword_of(call, "check_bounds")  # without them every index is inside, and a load gives the same
    if bounds is not None and not _is(bounds, True) and not _is(bounds, False):
        return Untiled("whether it checks bounds is decided elsewhere")
    given = call.args[1] if len(call.args) > 1 else None
    if given is None or (place.name == "scatter" and len(call.args) < 3):
        return Untiled("its arguments are not positional")
    given = _resolved(given, place.function)
    axes = list(given.elts) if isinstance(given, ast.Tuple) else [given]
    found = [_axis(file, one, place.function, at, len(axes)) for at, one in enumerate(axes)]
    wrong = next((one for one in found if isinstance(one, Untiled)), None)
    if wrong is not None:
        return wrong
    sides = [one for one in found if not isinstance(one, Untiled)]
    if all(length == "1" for _, length in sides):
        return Untiled("every index is one number")
    shape = tuple(length for _, length in sides if length != "1")
    return BlockTile(tuple(index for index, _ in sides), tuple(length for _, length in sides), shape)


def load_edit(file: CuTileFile, place: TileCall, tile: BlockTile) -> TextEdit | Untiled:
    """Return the edit that makes a gather of a tile a load, or a scatter a store."""
    call, ct = place.call, file.module
    array, index, lengths, shape = file.source(call.args[0]), *map(_tuple, (tile.index, tile.lengths, tile.shape))
    latency = keyword_of(call, "latency")
    more = f", latency={file.source(latency)}" if latency is not None else ""
    if place.name == "scatter":
        value = file.source(call.args[2])
        value = value if lengths == shape else f"{ct}.reshape({value}, {lengths})"
        return TextEdit(*file.span(call), f"{ct}.store({array}, {index}, {value}{more})")
    padding = _padding(file, keyword_of(call, "padding_value"))
    if not padding:
        return Untiled("its padding is a value that no load pads with")
    made = f"{ct}.load({array}, {index}, {lengths}, padding_mode={ct}.PaddingMode.{padding}{more})"
    return TextEdit(*file.span(call), made if lengths == shape else f"{ct}.reshape({made}, {shape})")


def _tuple(parts: tuple[str, ...]) -> str:
    return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"


def _padding(file: CuTileFile, node: ast.expr | None) -> str:
    if node is None or _is(node, 0):
        return "ZERO"
    written = file.source(node).replace(" ", "").replace("'", '"')
    return "NEG_INF" if written in {"-math.inf", '-float("inf")', 'float("-inf")', "-np.inf"} else ""


def _axis(file: CuTileFile, node: ast.expr, function: ast.FunctionDef, at: int, axes: int) -> tuple[str, str] | Untiled:
    """Return block index and length of one axis, as text; the length of one number is 1."""
    written = file.source(node)
    node = _resolved(node, function)
    if isinstance(node, ast.Subscript):
        if axes == 1 or not _spreads(node.slice, at, axes):
            return Untiled(f"{written} is spread over another axis")
        node = _resolved(node.value, function)
    elif at < axes - 1 and _has_range(file, node, function):
        return Untiled(f"{written} is not spread over its axis")
    if not _has_range(file, node, function):
        is_one = _is_number(file, node, function)
        return (written, "1") if is_one else Untiled(f"{written} may be more than one number")
    return _scaled(file, node, function) or Untiled(f"{written} is not a block's number times the length of its range")


def _scaled(file: CuTileFile, node: ast.expr, function: ast.FunctionDef) -> tuple[str, str] | None:
    """Return block and length of `block * length + arange(length)`, in any order; None for anything else."""
    if (size := _range_size(file, node)) is not None:
        return "0", size
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Add):
        return None
    for start, lanes in ((node.left, node.right), (node.right, node.left)):
        size, product = _range_size(file, _resolved(lanes, function)), _resolved(start, function)
        if size is None or not isinstance(product, ast.BinOp) or not isinstance(product.op, ast.Mult):
            continue
        for block, length in ((product.left, product.right), (product.right, product.left)):
            if file.source(length) == size and _is_number(file, block, function):
                return file.source(block), size
    return None


def _range_size(file: CuTileFile, node: ast.expr) -> str | None:
    """Return the length of `ct.arange(n)` from 0 by 1; None for anything else."""
    if not isinstance(node, ast.Call) or len(node.args) != 1 or not _calls(file, node, "arange"):
        return None
    start, step = keyword_of(node, "start"), keyword_of(node, "step")
    plain = (start is None or _is(start, 0)) and (step is None or _is(step, 1))
    return file.source(node.args[0]) if plain else None


def _calls(file: CuTileFile, node: ast.Call, *names: str) -> bool:
    return dotted_name(node.func, file.names) in {f"cuda.tile.{one}" for one in names}


def _has_range(file: CuTileFile, node: ast.expr, function: ast.FunctionDef) -> bool:
    """Return whether an expression holds a range, itself or through names that are assigned once."""
    for one in ast.walk(node):
        if isinstance(one, ast.Call) and _calls(file, one, "arange"):
            return True
        value = _assigned(one.id, function) if isinstance(one, ast.Name) else None
        if value is not None and value is not node and _has_range(file, value, function):
            return True
    return False


def _is_number(file: CuTileFile, node: ast.expr, function: ast.FunctionDef) -> bool:
    """Return whether an expression is one number: of blocks, loop variables, parameters of a kernel and literals."""
    node = _resolved(node, function)
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int)
    if isinstance(node, ast.BinOp):
        return _is_number(file, node.left, function) and _is_number(file, node.right, function)
    if isinstance(node, ast.Call):
        return _calls(file, node, "bid", "num_blocks", "cdiv")
    if not isinstance(node, ast.Name):
        return False
    loops = [one.target for one in ast.walk(function) if isinstance(one, ast.For)]
    looped = {name.id for target in loops for name in ast.walk(target) if isinstance(name, ast.Name)}
    of_kernel = function in file.kernels and any(one.arg == node.id for one in function.args.args)
    return node.id in looped or of_kernel


def _resolved(node: ast.expr, function: ast.FunctionDef) -> ast.expr:
    """Return what a name that is assigned once stands for."""
    seen = 0
    while isinstance(node, ast.Name) and seen < 9 and (value := _assigned(node.id, function)) is not None:
        node, seen = value, seen + 1
    return node


def _assigned(name: str, function: ast.FunctionDef) -> ast.expr | None:
    """Return the value of a name's one assignment; None for a name with none, several, or another binding."""
    nodes = list(ast.walk(function))
    bound = [one for one in nodes if isinstance(one, ast.Name) and one.id == name and isinstance(one.ctx, ast.Store)]
    own = [one.value for one in nodes if isinstance(one, ast.Assign) and _targets(one) == [name]]
    parameters = {one.arg for one in function.args.args}
    return own[0] if len(bound) == len(own) == 1 and name not in parameters else None


def _targets(node: ast.Assign) -> list[str]:
    return [one.id if isinstance(one, ast.Name) else "" for one in node.targets]


def _spreads(node: ast.expr, at: int, axes: int) -> bool:
    """Return whether `[:, None]` or such puts a range on this axis of so many."""
    parts = list(node.elts) if isinstance(node, ast.Tuple) else [node]
    wanted = ["slice" if one == at else "none" for one in range(axes)]
    found = ["slice" if isinstance(one, ast.Slice) else "none" if _is(one, None) else "?" for one in parts]
    return found == wanted


def _is(node: ast.expr, value: object) -> bool:
    """Return whether a node is this literal: 0 is not False."""
    return isinstance(node, ast.Constant) and type(node.value) is type(value) and node.value == value
