"""Widths of texts are upper bounds: against the widest font of the stack, as matplotlib brings it."""

from __future__ import annotations

import pytest
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.ft2font import FT2Font

from kopt_kb.report.text_width import FONT_PX, lines_of, shortened, width_px

PRINTABLE = [chr(one) for one in range(32, 127)] + list("…·×→µ–≥äéß")
ARIAL = {"J": 0.5, "m": 0.833, "W": 0.944, "@": 1.015, "E": 0.667, "S": 0.667, "T": 0.611, "Y": 0.667, "P": 0.667}
"""Letters of Arial and Helvetica that are wider than most (Adobe's metrics of Helvetica, AFM)."""


def advance(font: FT2Font, letter: str) -> float:
    """Advance of a letter in em."""
    font.set_size(100, 72)
    width: float = font.load_char(ord(letter)).linearHoriAdvance / 65536 / 100
    return width


@pytest.mark.parametrize("weight", ["normal", "bold"])
def test_no_letter_is_wider_than_is_said(weight: str) -> None:
    """DejaVu Sans, as wide as Verdana; numbers and heads are written in bold too."""
    font = get_font(findfont(FontProperties(family="DejaVu Sans", weight=weight), fallback_to_default=False))
    said = {letter: width_px(letter, 1.0, bold=weight == "bold") for letter in PRINTABLE}
    assert {letter for letter in PRINTABLE if advance(font, letter) > said[letter] + 0.006} == set()
    assert {letter for letter, em in ARIAL.items() if em > width_px(letter, 1.0)} <= {"@"}


def test_wide_letters_are_wide() -> None:
    """East Asian letters and emoji fill more than a square."""
    assert width_px("日本") == pytest.approx(2.6 * FONT_PX)


@pytest.mark.parametrize("text", ["kernel_" * 40, "核" * 90, "a b " * 100, "x", ""])
def test_what_is_shortened_fits_and_keeps_both_ends(text: str) -> None:
    """Names of kernels begin and end differently."""
    for most in (20.0, 60.0, 300.0):
        found = shortened(text, most)
        assert width_px(found) <= most
        assert found == text or (found[0], found[-1]) == (text[0], text[-1]) or found == "…"


def test_a_title_breaks_between_words() -> None:
    """At most so many lines; the last one is shortened."""
    assert lines_of("Roofline of a kernel", 400, 2) == ["Roofline of a kernel"]
    assert lines_of("Roofline: rms_norm on H20, H100_SXM", 200, 3) == ["Roofline: rms_norm", "on H20, H100_SXM"]
    assert len(lines_of("word " * 400, 400, 3)) == 3
    assert all(width_px(one, 15, bold=True) <= 400.01 for one in lines_of("w" * 500, 400, 3))
