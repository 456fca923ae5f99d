"""The critical rules of tile kernels, each with the versions in which it holds.

The eighteen rules of the seed were tried with cuda-tile 1.7.0 and tileiras 13.4.92. Those that the compiler no longer
knows (no `break`, `arange` begins at 0) are looked for where an older version is asked about. Rules about values
(strides of NHWC tensors, masks of tiles beyond an extent) can't be decided from the text; `NOT_DECIDED` names them.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping

from kopt_kb.analysis.frameworks import dotted_name
from kopt_kb.packs.cutile.source.findings import FindingLevel, TileFinding, TileTarget
from kopt_kb.packs.cutile.source.source import CuTileFile, keyword_of

__all__ = ["NOT_DECIDED", "RULES", "rule_findings"]

_SEEN = "tried with cuda-tile 1.7.0 and tileiras 13.4.92"
_NOTES = "cuTile Python CHANGELOG.md"
_SKILL = "TileGym 75a14307, tilegym-improve-cutile-kernel-perf, cutile-api-reference.md"
_PLAYBOOK = "TileGym 75a14307, tilegym-improve-cutile-kernel-perf, optimization-playbook.md, recipe A"

NOT_DECIDED: Mapping[int, str] = {
    6: "host arithmetic: `(n + b - 1) // b` and ct.cdiv give the same",
    13: "strides of NHWC tensors: pass tensor.stride(), and see that view(-1) does not copy",
    14: "a tile beyond an extent: mask it, and divide by the extent instead of the tile",
    15: "a scatter beyond an extent: give mask= or check_bounds",
}
"""Number of a rule → what it asks, where the text alone does not show it."""

_STATIC_SHAPES = ("zeros", "ones", "full")
_INDEX_MATH = ("add", "sub", "mul")
_ZERO_FILL_SINCE = 90


def rule_findings(file: CuTileFile, target: TileTarget) -> Iterator[TileFinding]:
    """Yield where a file breaks a rule in the versions asked about."""
    for rule in RULES.values():
        yield from rule(file, target)


def _finding(
    number: int, level: FindingLevel, node: ast.AST, what: str, fix: str, versions: str, source: str = _SEEN
) -> TileFinding:
    return TileFinding(f"rule {number}", level, getattr(node, "lineno", 0), what, fix, versions, source)


def _block_index(file: CuTileFile, _: TileTarget) -> Iterator[TileFinding]:
    """Yield indices that count elements: a block's number times an extent of the tile."""
    for call in file.calls("load", "store"):
        shape = {ast.dump(each) for each in _parts(call.call, "shape", 2)}
        for part in _parts(call.call, "index", 1):
            if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Mult):
                factors = {ast.dump(part.left), ast.dump(part.right)}
                if factors & shape:
                    what = f"the index of {call.name} is multiplied by an extent of its tile"
                    what += ": it counts tiles, not elements"
                    yield _finding(2, "error", part, what, "leave the factor out", "all", _SKILL)


def _index_math(file: CuTileFile, _: TileTarget) -> Iterator[TileFinding]:
    for call in file.calls(*_INDEX_MATH):
        inner = [each for each in call.call.args if isinstance(each, ast.Call)]
        if any(dotted_name(each.func, file.names) in {"cuda.tile.bid", "cuda.tile.num_blocks"} for each in inner):
            what = f"ct.{call.name} on a block's number may promote it"
            yield _finding(3, "note", call.call, what, "write + - * of Python", "all", f"{_SKILL}; compiles in 1.7.0")


def _accumulator(file: CuTileFile, _: TileTarget) -> Iterator[TileFinding]:
    for one in file.calls("mma"):
        if len(one.call.args) < 3 and keyword_of(one.call, "acc") is None:
            yield _finding(4, "error", one.call, "ct.mma without an accumulator", "give acc, such as ct.zeros", "all")


def _no_none(file: CuTileFile, _: TileTarget) -> Iterator[TileFinding]:
    for call in file.launches:
        for given in _parts(call, "kernel_args", 3):
            if isinstance(given, ast.Constant) and (given.value is None or isinstance(given.value, str)):
                number, kind = (5, "None") if given.value is None else (16, "a text")
                fix = (
                    "give a tensor of one element and a flag" if given.value is None else "give a number for each case"
                )
                yield _finding(number, "error", given, f"a launch passes {kind}", fix, "all")


def _methods(file: CuTileFile, _: TileTarget) -> Iterator[TileFinding]:
    wrong = {"to": "astype", "cast": "astype", "view": "reshape", "contiguous": "nothing"}
    for function in (*file.kernels, *file.helpers):
        for node in ast.walk(function):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in wrong:
                name = node.func.attr
                fix = f"write ct.astype(x, dtype) for .{name}()" if wrong[name] == "astype" else f"write {wrong[name]}"
                yield _finding(7, "error", node, f"a tile has no method {name}", fix, "all")


def _helpers(file: CuTileFile, _: TileTarget) -> Iterator[TileFinding]:
    kernels = {one.name for one in file.kernels}
    for function in (*file.kernels, *file.helpers):
        for node in ast.walk(function):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in kernels:
                fix = "take @ct.kernel off the helper: plain functions are compiled with their caller"
                yield _finding(8, "error", node, f"a kernel calls the kernel {node.func.id}", fix, "all")


def _defined(file: CuTileFile, _: TileTarget) -> Iterator[TileFinding]:
    """Yield names that only a branch defines and that are read behind it before anything else defines them."""
    for function in (*file.kernels, *file.helpers):
        known = {one.arg for one in function.args.args}
        for number, node in enumerate(function.body):
            if isinstance(node, ast.If) and not _ends(node) and not _is_static(file, function, node.test):
                one_side = (_bound(node.body) ^ _bound(node.orelse)) - known
                for name in sorted(one_side & _read_first(function.body[number + 1 :])):
                    what = f"{name} is defined in one branch only and read behind it"
                    yield _finding(9, "error", node, what, "give it a value before the branch", "all")
            known |= _bound([node])


def _is_static(file: CuTileFile, function: ast.FunctionDef, test: ast.expr) -> bool:
    """Return whether a condition may be known when the kernel is compiled: then one branch is all there is.

    Parameters of a helper and names of the module may hold constants; calls and reads of a kernel's other parameters
    are values of the run.
    """
    names = {one.id for one in ast.walk(test) if isinstance(one, ast.Name)}
    called = any(isinstance(one, ast.Call | ast.Subscript) for one in ast.walk(test))
    own = {one.arg for one in function.args.args}
    free = file.constants(function) if function in file.kernels else own
    return not called and not (names & _bound(function.body)) and not (names & own) - free


def _read_first(body: list[ast.stmt]) -> set[str]:
    """Return the names that are read before they are written, by their places in the text."""
    names = [one for node in body for one in ast.walk(node) if isinstance(one, ast.Name)]
    targets = [one.target for node in body for one in ast.walk(node) if isinstance(one, ast.AugAssign)]
    added = {id(one) for one in targets}
    first: dict[str, bool] = {}
    for one in sorted(names, key=lambda each: (each.lineno, each.col_offset)):
        first.setdefault(one.id, isinstance(one.ctx, ast.Load) or id(one) in added)
    return {name for name, is_read in first.items() if is_read}


def _ends(node: ast.If) -> bool:
    """Return whether a branch leaves the function, so that what follows sees the other's names only."""
    return any(side and isinstance(side[-1], ast.Return) for side in (node.body, node.orelse))


def _loops(file: CuTileFile, target: TileTarget) -> Iterator[TileFinding]:
    if target.cuda_tile >= (1, 6):
        return
    for function in (*file.kernels, *file.helpers):
        for node in ast.walk(function):
            if isinstance(node, ast.Break):
                what, fix = "break in a loop does not compile before 1.6", "guard the body with if, or install 1.6"
                yield _finding(10, "error", node, what, fix, "cuda-tile before 1.6", _NOTES)


def _grid(file: CuTileFile, _: TileTarget) -> Iterator[TileFinding]:
    for call in file.launches:
        if not dotted_name(call.func, file.names).endswith(".launch"):
            continue
        grid = call.args[1] if len(call.args) > 1 else None
        if isinstance(grid, ast.Lambda | ast.List) or (isinstance(grid, ast.Tuple) and not 1 <= len(grid.elts) <= 3):
            what = "the grid of a launch is no tuple of one to three numbers"
            yield _finding(11, "error", call, what, "give a tuple: (blocks, 1, 1)", "all")


def _ranges(file: CuTileFile, target: TileTarget) -> Iterator[TileFinding]:
    for call in file.calls("arange"):
        named = [each.arg for each in call.call.keywords if each.arg in {"start", "step"}]
        if len(call.call.args) > 1:
            what, fix = "ct.arange takes one number by place", "name start= and step="
            yield _finding(12, "error", call.call, what, fix, "all")
        elif named and target.cuda_tile < (1, 5):
            what = f"ct.arange has no {named[0]} before 1.5"
            yield _finding(12, "error", call.call, what, "add the start to the range", "cuda-tile before 1.5", _NOTES)


def _texts(file: CuTileFile, _: TileTarget) -> Iterator[TileFinding]:
    for kernel in file.kernels:
        for arg in kernel.args.args:
            note = arg.annotation
            if isinstance(note, ast.Subscript) and isinstance(note.slice, ast.Name) and note.slice.id == "str":
                what = f"{arg.arg} is a constant text"
                yield _finding(16, "error", arg, what, "give a number for each case", "all")


def _static_shapes(file: CuTileFile, _: TileTarget) -> Iterator[TileFinding]:
    static = {
        arg.arg for kernel in file.kernels for arg in kernel.args.args
        if arg.annotation is not None and "static_shape_dims" in ast.dump(arg.annotation)
    }  # fmt: skip
    for call in file.calls(*_STATIC_SHAPES):
        shape = keyword_of(call.call, "shape") or (call.call.args[0] if call.call.args else None)
        for node in ast.walk(shape) if shape is not None else ():
            if (
                isinstance(node, ast.Attribute)
                and node.attr == "shape"
                and not (isinstance(node.value, ast.Name) and node.value.id in static)
            ):
                what = f"the shape of ct.{call.name} is read from an array: it has to be a constant"
                fix = "pass it as ct.Constant[int], or annotate the array with static_shape_dims (since 1.5)"
                yield _finding(17, "error", call.call, what, fix, "all")
                break


def _unused(file: CuTileFile, _: TileTarget) -> Iterator[TileFinding]:
    for kernel in file.kernels:
        read = {each.id for node in kernel.body for each in _loads(node)}
        for arg in kernel.args.args:
            if arg.arg not in read:
                what = f"{kernel.name} never reads {arg.arg}"
                yield _finding(
                    18, "warning", arg, what, "leave the parameter out", "all", f"{_SKILL}; compiles in 1.7.0"
                )


def _zero_fill(file: CuTileFile, target: TileTarget) -> Iterator[TileFinding]:
    """Yield loads that may read beyond an array and say nothing of what they find there."""
    if not 0 < target.capability < _ZERO_FILL_SINCE:
        return
    for call in file.calls("load"):
        if keyword_of(call.call, "padding_mode") is None:
            what = f"a load without padding_mode: {target.name} has no TMA that fills tiles beyond an array with zeros"
            fix = "give padding_mode=ct.PaddingMode.ZERO where a tile may reach beyond the array"
            yield TileFinding("zero fill", "warning", call.line, what, fix, "Ampere and Ada", _PLAYBOOK)


def _parts(call: ast.Call, name: str, place: int) -> list[ast.expr]:
    given = keyword_of(call, name) or (call.args[place] if len(call.args) > place else None)
    return list(given.elts) if isinstance(given, ast.Tuple) else []


def _bound(body: list[ast.stmt]) -> set[str]:
    nodes = (one for node in body for one in ast.walk(node))
    return {one.id for one in nodes if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}


def _loads(node: ast.stmt) -> Iterator[ast.Name]:
    return (one for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load))


RULES: Mapping[str, Callable[[CuTileFile, TileTarget], Iterator[TileFinding]]] = {
    "2 block index": _block_index,
    "3 index arithmetic": _index_math,
    "4 accumulator": _accumulator,
    "5 and 16 None and texts": _no_none,
    "7 astype": _methods,
    "8 helpers": _helpers,
    "9 defined before branches": _defined,
    "10 loops": _loops,
    "11 grid": _grid,
    "12 arange": _ranges,
    "16 constants": _texts,
    "17 static shapes": _static_shapes,
    "18 unused parameters": _unused,
    "zero fill": _zero_fill,
}
"""What is decided from the text; rule 1, the import, is what makes a file one of cuTile."""
