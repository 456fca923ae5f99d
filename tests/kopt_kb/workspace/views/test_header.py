"""A rendered file's header names its journal and its body, in a form its format allows."""

from __future__ import annotations

import hashlib
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kopt_kb.workspace.journal.chain import Head
from kopt_kb.workspace.views.header import ViewError, split_view, with_header

HEAD = Head(12, "cd" * 32)
TEXT = '{\n  "n": 1\n}\n'


@pytest.mark.parametrize(
    ("name", "text", "first"),
    [
        ("log.md", "# Log\n", "<!-- kb:view seq=12 zh={zh} sha256={sha} -->"),
        ("log.txt", "", "# kb:view seq=12 zh={zh} sha256={sha}"),
        ("v1.json", TEXT, '{{"_view": {{"seq": 12, "zh": "{zh}", "sha256": "{sha}"}},'),
    ],
)
def test_the_header_is_the_first_line_and_comes_off_again(name, text, first):
    """Sequence number, journal hash and hash of the body."""
    data = with_header(name, text, HEAD)
    sha = hashlib.sha256(text.encode()).hexdigest()
    assert data.decode().splitlines()[0] == first.format(zh=HEAD.zh, sha=sha)
    view = split_view(name, data)
    assert (view.head, view.sha256, view.body, view.intact) == (HEAD, sha, text.encode(), True)


def test_json_stays_json_with_one_more_member():
    """Readers of the file need to know nothing of headers."""
    assert json.loads(with_header("v1.json", TEXT, HEAD)) == {
        "_view": {"seq": 12, "zh": HEAD.zh, "sha256": hashlib.sha256(TEXT.encode()).hexdigest()},
        "n": 1,
    }


@pytest.mark.parametrize("text", ["[1]\n", '{"n": 1}', "{\n}\n", ""])
def test_json_that_has_no_place_for_the_header_is_refused(text):
    """An object with members, one a line, is what views write."""
    with pytest.raises(ViewError, match="objects with members"):
        with_header("v1.json", text, HEAD)


@pytest.mark.parametrize("name", ["data.csv", "kernel", "v1.JSON"])
def test_formats_without_a_place_for_a_header_are_no_views(name):
    """A comment line would break them."""
    with pytest.raises(ViewError, match="no header"):
        with_header(name, "x", HEAD)


@pytest.mark.parametrize("change", [(b" seq", b"  seq"), (b"-->", b"--> "), (b"cd", b"CD"), (b"kb:view", b"kb:vie")])
def test_a_header_of_another_form_is_none(change):
    """What a person changed or wrote is not taken for a rendering."""
    assert split_view("a.md", with_header("a.md", "x\n", HEAD).replace(*change)) is None


@settings(max_examples=60, deadline=None)
@given(text=st.text(st.characters(exclude_categories=["Cs"])), seq=st.integers(0, 10**9))
def test_any_text_comes_back_byte_for_byte(text, seq):
    """Line ends and empty texts included."""
    view = split_view("a.md", with_header("a.md", text, Head(seq, HEAD.zh)))
    assert (view.body, view.head.seq, view.intact) == (text.encode(), seq, True)


def test_any_change_of_the_body_shows():
    """The body no longer has the hash in the header."""
    assert not split_view("a.md", with_header("a.md", "x\n", HEAD) + b" ").intact
