"""Blocks are found strictly, and nothing outside them ever changes."""

from __future__ import annotations

import contextlib
import hashlib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kopt_kb.workspace.views.blocks import BlockError, parse_blocks, render_block, replace_blocks

SHA_OF_X = hashlib.sha256(b"x\n").hexdigest()
BEGIN_A = b"<!-- kb:begin a sha256=%s -->\n" % SHA_OF_X.encode()
BEGIN_B = BEGIN_A.replace(b"begin a", b"begin b")
END_A, END_B = b"<!-- kb:end a -->\n", b"<!-- kb:end b -->\n"
TEXT = b"intro\n" + BEGIN_A + b"x\n" + END_A + b"outro"


class TestParse:
    def test_a_block_knows_its_place(self):
        """Name, line, body and the offsets of its markers."""
        (block,) = parse_blocks(TEXT, "R")
        assert (block.name, block.line, block.body, block.edited) == ("a", 2, b"x\n", False)
        assert TEXT[block.start : block.end] == BEGIN_A + b"x\n" + END_A

    def test_an_edited_body_does_not_have_the_hash_of_its_marker(self):
        """One space is an edit."""
        (block,) = parse_blocks(TEXT.replace(b"x\n", b"x \n"), "R")
        assert block.edited

    @pytest.mark.parametrize(
        ("text", "line", "says"),
        [
            (BEGIN_A + END_A + b"\n" + BEGIN_A + END_A, 4, "block a stands already on line 1"),
            (BEGIN_A + BEGIN_B + END_B + END_A, 2, "begins inside block a of line 1"),
            (BEGIN_A + BEGIN_A + END_A, 2, "begins inside block a of line 1"),
            (b"\n" + BEGIN_A + b"x\n", 2, "no end marker"),
            (END_A, 1, "ends without a begin marker"),
            (BEGIN_A + END_B, 2, "block b ends inside block a of line 1"),
            (BEGIN_A.replace(b"\n", b"\r\n") + END_A, 1, "CRLF"),
            (BEGIN_A + b"x\r\n" + END_A, 2, "CRLF"),
            (BEGIN_A + END_A.replace(b"\n", b"\r\n"), 2, "CRLF"),
            (b"  " + BEGIN_A + END_A, 1, "malformed begin"),
            (b"<!-- kb:begin a -->\n" + END_A, 1, "malformed begin"),
            (BEGIN_A.upper().replace(b"<!-- KB:BEGIN", b"<!-- kb:begin") + END_A, 1, "malformed begin"),
            (BEGIN_A.rstrip(b"\n"), 1, "malformed begin"),
            (BEGIN_A + b"<!-- kb:end a --> x\n", 2, "malformed end"),
            (BEGIN_A + b"<!--kb:end a-->\n", 2, "malformed end"),
        ],
    )
    def test_wrong_markers_are_refused_with_their_line(self, text, line, says):
        """Nothing is guessed."""
        with pytest.raises(BlockError, match=says) as caught:
            parse_blocks(text, "R")
        assert caught.value.where == f"R:{line}"

    def test_what_stands_outside_may_be_anything(self):
        """CRLF, invalid UTF-8, markers inside a sentence."""
        text = b"\xff\r\nsee <!-- kb:begin -->\r\n" + TEXT + b"\r\n<!-- other -->"
        assert [block.name for block in parse_blocks(text, "R")] == ["a"]


class TestRender:
    def test_the_marker_holds_the_hash_of_the_body(self):
        """A missing final newline is added; an empty body stays empty."""
        assert render_block("a", "x") == render_block("a", "x\n") == BEGIN_A + b"x\n" + END_A
        empty = hashlib.sha256(b"").hexdigest().encode()
        assert render_block("a", "") == b"<!-- kb:begin a sha256=%s -->\n<!-- kb:end a -->\n" % empty

    @pytest.mark.parametrize("name", ["", "A", "a b", "a\n", "-a", "a" * 65])
    def test_names_are_short_lower_case_words(self, name):
        """A name that could break the marker is refused."""
        with pytest.raises(BlockError, match="no block name"):
            render_block(name, "x")

    @pytest.mark.parametrize("body", ["a\r\n", "x\n<!-- kb:end a -->", "  <!--kb:begin", "\ud800"])
    def test_bodies_that_would_break_the_block_are_refused(self, body):
        """A table cell that forges a marker can't end the block."""
        with pytest.raises(BlockError):
            render_block("a", body)


OUTSIDE = st.lists(st.binary(max_size=20).filter(lambda b: b"kb:" not in b and b"<" not in b), min_size=4, max_size=4)
BODY = st.text(st.characters(exclude_characters="\r", exclude_categories=["Cs"]), max_size=30).filter(
    lambda text: "kb:" not in text
)


def joined(outside, bodies):
    pieces = [outside[0] + b"\n"]
    for name, text in zip(bodies, outside[1:], strict=True):
        pieces += [render_block(name, bodies[name]), text + b"\n"]
    return b"".join(pieces)


@settings(max_examples=80, deadline=None)
@given(outside=OUTSIDE, old=st.lists(BODY, min_size=3, max_size=3), new=st.lists(BODY, min_size=2, max_size=2))
def test_replacing_blocks_changes_no_byte_outside_them(outside, old, new):
    """Any bytes around three blocks, two of them rendered anew: the file is the same built afresh."""
    before = dict(zip("abc", old, strict=True))
    after = {**before, "a": new[0], "c": new[1]}
    replaced = replace_blocks(joined(outside, before), {"a": new[0], "c": new[1]}, "R")
    assert replaced == joined(outside, after)
    assert [block.edited for block in parse_blocks(replaced, "R")] == [False] * 3


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=60) | st.lists(st.sampled_from([BEGIN_A, END_A, BEGIN_B, END_B, b"x\n"])).map(b"".join))
def test_any_bytes_parse_or_are_refused(data):
    """No other error leaves the parser, and each block it finds starts with its marker."""
    with contextlib.suppress(BlockError):
        blocks = parse_blocks(data, "R")
        assert all(data[block.start : block.end].startswith(b"<!-- kb:begin") for block in blocks)
