"""Recipes that edit single places of a cuTile file: loads, stores, products, arithmetic, and the walk over the grid."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from kopt_kb.packs.cutile.source.answer import RecipeAnswer, Situation
from kopt_kb.packs.cutile.source.contiguous import Untiled, load_edit, tile_of
from kopt_kb.packs.cutile.source.rewrite import grouped, persistent, with_keyword
from kopt_kb.packs.cutile.source.source import CuTileFile, TextEdit, keyword_of

__all__ = ["fast_math", "groups", "latency_hints", "plain_store", "tf32", "tma", "walk"]


def tma(file: CuTileFile, situation: Situation) -> RecipeAnswer:
    """A: gathers and scatters of whole tiles become loads and stores."""
    places = file.calls("gather", "scatter")
    if not places:
        return RecipeAnswer("no gather or scatter: tiles are loaded by block already")
    edits: list[TextEdit] = []
    refused: list[str] = []
    for place in places:
        tile = tile_of(file, place)
        made = load_edit(file, place, tile) if not isinstance(tile, Untiled) else tile
        if isinstance(made, Untiled):
            refused.append(f"line {place.line}: {place.name} stays: {made.why}")
        else:
            edits.append(made)
    if not edits:
        return RecipeAnswer(f"no gather or scatter is of a whole tile; {'; '.join(refused)}")
    emulated = " (before Hopper by asynchronous copies)" if 0 < situation.generation < 9 else ""
    change = (
        f"{len(edits)} of {len(places)} gathers and scatters become loads and stores of tiles through TMA{emulated}"
    )
    more = "padding is zero as before; no tile may lie wholly outside its array"
    return RecipeAnswer(
        f"indices are a block's number and a range; {more}", "; ".join([change, *refused]), places[0].line, tuple(edits)
    )


def walk(file: CuTileFile, _: Situation) -> RecipeAnswer:
    """B: a grid as large as the device, whose blocks walk the work."""
    return _first(
        file, lambda kernel: persistent(file, kernel, 4),
        "{kernel} starts a block for each piece of work", "at most 4 blocks an SM walk the pieces of {kernel}",
    )  # fmt: skip


def _first(
    file: CuTileFile, make: Callable[[ast.FunctionDef], tuple[TextEdit, ...] | Untiled], why: str, change: str
) -> RecipeAnswer:
    """Return the edit of the first kernel that one can be made of, or why none can."""
    refused = []
    for kernel in file.kernels:
        made = make(kernel)
        if not isinstance(made, Untiled):
            said = {"kernel": kernel.name}
            return RecipeAnswer(why.format(**said), change.format(**said), kernel.lineno, made)
        refused.append(f"{kernel.name}: {made.why}")
    return RecipeAnswer("; ".join(refused))


def tf32(file: CuTileFile, situation: Situation) -> RecipeAnswer:
    """D: products of fp32 through the matrix units as TF32."""
    places = file.calls("mma", "matmul")
    if not places:
        return RecipeAnswer("no matrix product")
    if not situation.dtype:
        return RecipeAnswer("the type of the operands is not known here: give --dtype")
    if situation.dtype != "fp32":
        return RecipeAnswer(f"the operands are {situation.dtype}, which the matrix units take as they are")
    todo = [one for one in places if "tfloat32" not in file.source(one.call) and len(one.call.args) > 1]
    if not todo:
        return RecipeAnswer("its operands are TF32 already")
    edits = tuple(
        TextEdit(*file.span(side), f"{file.module}.astype({file.source(side)}, {file.module}.tfloat32)")
        for one in todo
        for side in one.call.args[:2]
    )
    why = "fp32 operands do not reach the matrix units; TF32 keeps 10 bits, which the correctness gate judges"
    return RecipeAnswer(why, f"cast the operands of {len(todo)} products to TF32", todo[0].line, edits)


_LATENCY = {"attention": (6, "keys and values"), "product": (3, "operands of products"), "other": (10, "main inputs")}
"""Kind of kernel → first value to try, and of what."""


def latency_hints(file: CuTileFile, situation: Situation) -> RecipeAnswer:
    """E: how heavy the traffic of a load is, so that the compiler prefetches more or less."""
    if "latency" in file.space:
        values = tuple(dict.fromkeys((1, 2, 3, 6, 10, *file.space["latency"])))
        return RecipeAnswer("TUNING_SPACE has latency", "search latency", 0, (), {"latency": values})
    todo = [one for one in file.calls("load", "gather") if keyword_of(one.call, "latency") is None]
    if not todo:
        return RecipeAnswer("every load says its latency")
    kind = ("attention" if file.calls("exp2", "exp") else "product") if file.calls("mma") else "other"
    first, what = _LATENCY[kind]
    for value in dict.fromkeys((first, 1, 2, 3, 6, 10)):
        change = f"latency {value} on {len(todo)} loads, {what} begin with {first}"
        if not situation.was_tried(change):
            edits = tuple(with_keyword(file, one, f"latency={value}") for one in todo)
            return RecipeAnswer(f"{len(todo)} loads give the compiler no latency", change, todo[0].line, edits)
    return RecipeAnswer("every value was tried")


def plain_store(file: CuTileFile, situation: Situation) -> RecipeAnswer:
    """F: stores that do not go through TMA."""
    if 0 < situation.generation < 9:
        return RecipeAnswer(f"{situation.target} has no TMA")
    todo = [one for one in file.calls("store") if keyword_of(one.call, "allow_tma") is None]
    if todo:
        edits = tuple(with_keyword(file, one, "allow_tma=False") for one in todo)
        change = f"allow_tma=False on {len(todo)} stores"
        return RecipeAnswer(
            f"{len(todo)} stores may go through TMA, which is not always faster", change, todo[0].line, edits
        )
    knob = next((name for name in file.space if "store" in name.casefold() and "tma" in name.casefold()), "")
    if knob:
        return RecipeAnswer(f"TUNING_SPACE has {knob}", f"search {knob}", 0, (), {knob: file.space[knob]})
    return RecipeAnswer("every store says whether it goes through TMA" if file.calls("store") else "no store of a tile")


_FLUSHED = ("exp2", "rsqrt", "sqrt")


def fast_math(file: CuTileFile, situation: Situation) -> RecipeAnswer:
    """H: denormals flushed, divisions approximated."""
    if "fp8" in situation.dtype:
        return RecipeAnswer("scales of FP8 need full division")
    todo = [one for one in file.calls(*_FLUSHED) if keyword_of(one.call, "flush_to_zero") is None]
    edits = [with_keyword(file, one, "flush_to_zero=True") for one in todo]
    divisions = [one for function in (*file.kernels, *file.helpers) for one in _divisions(file, function)]
    ct = file.module
    nested = {id(inner) for one in divisions for inner in ast.walk(one) if inner is not one}
    for division in divisions:
        inside = any(id(each.call) in {id(inner) for inner in ast.walk(division)} for each in todo)
        if id(division) not in nested and not inside:
            left, right = file.source(division.left), file.source(division.right)
            words = f"flush_to_zero=True, rounding_mode={ct}.RoundingMode.APPROX"
            edits.append(TextEdit(*file.span(division), f"{ct}.truediv({left}, {right}, {words})"))
    if not edits:
        plain = file.calls("exp")
        if plain:
            change = "write exp(x) as exp2(x * log2 e), which can flush denormals"
            return RecipeAnswer("exp has no flush_to_zero", change, plain[0].line)
        return RecipeAnswer("no power of two, root or division of tiles")
    line = min([one.line for one in todo] + [one.lineno for one in divisions])
    approximate = len(edits) - len(todo)
    flushed = [f"flush_to_zero on {len(todo)} calls"] if todo else []
    change = ", ".join([*flushed, *([f"approximate division in {approximate} places"] if approximate else [])])
    why = "exact denormals and divisions cost instructions; the correctness gate decides"
    return RecipeAnswer(why, change, line, tuple(edits))


def _divisions(file: CuTileFile, function: ast.FunctionDef) -> Iterable[ast.BinOp]:
    """Yield true divisions of tiles: neither side is a literal, nor both compile-time constants."""
    fixed = file.constants(function)
    for node in ast.walk(function):
        if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Div):
            continue
        sides = (node.left, node.right)
        if any(isinstance(one, ast.Constant) for one in sides):
            continue
        if all(isinstance(one, ast.Name) and one.id in fixed for one in sides):
            continue
        yield node


def groups(file: CuTileFile, _: Situation) -> RecipeAnswer:
    """I: tiles of a product walked in groups of rows."""
    knob = next((name for name in file.space if "group" in name.casefold()), "")
    if knob:
        values = tuple(dict.fromkeys((4, 8, 16, *file.space[knob])))
        return RecipeAnswer(f"TUNING_SPACE has {knob}", f"search {knob}", 0, (), {knob: values})
    if not file.calls("mma", "matmul"):
        return RecipeAnswer("no matrix product, whose neighbours share operands")
    return _first(
        file, lambda kernel: grouped(file, kernel, 8),
        "{kernel} walks its tiles row by row, so that the other operand leaves the cache",
        "walk the tiles of {kernel} in groups of 8 rows",
    )  # fmt: skip
