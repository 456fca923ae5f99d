"""Where the labels of a picture go: no two cover each other, none leaves the frame; the same picture, the same places.

Greedy in the order of importance (J. Christensen, J. Marks, S. Shieber, "An empirical study of algorithms for
point-feature label placement", ACM TOG 14(3), 1995): each label takes the free place that crosses the fewest lines, is
not nearer to another mark, and is nearest to what it names. A label that finds none is left out, and the key still
names what it was for.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from kopt_kb.report.text_width import LINE_PX, width_px

__all__ = ["Box", "Placed", "Spot", "TextAnchor", "WantedLabel", "box_of", "place"]

TextAnchor = Literal["start", "middle", "end"]
"""Which part of its box a text fills that is set narrower than the box."""

Segment = tuple[float, float, float, float]

_GAP_PX, _LEAD_PX = 1.5, 3.0
_CROSSING, _AMBIGUOUS = 30.0, 15.0


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle: left, top, right, bottom in pixels."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: Box, gap: float = 0.0) -> bool:
        """Return whether the two overlap, or are nearer than a gap."""
        return (
            self.left < other.right + gap
            and other.left < self.right + gap
            and self.top < other.bottom + gap
            and other.top < self.bottom + gap
        )

    def grown(self, by: float) -> Box:
        """Return it with a margin."""
        return Box(self.left - by, self.top - by, self.right + by, self.bottom + by)

    def within(self, frame: Box) -> bool:
        """Return whether it lies in a frame."""
        inside_x = frame.left <= self.left and self.right <= frame.right
        return inside_x and frame.top <= self.top and self.bottom <= frame.bottom


@dataclass(frozen=True, slots=True)
class Spot:
    """A place to try: the middle of the label, how unwelcome it is, and the side of it that is nearest to its mark."""

    x: float
    y: float
    cost: float
    anchor: TextAnchor = "middle"


@dataclass(frozen=True, slots=True)
class WantedLabel:
    """A label that wants a place.

    Attributes:
        text: The text.
        spots: Its places.
        anchor: What it names; a line leads there from a place further away than `near`.
        classes: How it is drawn.
    """

    text: str
    spots: tuple[Spot, ...]
    anchor: tuple[float, float]
    classes: str = ""
    near: float = 12.0


@dataclass(frozen=True, slots=True)
class Placed:
    """A label in its place, with the line that leads to what it names, if it needs one, and its hover text."""

    text: str
    box: Box
    classes: str
    anchor: TextAnchor = "start"
    lead: Segment | None = None
    over: str = ""


def box_of(text: str, x: float, y: float) -> Box:
    """Return the box of a text around its middle."""
    half = width_px(text) / 2
    return Box(x - half, y - LINE_PX / 2, x + half, y + LINE_PX / 2)


def place(
    wanted: Iterable[WantedLabel], frame: Box, taken: Sequence[Box], segments: Sequence[Segment]
) -> tuple[list[Placed], list[str]]:
    """Return labels in their places, and the texts of those that found none.

    Args:
        wanted: In the order of importance.
        frame: No label leaves it.
        taken: Boxes that nothing may cover.
        segments: Lines that are better not crossed.
    """
    boxes, placed, left_out = list(taken), [], []
    for one in wanted:
        found = _placed(one, frame, boxes, taken, segments)
        if found is None:
            left_out.append(one.text)
        else:
            placed.append(found)
            boxes.append(found.box)
    return placed, left_out


def _placed(
    label: WantedLabel, frame: Box, boxes: Sequence[Box], taken: Sequence[Box], segments: Sequence[Segment]
) -> Placed | None:
    marks = [((one.left + one.right) / 2, (one.top + one.bottom) / 2) for one in taken]
    best: tuple[float, TextAnchor, Box] | None = None
    for spot in sorted(label.spots, key=lambda each: (each.cost, each.x, each.y)):
        if best is not None and best[0] <= spot.cost:
            break
        box = box_of(label.text, spot.x, spot.y)
        if not box.within(frame) or any(box.meets(other, _GAP_PX) for other in boxes):
            continue
        own = _distance(box, label.anchor)
        nearer = any(_distance(box, mark) < own - 1 for mark in marks)
        cost = spot.cost + _AMBIGUOUS * nearer + _CROSSING * sum(_crosses(one, box) for one in segments)
        if best is None or cost < best[0]:
            best = cost, spot.anchor, box
    if best is None:
        return None
    _, anchor, box = best
    end = _nearest(box.grown(_LEAD_PX), label.anchor)
    far = _distance(box, label.anchor) > label.near
    return Placed(label.text, box, label.classes, anchor, (*label.anchor, *end) if far else None)


def _distance(box: Box, point: tuple[float, float]) -> float:
    return math.dist(_nearest(box, point), point)


def _nearest(box: Box, point: tuple[float, float]) -> tuple[float, float]:
    return min(max(point[0], box.left), box.right), min(max(point[1], box.top), box.bottom)


def _crosses(segment: Segment, box: Box) -> bool:
    """Return whether a line meets a box (Liang and Barsky, 1984)."""
    x1, y1, x2, y2 = segment
    low, high = 0.0, 1.0
    for start, change, least, most in ((x1, x2 - x1, box.left, box.right), (y1, y2 - y1, box.top, box.bottom)):
        if change == 0:
            if not least <= start <= most:
                return False
            continue
        first, last = sorted(((least - start) / change, (most - start) / change))
        low, high = max(low, first), min(high, last)
    return low <= high
