"""The sheets load nothing, and every text can be read on its ground."""

from __future__ import annotations

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
    """4.5 to 1 on ground and panel for whatever is text, and for the lines and dots of products."""
    assert contrast("#ffffff", "#000000") == pytest.approx(21)
    names = ["text", "quiet", "link", "good", "bad", "warn", *(f"group{at}" for at in range(GROUPS))]
    assert {name for name in names if contrast(palette[name], palette["ground"]) < 4.5} == set()
    assert {name for name in names[:6] if contrast(palette[name], palette["panel"]) < 4.5} == set()
    assert LIGHT.keys() == DARK.keys()


@pytest.mark.parametrize("sheet", list(StyleSheet))
def test_sheets_fetch_nothing_and_end_nowhere_else(sheet: StyleSheet) -> None:
    """No address, no import, nothing that ends a style element or that XML refuses; braces match."""
    assert not [one for one in ("url(", "@import", "<", "&", "expression") if one in sheet.value]
    assert sheet.value.count("{") == sheet.value.count("}")
    assert "prefers-color-scheme:dark" in sheet.value
    assert "@media print" in sheet.value
