"""Where the labels of a picture go: no two cover each other, none leaves the frame; the same picture, the same places.

Greedy in the order of importance (J. Christensen, J. Marks, S. Shieber, "An empirical study of algorithms for
point-feature label placement", ACM TOG 14(3), 1995): each label takes the free place that crosses the fewest lines and
is nearest to what it names. A label that finds none shrinks to its number; one that finds none for that either is left
out, and the legend still names what it was for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

__all__ = ["CHAR_PX", "LINE_PX", "Box", "Placed", "Spot", "WantedLabel", "box_of", "place"]

CHAR_PX = 6.7
"""Width of a letter of the pictures' font (11 px, of equal widths); wide letters take two."""
LINE_PX = 13.0
"""Height of a line of it."""

_GAP_PX = 1.5
_CROSSING = 30.0
_FIRST_WIDE = "\u1100"
"""From here on letters of East Asia may be twice as wide; a box is rather too large than too small."""


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

    def within(self, frame: Box) -> bool:
        """Return whether it lies in a frame."""
        inside_x = frame.left <= self.left and self.right <= frame.right
        return inside_x and frame.top <= self.top and self.bottom <= frame.bottom


@dataclass(frozen=True, slots=True)
class Spot:
    """A place to try: the middle of the label, and how unwelcome it is."""

    x: float
    y: float
    cost: float


@dataclass(frozen=True, slots=True)
class WantedLabel:
    """A label that wants a place.

    Attributes:
        texts: The text, then shorter ones to try when it finds no place.
        spots: For each text its places, by the width that the text takes.
        anchor: What it names; a line leads there from a place further away than `near`.
        classes: How it is drawn.
    """

    texts: tuple[str, ...]
    spots: tuple[tuple[Spot, ...], ...]
    anchor: tuple[float, float]
    classes: str = ""
    near: float = 22.0


@dataclass(frozen=True, slots=True)
class Placed:
    """A label in its place, with the end of the line that leads to what it names, if it needs one."""

    text: str
    box: Box
    classes: str
    lead: tuple[float, float] | None = None


def width_px(text: str) -> float:
    """Return the width of a text."""
    return CHAR_PX * sum(2 if one >= _FIRST_WIDE else 1 for one in text)


def box_of(text: str, x: float, y: float) -> Box:
    """Return the box of a text around its middle."""
    half = width_px(text) / 2
    return Box(x - half, y - LINE_PX / 2, x + half, y + LINE_PX / 2)


Segment = tuple[float, float, float, float]


def place(
    wanted: Iterable[WantedLabel], frame: Box, taken: Sequence[Box], segments: Sequence[Segment]
) -> tuple[list[Placed], list[str]]:
    """Return labels in their places, and the first texts of those that found none.

    Args:
        wanted: In the order of importance.
        frame: No label leaves it.
        taken: Boxes that nothing may cover.
        segments: Lines that are better not crossed.
    """
    boxes, placed, left_out = list(taken), [], []
    for one in wanted:
        found = _first(one, frame, boxes, segments)
        if found is None:
            left_out.append(one.texts[0])
        else:
            placed.append(found)
            boxes.append(found.box)
    return placed, left_out


def _first(label: WantedLabel, frame: Box, boxes: Sequence[Box], segments: Sequence[Segment]) -> Placed | None:
    for text, spots in zip(label.texts, label.spots, strict=True):
        free = []
        for spot in spots:
            box = box_of(text, spot.x, spot.y)
            if box.within(frame) and not any(box.meets(other, _GAP_PX) for other in boxes):
                crossed = sum(_crosses(segment, box) for segment in segments)
                free.append((spot.cost + _CROSSING * crossed, spot.x, spot.y, box))
        if free:
            box = min(free, key=lambda each: each[:3])[3]
            end = _nearest(box, label.anchor)
            far = (end[0] - label.anchor[0]) ** 2 + (end[1] - label.anchor[1]) ** 2 > label.near**2
            return Placed(text, box, label.classes, label.anchor if far else None)
    return None


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
