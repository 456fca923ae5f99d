"""The recipes A to L of the cuTile loop: why each applies to a file or not, what it changes, and the edit of it.

A recipe makes an edit of the text, names values of the file's TUNING_SPACE to search, or says what a person or another
proposer would change, and where. The order follows what limits the kernel; J, K and L come last.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from kopt_kb.analysis.rules.table import LIMITERS
from kopt_kb.base.wire import Wire
from kopt_kb.packs.cutile.source.answer import RecipeAnswer, Situation, Values
from kopt_kb.packs.cutile.source.places import fast_math, groups, latency_hints, plain_store, tf32, tma, walk
from kopt_kb.packs.cutile.source.source import CuTileFile, edited
from kopt_kb.packs.cutile.source.spaces import autotune, custom_plan, slots, tiles, token_order

__all__ = ["ORDERS", "RECIPES", "Recipe", "RecipeWord", "Situation", "recipe_words"]

How = Literal["edit", "search", "hypothesis", "none"]


@dataclass(frozen=True, slots=True)
class RecipeWord(Wire):
    """What a recipe says of a file.

    Attributes:
        recipe: Its letter.
        name: Its name.
        category: Kind of change.
        applies: Whether its precondition holds.
        why: Why it applies, or why not.
        change: What it changes, as an instruction; empty where it does not apply.
        line: Where, 0 for the whole file.
        how: An edit of the text, values to search, or a hypothesis for others.
        source: The edited text; empty without one.
        space: Knob of TUNING_SPACE → values to search.
    """

    recipe: str
    name: str
    category: str
    applies: bool
    why: str
    change: str = ""
    line: int = 0
    how: How = "none"
    source: str = ""
    space: Values = field(default_factory=dict)


RecipeRule = Callable[[CuTileFile, Situation], RecipeAnswer]


@dataclass(frozen=True, slots=True)
class Recipe:
    """One recipe: its letter, name, category of change, the gain that its source claims, and its rule."""

    letter: str
    name: str
    category: str
    claimed: str
    rule: RecipeRule


def recipe_words(file: CuTileFile, situation: Situation) -> tuple[RecipeWord, ...]:
    """Return what every recipe says of a file, in the order in which they are to be tried."""
    return tuple(_word(RECIPES[letter], file, situation) for letter in _order(file, situation))


def _word(recipe: Recipe, file: CuTileFile, situation: Situation) -> RecipeWord:
    found = recipe.rule(file, situation)
    source = edited(file.text, found.edits) if found.edits else ""
    how: How = "edit" if source else "search" if found.space else "hypothesis" if found.change else "none"
    said = (bool(found.change), found.why, found.change, found.line, how, source, dict(found.space))
    return RecipeWord(recipe.letter, recipe.name, recipe.category, *said)


def _order(file: CuTileFile, situation: Situation) -> str:
    bound = LIMITERS.get(situation.limiter)
    if bound is None:
        bound = "compute-bound" if file.calls("mma", "matmul", "mma_scaled") else "memory-bound"
    return ORDERS.get(str(bound), ORDERS["memory-bound"])


ORDERS: Mapping[str, str] = {
    "memory-bound": "ABCFGEHDIJKL", "compute-bound": "DGCIBEHAFJKL", "launch-bound": "KABCFGEHDIJL",
}  # fmt: skip
"""Class of what limits the kernel → letters in the order of the knob catalogue; other classes as memory-bound."""


RECIPES: Mapping[str, Recipe] = {
    one.letter: one
    for one in (
        Recipe("A", "loads and stores through TMA", "memory_access", "2-78x", tma),
        Recipe("B", "persistent blocks", "scheduling", "+50-300 %", walk),
        Recipe("C", "wide autotuning", "launch_configuration", "+10-50 %", autotune),
        Recipe("D", "TF32 products", "compute", "about 2x", tf32),
        Recipe("E", "latency hints", "latency_hiding", "+2-5 %", latency_hints),
        Recipe("F", "stores past TMA", "memory_access", "+10-30 %", plain_store),
        Recipe("G", "tile sizes", "launch_configuration", "+5-50 %", tiles),
        Recipe("H", "flushed and approximate arithmetic", "compute", "+1-5 %", fast_math),
        Recipe("I", "tiles in groups of rows", "caching", "+5-15 %", groups),
        Recipe("J", "no token order", "latency_hiding", "variable", token_order),
        Recipe("K", "copies in slots", "scheduling", "+10-70 %", slots),
        Recipe("L", "a plan of one's own", "launch_configuration", "variable", custom_plan),
    )
}
"""Letter → recipe. The gains are claims of the source, shown and never used."""
