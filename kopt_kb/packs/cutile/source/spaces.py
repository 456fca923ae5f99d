"""Recipes that search what a cuTile file declares, or that no edit of it makes."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator, Mapping, Sequence

from kopt_kb.packs.cutile.source.answer import RecipeAnswer, Situation
from kopt_kb.packs.cutile.source.source import CuTileFile, TextEdit

__all__ = ["autotune", "custom_plan", "slots", "tiles", "token_order"]


_TILES: Mapping[int, int] = {8: 256, 9: 512, 10: 1024, 12: 256}
"""Generation → largest tile that is searched, by the catalogue of the loop."""
_OCCUPANCY: Mapping[int, tuple[int, ...]] = {8: (1, 2, 4), 9: (1, 2, 4, 8), 10: (1, 2, 4, 8, 16), 12: (1, 2, 4, 8)}
_CLUSTERS: Mapping[int, tuple[int, ...]] = {8: (1,), 9: (1,), 10: (1, 2, 4), 12: (1,)}
_MOST = 30
"""Configurations that a search is to try at most, by the same catalogue."""


def is_tile(name: str) -> bool:
    return name.casefold().startswith(("tile", "block_m", "block_n", "block_k"))


def autotune(file: CuTileFile, situation: Situation) -> RecipeAnswer:
    """C: what the decorator fixes, or nobody says, is searched."""
    known, ends = {"occupancy": _OCCUPANCY, "num_ctas": _CLUSTERS}, _TILES.get(situation.generation)
    space: dict[str, tuple[object, ...]] = {}
    for name, values in file.space.items():
        if name in known:
            space[name] = _kept(values, known[name].get(situation.generation))
        elif is_tile(name):
            space[name] = _up_to(values, ends)
    space = {name: values for name, values in space.items() if len(values) > 1}
    if not space:
        hints = _hints(file)
        held = f"the decorator fixes {', '.join(hints)}" if hints else "no hint is given"
        change = "declare TUNING_SPACE with tiles, occupancy and num_ctas; pass hints by replace_hints, once for each"
        return RecipeAnswer(f"{held}, and no TUNING_SPACE lets them be searched", change, file.kernels[0].lineno)
    size = math.prod(map(len, space.values()))
    most = f"; {size} configurations, about {_MOST} of which are to be tried" if size > _MOST else ""
    names = ", ".join(space)
    return RecipeAnswer(f"TUNING_SPACE lets {names} be searched", f"search {names}{most}", 0, (), space)


def _kept(values: Sequence[object], known: Sequence[object] | None) -> tuple[object, ...]:
    return tuple(one for one in values if known is None or one in known)


def _up_to(values: Sequence[object], largest: int | None) -> tuple[object, ...]:
    return tuple(one for one in values if largest is None or (isinstance(one, int) and one <= largest))


def _hints(file: CuTileFile) -> list[str]:
    marks = [one for kernel in file.kernels for one in kernel.decorator_list if isinstance(one, ast.Call)]
    return [each.arg for one in marks for each in one.keywords if each.arg in {"occupancy", "num_ctas"}]


def tiles(file: CuTileFile, situation: Situation) -> RecipeAnswer:
    """G: other tile sizes."""
    space = {name: values for name, values in file.space.items() if is_tile(name) and len(values) > 1}
    if space:
        return RecipeAnswer(f"TUNING_SPACE has {', '.join(space)}", f"search {', '.join(space)}", 0, (), space)
    for name, value, node in _constants(file):
        for other in (2 * value, value // 2):
            change = f"{name} {other} in place of {value}"
            if other and other <= _TILES.get(situation.generation, 1024) and not situation.was_tried(change):
                edit = (TextEdit(*file.span(node), str(other)),)
                return RecipeAnswer(f"{name} is {value} and nobody searched it", change, node.lineno, edit)
    first = next(iter(file.launches), None)
    change = "name the tile sizes in TUNING_SPACE and pass them from the launch: powers of two around those of now"
    return RecipeAnswer(
        "tile sizes are fixed where nothing searches them", change, first.lineno if first is not None else 0
    )


def _constants(file: CuTileFile) -> Iterator[tuple[str, int, ast.expr]]:
    """Yield the tile sizes that the file's top level fixes: name, power of two, place."""
    for node in file.tree.body:
        if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
            continue
        name, value = node.targets[0].id, node.value
        number = value.value if isinstance(value, ast.Constant) else None
        if is_tile(name) and isinstance(number, int) and number > 0 and not number & (number - 1):
            yield name, number, value


def token_order(_: CuTileFile, __: Situation) -> RecipeAnswer:
    """J: a switch of the compiler's tests; nothing in the source says it."""
    return RecipeAnswer(
        "CUDA_TILE_TESTING_DISABLE_TOKEN_ORDER=1 is a switch of the compiler's tests and leaves no difference in the "
        "file: no version would hold it, so no round tries it; by hand, where the IR has chains of tokens, check again"
    )


def slots(file: CuTileFile, situation: Situation) -> RecipeAnswer:
    """K: several small copies in one launch."""
    if file.calls("mma", "sum", "max", "min", "reduce"):
        return RecipeAnswer("it computes: batching is for launch-bound copies")
    if situation.limiter not in {"launch-overhead", "small-grid"}:
        unknown = "not known to be launch-bound: give --profile"
        return RecipeAnswer(f"a copy, {f'limited by {situation.limiter}' if situation.limiter else unknown}")
    change = "copy 2, 4 or 8 tensors a launch, chosen by bid(2); promise divisibility only where each tensor has it"
    return RecipeAnswer("a copy that ends as soon as it began", change, file.kernels[0].lineno)


def custom_plan(_: CuTileFile, __: Situation) -> RecipeAnswer:
    """L: what no recipe knows."""
    change = "write hypotheses of your own, one at a time: kb tune step WORKSPACE --plan FILE, or --proposer CMD"
    return RecipeAnswer("the last resort, after A to K", change)
