"""Proposes what a user's own Triton file leaves to choose: its configurations first, then what lies beside the winner.

A file that declares its tuning values (`TUNING_SPACE`) is left to the proposers that read them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from kopt_kb.analysis.ir.source.candidates import Values, neighbours, own_configurations, register_limits
from kopt_kb.problem.shapes import Shape, parse_shape
from kopt_kb.tuning.proposals import Proposal, ProposerView
from kopt_kb.tuning.proposers import declared_of

__all__ = ["OwnSpaceProposer", "listed"]

_SHOWN = 8


@dataclass(frozen=True, slots=True)
class OwnSpaceProposer:
    """Searches what the incumbent's own text leaves to choose, each space once.

    Settings hold for all shapes of a problem, so the largest is searched and the gates judge the others.
    """

    name: str = "own_space"
    category: str = "launch_configuration"

    def propose(self, view: ProposerView) -> Proposal | None:
        """Return the first of the file's spaces that was not searched from where it stands."""
        if view.stage != "optimize" or view.project is not None or self.category in view.avoid:
            return None
        declared = declared_of(view.incumbent)
        if declared is not None and (declared.tuning_space or declared.variants):
            return None
        largest = max(view.shapes, key=lambda text: math.prod(parse_shape(text)))
        own, beside, registers = _spaces(view, parse_shape(largest))
        for what, space in (("its own configurations", own), ("beside it", beside), ("registers a thread", registers)):
            claim = _claim(what, space)
            if not space or view.earlier(self.category, claim) is not None:
                continue
            expected = f"less time; tried are {'; '.join(listed(space))}"
            knobs = {one.name: one.values for one in space}
            return Proposal(self.category, claim, expected, self.name, view.incumbent, {largest: ({}, knobs)})
        return None


def _spaces(view: ProposerView, shape: Shape) -> tuple[tuple[Values, ...], tuple[Values, ...], tuple[Values, ...]]:
    own = own_configurations(view.incumbent, view.configurations)
    return own, neighbours(view.incumbent, shape, view.configurations), register_limits(view.incumbent)


def _claim(what: str, space: Sequence[Values]) -> str:
    size = math.prod(len(one.values) for one in space)
    return f"search {size} configurations, {what}: {', '.join(map(_range, space))}"


def _range(values: Values) -> str:
    """Return a setting with the ends of its values, so that a search from elsewhere is another claim."""
    whole = [one for one in values.values if isinstance(one, int)]
    ends = f" {min(whole)}-{max(whole)}" if whole else ""
    return f"{values.name}{ends}"


def listed(space: Sequence[Values]) -> list[str]:
    """Return a space as lines: each setting, its values, and where they come from."""
    return [f"{one.name} {_values(one)}: {one.origin}" for one in space]


def _values(one: Values) -> str:
    words = [str(value) for value in one.values]
    more = f" and {len(words) - _SHOWN} more" if len(words) > _SHOWN else ""
    return f"[{', '.join(words[:_SHOWN])}{more}]"
