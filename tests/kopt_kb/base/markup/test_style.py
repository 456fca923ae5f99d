"""The sheets load nothing, and every text can be read on its ground."""

from __future__ import annotations

import math
from itertools import combinations

import pytest

from kopt_kb.base.markup.style import DARK, GROUPS, LIGHT, StyleSheet


def luminance(colour: str) -> float:
    """Relative luminance, WCAG 2.2."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Contrast ratio, WCAG 2.2."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_texts_and_lines_stand_out(palette: dict[str, str]) -> None:
    """WCAG 2.2 AA: 4.5 to 1 on ground and panel for whatever is text, 3 to 1 for lines and marks of series."""
    assert contrast("#ffffff", "#000000") == pytest.approx(21)
    texts, series = ("text", "quiet", "link", "good", "bad", "warn"), [f"group{at}" for at in range(GROUPS)]
    for ground in ("ground", "panel"):
        assert {name for name in texts if contrast(palette[name], palette[ground]) < 4.5} == set()
    assert {name for name in series if contrast(palette[name], palette["ground"]) < 3} == set()
    assert LIGHT.keys() == DARK.keys()


_LINEAR = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
_PROTAN = ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998))
_DEUTAN = ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881))
"""G. Machado, M. Oliveira, L. Fernandes, IEEE TVCG 15(6), 2009: what is seen without red, without green."""


def seen(colour: str, eyes: tuple[tuple[float, ...], ...]) -> tuple[float, float, float]:
    """CIE L*a*b* of a colour as these eyes see it."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in parts]
    red, green, blue = (min(max(sum(a * b for a, b in zip(row, linear, strict=True)), 0), 1) for row in eyes)
    xyz = (
        (0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.9505,
        0.2126 * red + 0.7152 * green + 0.0722 * blue,
        (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.089,
    )
    x, y, z = (one ** (1 / 3) if one > 0.008856 else 7.787 * one + 16 / 116 for one in xyz)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("eyes", [_LINEAR, _PROTAN, _DEUTAN], ids=["all", "no red", "no green"])
def test_colours_of_series_differ_for_the_colour_blind(
    palette: dict[str, str], eyes: tuple[tuple[float, ...], ...]
) -> None:
    """A distance of 18 between any two of eight, of 35 between the first four; 2 is just noticeable."""
    for many, least in ((GROUPS, 18), (4, 35)):
        colours = [seen(palette[f"group{at}"], eyes) for at in range(many)]
        assert min(math.dist(*both) for both in combinations(colours, 2)) > least


@pytest.mark.parametrize("sheet", list(StyleSheet))
def test_sheets_fetch_nothing_and_end_nowhere_else(sheet: StyleSheet) -> None:
    """No address, no import, nothing that ends a style element or that XML refuses; braces match."""
    assert not [one for one in ("url(", "@import", "<", "&", "expression") if one in sheet.value]
    assert sheet.value.count("{") == sheet.value.count("}")
    assert "prefers-color-scheme:dark" in sheet.value
    assert "@media print" in sheet.value
