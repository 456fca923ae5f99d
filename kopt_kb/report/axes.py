"""Both logarithmic axes of a picture: numbers to pixels, ticks, grid and names."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from kopt_kb.quantity.readable import si
from kopt_kb.report.labels import Box, Placed, box_of
from kopt_kb.report.marks import DrawnLine
from kopt_kb.report.picture import DrawnRoof, Picture
from kopt_kb.report.text_width import LINE_PX, width_px

__all__ = ["AXES", "Plot", "number", "ticks"]

AXES = ("Arithmetic intensity (FLOP/byte)", "Performance (FLOP/s)")
_TICKS = 10
_LEAST_PLAIN, _MOST_PLAIN = 1e-3, 1e5
_GAP_PX = 6.0


@dataclass(frozen=True, slots=True)
class Plot:
    """The axes of a picture in a frame."""

    picture: Picture
    frame: Box

    def x(self, intensity: float) -> float:
        """Return where an intensity is."""
        low, high = map(math.log10, self.picture.range)
        return self.frame.left + (self.frame.right - self.frame.left) * (math.log10(intensity) - low) / (high - low)

    def y(self, rate: float) -> float:
        """Return where a rate is."""
        low, high = map(math.log10, self.picture.rates)
        return self.frame.bottom - (self.frame.bottom - self.frame.top) * (math.log10(rate) - low) / (high - low)

    def path(self, roof: DrawnRoof) -> tuple[tuple[float, float], ...]:
        """Return the corners of a roof: on these axes it is two straight lines."""
        low, high = self.picture.range
        return tuple((self.x(one), self.y(roof.at(one))) for one in (low, roof.ridge, high))

    def grid(self) -> Iterator[DrawnLine]:
        """Yield a line for each tick, then the axes."""
        frame = self.frame
        for value in ticks(*self.picture.rates):
            yield DrawnLine(((frame.left, self.y(value)), (frame.right, self.y(value))), "grid")
        for value in ticks(*self.picture.range):
            yield DrawnLine(((self.x(value), frame.top), (self.x(value), frame.bottom)), "grid")
        yield DrawnLine(((frame.left, frame.top), (frame.left, frame.bottom), (frame.right, frame.bottom)), "axis")

    def words(self) -> Iterator[Placed]:
        """Yield the numbers at the ticks, as far as they do not run into each other, and the names of the axes."""
        frame, end = self.frame, 0.0
        for value in ticks(*self.picture.rates):
            text = si(value, "").strip()
            y = min(max(self.y(value), frame.top + LINE_PX / 2), frame.bottom - LINE_PX / 2)
            yield Placed(text, box_of(text, frame.left - _GAP_PX - width_px(text) / 2, y), "quiet", "end")
        for value in ticks(*self.picture.range):
            text = number(value)
            half = width_px(text) / 2
            box = box_of(text, min(self.x(value), frame.right - half), frame.bottom + _GAP_PX + LINE_PX / 2)
            if box.left > end:
                end = box.right + _GAP_PX
                yield Placed(text, box, "quiet", "middle")
        across, up = AXES
        yield Placed(up, box_of(up, _GAP_PX * 2 + width_px(up) / 2, frame.top - LINE_PX * 0.75), "name")
        below = frame.bottom + _GAP_PX + LINE_PX * 1.6
        yield Placed(across, box_of(across, (frame.left + frame.right) / 2, below), "name", "middle")


def ticks(low: float, high: float) -> list[float]:
    """Return powers of ten between two numbers, with 2 and 5 between them where there is room, ten at most."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    step = max(1, math.ceil((last - first) / _TICKS))
    decades = [one for power in range(first, last + 1, step) if low <= (one := 10.0**power) <= high]
    finer = [part * 10.0**power for power in range(first, last + 1) for part in (1, 2, 5)]
    fine = [one for one in finer if low <= one <= high]
    return fine if len(decades) < 3 and len(fine) <= _TICKS else decades


def number(value: float) -> str:
    """Return a number at a tick."""
    return f"{value:g}" if _LEAST_PLAIN <= value < _MOST_PLAIN else si(value, "").replace(" ", "")
