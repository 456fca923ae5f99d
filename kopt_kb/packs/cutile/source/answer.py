"""What the recipes of the cuTile loop are asked with and answer, besides the text of a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kopt_kb.packs.cutile.source.source import TextEdit

__all__ = ["RecipeAnswer", "Situation", "Values"]

Values = Mapping[str, tuple[object, ...]]
"""Knob of TUNING_SPACE → values to search."""


@dataclass(frozen=True, slots=True)
class Situation:
    """What is known besides the text.

    Attributes:
        dtype: Storage type of the operands; empty: not known.
        target: Public target name, such as sm_90; empty: not known.
        limiter: What limits the kernel by a profile or its roofline; empty: not known.
        tried: Claims that were tried, so that a recipe with several values takes the next.
    """

    dtype: str = ""
    target: str = ""
    limiter: str = ""
    tried: tuple[str, ...] = ()

    @property
    def generation(self) -> int:
        """Number of the target's generation: 9 of sm_90; 0 where it is not known."""
        digits = "".join(one for one in self.target if one.isdigit())
        return int(digits) // 10 if digits else 0

    def was_tried(self, change: str) -> bool:
        """Return whether a claim says this change."""
        return any(change in one for one in self.tried)


@dataclass(frozen=True, slots=True)
class RecipeAnswer:
    """What a rule found.

    Attributes:
        why: Why it applies, or why not.
        change: What it changes; empty where it does not apply.
        line: Where, 0 for the whole file.
        edits: The change as edits of the text.
        space: The change as values to search.
    """

    why: str
    change: str = ""
    line: int = 0
    edits: tuple[TextEdit, ...] = ()
    space: Values = field(default_factory=dict)
