"""IR text to clean lines."""

from __future__ import annotations

from kopt_kb.analysis.ir.triton.lines import clean_lines, cut_braces


def test_locations_comments_and_blank_lines_go():
    """Numbers stay those of the text."""
    text = '#loc = loc("x")\n\n  %a = op %b : i32 loc(callsite(#loc1 at #loc2))  // why\n{-# more #-}\n'
    (line,) = clean_lines(text)
    assert (line.number, line.text) == (3, "%a = op %b : i32")


def test_strings_are_set_aside_in_order():
    """A placeholder gives its string back; other text stays."""
    (line,) = clean_lines(r'f "1" "a \" -> // loc(" "0" : i32 -> i32')
    assert line.text == 'f "0" "1" "2" : i32 → i32'
    assert [line.string(f'"{i}"') for i in range(3)] == ["1", r"a \" -> // loc(", "0"]
    assert line.string("plain") == "plain"


def test_dictionaries_are_cut_out():
    """What stood in them is joined; nested braces stay inside."""
    outside, inside = cut_braces("a {x = 1} b {y = {z = 2}} c")
    assert outside.split() == ["a", "b", "c"]
    assert inside == "x = 1,y = {z = 2}"
