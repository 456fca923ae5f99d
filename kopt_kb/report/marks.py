"""What a drawing consists of beside its words: lines, and marks whose shape tells what their colour tells."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["SERIES_SHAPES", "DrawnLine", "Mark", "series_shape"]

Corners = tuple[tuple[float, float], ...]


def _star(points: int, inner: float, outer: float, turn: float = -1 / 4) -> Corners:
    """Return a star, or with `inner` equal to `outer` a polygon; `turn` is that of its first corner."""
    steps = [(turn + at / (2 * points), inner if at % 2 else outer) for at in range(2 * points)]
    return tuple((radius * math.cos(math.tau * part), radius * math.sin(math.tau * part)) for part, radius in steps)


_TRIANGLE: Corners = ((0, -1.2), (1.2, 0.8), (-1.2, 0.8))
_SHAPES: Mapping[str, Corners] = {
    "dot": _star(12, 1.0, 1.0),
    "square": ((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)),
    "triangle": _TRIANGLE,
    "diamond": ((0, -1.3), (1.3, 0), (0, 1.3), (-1.3, 0)),
    "down": tuple((x, -y) for x, y in _TRIANGLE),
    "cross": _star(4, 0.4, 1.4, 1 / 8),
    "star": _star(5, 0.55, 1.4),
    "plus": _star(4, 0.45, 1.5),
    "bar": (
        (-2.4, -1), (-1.9, -1), (-1.9, -0.25), (1.9, -0.25), (1.9, -1), (2.4, -1),
        (2.4, 1), (1.9, 1), (1.9, 0.25), (-1.9, 0.25), (-1.9, 1), (-2.4, 1),
    ),
}  # fmt: skip
SERIES_SHAPES = tuple(name for name in _SHAPES if name != "bar")
"""Shapes of series; a bar is what roofs allow."""


def series_shape(at: int) -> str:
    """Return the shape of the nth product or level."""
    return SERIES_SHAPES[at % len(SERIES_SHAPES)]


@dataclass(frozen=True, slots=True)
class DrawnLine:
    """A line through points, in pixels; `dash` as SVG has it, `over` stands over it when it is pointed at."""

    points: tuple[tuple[float, float], ...]
    classes: str
    dash: str = ""
    over: str = ""


@dataclass(frozen=True, slots=True)
class Mark:
    """A shape around a place, in pixels."""

    x: float
    y: float
    shape: str
    classes: str
    over: str = ""
    size: float = 4.5

    @property
    def corners(self) -> Corners:
        """The corners, in pixels."""
        return tuple((self.x + self.size * x, self.y + self.size * y) for x, y in _SHAPES[self.shape])
