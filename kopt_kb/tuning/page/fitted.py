"""Pages within a limit: the most detailed of several levels that fits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kopt_kb.base.errors import BadInput
from kopt_kb.base.markup.blocks import ReportPage
from kopt_kb.base.markup.html import page

__all__ = ["LEVELS", "MOST_BYTES", "CutLevel", "fitted"]

MOST_BYTES = 300_000
"""No page is larger: what is left out is said."""


@dataclass(frozen=True, slots=True)
class CutLevel:
    """How much a page holds.

    Attributes:
        letters: Most characters of a text of anybody.
        rows: Most rounds, kernels or roofs.
        notes: Whether each time says what it rests on.
    """

    letters: int
    rows: int
    notes: bool = True


LEVELS = (
    CutLevel(2000, 400),
    CutLevel(400, 400, notes=False),
    CutLevel(200, 120, notes=False),
    CutLevel(60, 12, notes=False),
)
"""From all to what always fits."""


def fitted(make: Callable[[CutLevel], ReportPage], name: str, levels: Sequence[CutLevel] = LEVELS) -> bytes:
    """Return a page as HTML of at most `MOST_BYTES`.

    Raises:
        BadInput: Even the last level is larger.
    """
    for level in levels:
        made = page(make(level)).encode()
        if len(made) <= MOST_BYTES:
            return made
    what = f"the report has more than {MOST_BYTES} bytes even with few rows"
    raise BadInput(what, where=name[:80], fix="--json has all of it", code="KB114")
