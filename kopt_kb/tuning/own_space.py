"""Proposes what a user's own Triton file leaves to choose: its configurations first, then what lies beside the winner.

A file that declares its tuning values (`TUNING_SPACE`) is left to the proposers that read them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kopt_kb.analysis.ir.source.candidates import SettingValues, neighbours, own_configurations, register_limits
from kopt_kb.analysis.ir.source.tunables import Setting
from kopt_kb.problem.shapes import Shape, parse_shape
from kopt_kb.tuning.proposals import Proposal, ProposerView
from kopt_kb.tuning.proposers import declared_of

__all__ = ["OwnSpaceProposer", "listed", "own_spaces"]

_SHOWN, _SHOWN_WHOLE = 8, 3
"""SettingValues of a setting that are listed, and whole configurations."""


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
        largest = max(view.shapes, key=lambda text: math.prod(parse_shape(text)))
        for what, space in own_spaces(view.incumbent, parse_shape(largest), view.configurations):
            claim = _claim(what, space)
            if not space or view.earlier(self.category, claim) is not None:
                continue
            expected = f"less time; tried are {'; '.join(listed(space))}"
            knobs = {one.name: one.values for one in space}
            return Proposal(self.category, claim, expected, self.name, view.incumbent, {largest: ({}, knobs)})
        return None


def own_spaces(
    source: bytes, shape: Shape, configurations: Mapping[str, Sequence[Setting]]
) -> tuple[tuple[str, tuple[SettingValues, ...]], ...]:
    """Return what a file's own text leaves to choose, in the order in which it is searched: name and values.

    Args:
        source: The file; one that declares its tuning values itself has none.
        shape: Of the problem.
        configurations: Autotuned kernel → its own configurations as a run made them.
    """
    declared = declared_of(source)
    if declared is not None and (declared.tuning_space or declared.variants):
        return ()
    return (
        ("its own configurations", own_configurations(source, configurations)),
        ("beside it", neighbours(source, shape, configurations)),
        ("registers a thread", register_limits(source, configurations)),
    )


def _claim(what: str, space: Sequence[SettingValues]) -> str:
    size = math.prod(len(one.values) for one in space)
    chosen = [_range(one) for one in space if len(one.values) > 1]
    return f"search {size} configurations, {what}: {', '.join(chosen)}"


def _range(values: SettingValues) -> str:
    """Return a setting with the ends of its values, so that a search from elsewhere is another claim."""
    whole = [one for one in values.values if isinstance(one, int)]
    ends = f" {min(whole)}-{max(whole)}" if whole else ""
    return f"{values.name}{ends}"


def listed(space: Sequence[SettingValues]) -> list[str]:
    """Return a space as lines: each setting of several values, those, and where they come from."""
    return [f"{one.name} {_values(one)}: {one.origin}" for one in space if len(one.values) > 1]


def _values(one: SettingValues) -> str:
    shown = _SHOWN_WHOLE if any(isinstance(value, str) for value in one.values) else _SHOWN
    words = [str(value) for value in one.values]
    more = f", and {len(words) - shown} more" if len(words) > shown else ""
    return f"[{', '.join(words[:shown])}{more}]"
