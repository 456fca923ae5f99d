"""Pieces of Markdown can't be left by what stands in them."""

from __future__ import annotations

from kopt_kb.workspace.rounds import Remark
from kopt_kb.workspace.views.words import bullets, figure, finish, percent, plain, quoted, spoken


def test_an_entry_says_its_words_or_its_blob():
    """The loop's own events carry their words; a note's stand in its blob."""
    told = Remark(1, "t", "user", "", "kb tune", "campaign under policy primus")
    assert spoken(told, lambda _: b"other") == "campaign under policy primus"
    note = Remark(1, "t", "user", "ab" * 32, "ann")
    assert [spoken(note, lambda _, text=text: text) for text in (b" wide loads \n", b" ")] == ["wide loads", "(empty)"]


def test_text_is_made_utf8():
    """A lone surrogate becomes a question mark; a page ends with one newline."""
    assert plain("a\udc80b") == "a?b"
    assert finish(["# a\udc80", "", ""]) == "# a?\n"


def test_numbers():
    """Four significant digits, signed percent, dashes for none."""
    assert (figure(123.456), figure(None), percent(1.5), percent(None)) == ("123.5", "-", "+1.5 %", "-")


def test_bullets_and_quotes():
    """Each ends in a blank line or stays one quote."""
    assert bullets([]) == ["- none", ""]
    assert bullets(["a\nb"]) == ["- a b", ""]
    assert quoted("# x\n\n| y |\n") == ["> # x", ">", "> | y |"]
