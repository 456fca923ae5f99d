"""Widths of texts in pictures: an upper bound over the fonts of the stack, since a file is set by whoever opens it."""

from __future__ import annotations

__all__ = ["FONT_PX", "LINE_PX", "TITLE_PX", "lines_of", "shortened", "width_px"]

FONT_PX = 13.0
TITLE_PX = 15.0
"""Title and text of a canvas of 480: nine of a phone's pixels, and the size of the words around it on a desk."""
LINE_PX = 17.0
"""Height of a line of text, descenders included."""

_EM = (
    (0.34, " ,./:;\\|'ijlI"),
    (0.42, "()[]t!rf-"),
    (0.56, '*_`szc?"JL'),
    (0.64, "kvxyaeobdghnpqu$0123456789{}"),
    (0.69, "FPTESYKAVBXZ"),
    (0.74, "RCU"),
    (0.84, "NDGOQH&w#+<=>^~"),
)
_WIDTHS = {letter: em for em, letters in _EM for letter in letters}
_ASCII, _WIDE = 1.02, 1.3
_FIRST_WIDE = "\u1100"
"""From here on letters of East Asia and emoji; between them and ASCII the widest ASCII letter is assumed."""
_BOLD = 1.16


def width_px(text: str, size: float = FONT_PX, *, bold: bool = False) -> float:
    """Return a width that the text does not exceed in DejaVu Sans, Arial, Helvetica or narrower fonts."""
    em = sum(_WIDE if one >= _FIRST_WIDE else _WIDTHS.get(one, _ASCII) for one in text)
    return em * size * (_BOLD if bold else 1.0)


def shortened(text: str, most_px: float) -> str:
    """Return a text that fits, its middle left out: names of kernels differ at both ends."""
    if width_px(text) <= most_px:
        return text
    keep = min(len(text), int(most_px / 3))
    while keep > 1 and width_px(cut := f"{text[: keep - keep // 2]}…{text[-(keep // 2) :]}") > most_px:
        keep -= 1
    return cut if keep > 1 else "…"


def lines_of(text: str, most_px: float, most: int) -> list[str]:
    """Return a title as lines of whole words; a word or an end that does not fit is shortened."""
    scale = TITLE_PX / FONT_PX * _BOLD
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if not lines[-1] or len(lines) == most or width_px(longer) * scale <= most_px:
            lines[-1] = longer
        else:
            lines.append(word)
    return [shortened(line, most_px / scale) for line in lines]
