"""People's texts can't break out of a table, a bullet or a quote."""

from __future__ import annotations

from kopt_kb.workspace.views.markdown import bullets, figure, percent, quoted


def test_numbers():
    """Four significant digits, signed percent, dashes for none."""
    assert (figure(123.456), figure(None), percent(1.5), percent(None)) == ("123.5", "-", "+1.500%", "-")


def test_bullets_and_quotes():
    """Each ends in a blank line or stays one quote."""
    assert bullets([]) == ["- none", ""]
    assert bullets(["a\nb"]) == ["- a b", ""]
    assert quoted("# x\n\n| y |\n") == ["> # x", ">", "> | y |"]
