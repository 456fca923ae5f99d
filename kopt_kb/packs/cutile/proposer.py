"""Proposes the recipes of the cuTile loop, one a round, in the order of what limits the kernel."""

from __future__ import annotations

from dataclasses import dataclass

from kopt_kb.analysis.frameworks import framework_named
from kopt_kb.base.errors import BadInput
from kopt_kb.doors.proposer_source import ProposerContext
from kopt_kb.launch.candidate.source_config import configs_of
from kopt_kb.packs.cutile.source.answer import Situation
from kopt_kb.packs.cutile.source.recipes import RECIPES, RecipeWord, recipe_words
from kopt_kb.packs.cutile.source.source import read_cutile
from kopt_kb.tuning.proposals import Proposal, ProposerAnswer, ProposerView

__all__ = ["RecipesProposer", "claim_of", "recipes_of"]


def claim_of(word: RecipeWord) -> str:
    """Return a recipe as a hypothesis states it."""
    return f"recipe {word.recipe}, {word.name}: {word.change}"


def recipes_of(context: ProposerContext) -> tuple[RecipesProposer, ...]:
    """Return who knows the recipes where the kernel is to be one of cuTile."""
    framework = framework_named(context.framework)
    return (RecipesProposer(),) if framework is not None and framework.name == "cuTile" else ()


@dataclass(frozen=True, slots=True)
class RecipesProposer:
    """Offers each recipe that applies to a cuTile kernel and that it can make itself: an edit, or values to search."""

    name: str = "recipes"

    def propose(self, view: ProposerView) -> Proposal | None:
        """Return the first recipe that was not tried; None for kernels of other frameworks."""
        framework = framework_named(view.framework)
        if view.stage != "optimize" or framework is None or framework.name != "cuTile":
            return None
        try:
            file = read_cutile(view.shown.kernel)
        except BadInput:
            return None
        limiter = next(iter(view.known.limiters), "")
        situation = Situation(view.dtype, view.target, limiter, tuple(one.claim for one in view.tried))
        for word in recipe_words(file, situation):
            if word.category in view.avoid or view.earlier(word.category, claim_of(word)) is not None:
                continue
            made = self._made(view, word)
            if made is not None:
                return made
        return None

    def _made(self, view: ProposerView, word: RecipeWord) -> Proposal | None:
        """Return a recipe as a proposal; None for one that only says what to do, and for searches in a project."""
        expected = f"less time on some shapes; its source claims {RECIPES[word.recipe].claimed}"
        said = (word.category, claim_of(word), expected)
        if word.how == "search" and view.project is None:
            current = configs_of(view.incumbent)
            spaces = {shape: (current.get(shape, {}), dict(word.space)) for shape in view.shapes}
            return Proposal(*said, self.name, view.incumbent, spaces)
        if word.how != "edit":
            return None
        if view.project is None:
            return Proposal(*said, self.name, word.source.encode())
        source = view.project.candidate(view.incumbent, ProposerAnswer(*said, source=word.source), self.name)
        return Proposal(*said, self.name, source)
