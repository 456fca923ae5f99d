"""A picture of rooflines and measured times, to show in a notebook or to write to a file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kopt_kb.analysis.roofline.reach import RooflineInTime
from kopt_kb.analysis.roofline.roofline import Roofline
from kopt_kb.base.errors import BadInput
from kopt_kb.report.drawing_files import svg_bytes, write_picture
from kopt_kb.report.picture import Picture, picture_of
from kopt_kb.report.terminal_plot import terminal

__all__ = ["DrawnPicture", "picture"]


@dataclass(frozen=True, slots=True)
class DrawnPicture:
    """A picture; notebooks show it by themselves."""

    content: Picture

    def __repr__(self) -> str:
        return f"DrawnPicture({self.content.title}: {len(self.content.roofs)} roofs, {len(self.content.points)} points)"

    def svg(self) -> str:
        """Return it as SVG text; letters are text, hover texts carry the sources."""
        return svg_bytes(self.content).decode()

    def _repr_svg_(self) -> str:
        return self.svg()

    def terminal(self) -> str:
        """Return it drawn in letters."""
        return terminal(self.content)

    def save(self, path: str | Path) -> Path:
        """Write a new file, `.svg`, `.html` or `.png` (extra `[plot]`), and return its path.

        Raises:
            BadInput: Another suffix, or something is there already.
            MissingTool: matplotlib is not installed.
        """
        write_picture(self.content, Path(path))
        return Path(path)


def picture(*found: Roofline | RooflineInTime, title: str = "") -> DrawnPicture:
    """Return the picture of rooflines, of several products or shapes in one; what `kb roofline --picture` draws.

    Args:
        *found: Results of `roofline`, or of `assess` whose measured times are dots.
        title: Heading; empty for the operation and products.

    Raises:
        BadInput: Nothing was given, or no roof of it is known.
    """
    dots: list[tuple[Roofline, float | None]] = []
    for one in found:
        timed = [each.seconds for each in one.times.measured] if isinstance(one, RooflineInTime) else []
        inner = one.found if isinstance(one, RooflineInTime) else one
        dots += [(inner, seconds) for seconds in timed or (None,)]
    if not dots:
        raise BadInput("there is no roofline to draw", fix='picture(roofline(work, "H20"))', code="KB102")
    rooflines = [one for one, _ in dots]
    names = ", ".join(dict.fromkeys(one.platform for one in rooflines))
    heading = title or f"Roofline: {rooflines[0].work.op or 'work'} on {names}"
    return DrawnPicture(picture_of(heading, rooflines, [seconds for _, seconds in dots]))
