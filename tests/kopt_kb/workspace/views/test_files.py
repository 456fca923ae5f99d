"""The header is recognised exactly and its hash finds edits; files are written in one step, edits kept first."""

from __future__ import annotations

import hashlib
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kopt_kb.workspace.journal.blobs import ObjectStore
from kopt_kb.workspace.journal.chain import Head
from kopt_kb.workspace.views.blocks import BlockError, parse_blocks, render_block
from kopt_kb.workspace.views.files import (
    Difference,
    ViewError,
    Written,
    block_difference,
    file_difference,
    first_difference,
    read_file,
    split_view,
    with_header,
    write_blocks,
    write_file,
)

HEAD = Head(12, "cd" * 32)
HEADED = '{\n  "n": 1\n}\n'


@pytest.mark.parametrize(
    ("name", "text", "first"),
    [
        ("log.md", "# Log\n", "<!-- kb:view seq=12 zh={zh} sha256={sha} -->"),
        ("log.txt", "", "# kb:view seq=12 zh={zh} sha256={sha}"),
        ("v1.json", HEADED, '{{"_view": {{"seq": 12, "zh": "{zh}", "sha256": "{sha}"}},'),
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
    assert json.loads(with_header("v1.json", HEADED, HEAD)) == {
        "_view": {"seq": 12, "zh": HEAD.zh, "sha256": hashlib.sha256(HEADED.encode()).hexdigest()},
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


OLD, NEW = Head(1, "ab" * 32), Head(2, "cd" * 32)
BEGIN_A = b"<!-- kb:begin a sha256=%s -->\n" % hashlib.sha256(b"x\n").hexdigest().encode()
BEGIN_B = BEGIN_A.replace(b"begin a", b"begin b")
END_A, END_B = b"<!-- kb:end a -->\n", b"<!-- kb:end b -->\n"
TEXT = b"intro\n" + BEGIN_A + b"x\n" + END_A + b"outro"


@pytest.fixture
def store(tmp_path):
    """An empty folder of blobs."""
    (tmp_path / "objects").mkdir()
    return ObjectStore(tmp_path / "objects")


@pytest.mark.parametrize(
    ("expected", "found", "difference"),
    [
        (b"a\nb\n", b"a\nb\n", None),
        (b"a\nbc\n", b"a\nbd\n", Difference(3, 2, "bc", "bd")),
        (b"a\n", b"a\nb", Difference(2, 2, "", "b")),
        (b"ab", b"a", Difference(1, 1, "ab", "a")),
        (b"", b"\xff", Difference(0, 1, "", "\ufffd")),
    ],
)
def test_the_first_differing_byte_and_its_line(expected, found, difference):
    """Offsets count from 0, lines from 1."""
    assert first_difference(expected, found) == difference


def test_a_text_that_ends_early_is_not_said_to_differ_from_itself():
    """The line where it ends is equal in both."""
    said = str(first_difference(b"a\nb\nc\n", b"a\nb"))
    assert said.startswith("byte 3: ") and "stands where" not in said and "ends" in said


class TestFile:
    def test_a_missing_file_is_written_with_its_folder(self, tmp_path, store):
        """The header names the head it was rendered from."""
        assert write_file(tmp_path, "logs/a.md", "one\n", OLD, store) == Written(changed=True)
        view = split_view("a.md", (tmp_path / "logs/a.md").read_bytes())
        assert (view.head, view.body) == (OLD, b"one\n")

    def test_an_untouched_file_is_replaced_and_none_is_kept(self, tmp_path, store):
        """The disk equals what was last rendered."""
        write_file(tmp_path, "a.md", "one\n", OLD, store)
        assert write_file(tmp_path, "a.md", "two\n", NEW, store) == Written(changed=True)
        assert file_difference(tmp_path, "a.md", "two\n") is None
        assert store.names() == ()

    def test_the_same_text_is_not_written_again(self, tmp_path, store):
        """So the header keeps the head at which the text came to be."""
        write_file(tmp_path, "a.md", "one\n", OLD, store)
        assert write_file(tmp_path, "a.md", "one\n", NEW, store) == Written(changed=False)
        assert read_file(tmp_path, "a.md").head == OLD

    @pytest.mark.parametrize("edit", [lambda old: old + b"mine\n", lambda _old: b"mine\n", lambda _old: b""])
    def test_an_edited_file_is_kept_as_a_blob_and_rendered_again(self, tmp_path, store, edit):
        """Whatever somebody made of it."""
        write_file(tmp_path, "a.md", "one\n", OLD, store)
        edited = edit((tmp_path / "a.md").read_bytes())
        (tmp_path / "a.md").write_bytes(edited)
        done = write_file(tmp_path, "a.md", "two\n", NEW, store)
        assert done.changed and store.get(done.kept) == edited
        assert file_difference(tmp_path, "a.md", "two\n") is None

    def test_an_edit_equal_to_the_new_text_gets_its_header(self, tmp_path, store):
        """There is nothing to keep."""
        write_file(tmp_path, "a.md", "one\n", OLD, store)
        path = tmp_path / "a.md"
        path.write_bytes(path.read_bytes().replace(b"one", b"two"))
        assert write_file(tmp_path, "a.md", "two\n", NEW, store) == Written(changed=True)
        assert split_view("a.md", path.read_bytes()).intact

    def test_links_and_read_only_folders_are_clear_errors(self, tmp_path, store, as_nobody):
        """A link is not followed."""
        (tmp_path / "a.md").symlink_to("/etc/hostname")
        with pytest.raises(ViewError, match="can't be read"):
            write_file(tmp_path, "a.md", "x\n", NEW, store)
        with as_nobody, pytest.raises(ViewError, match="Permission denied"):
            write_file(as_nobody.folder, "a.md", "x\n", NEW, store)

    def test_a_header_is_read(self, tmp_path, store):
        """None without a file or a header."""
        write_file(tmp_path, "a.md", "one\n", OLD, store)
        (tmp_path / "b.md").write_text("mine\n")
        assert read_file(tmp_path, "a.md").head == OLD
        assert read_file(tmp_path, "b.md") is read_file(tmp_path, "c.md") is None

    @pytest.mark.parametrize(("name", "old", "new"), [("a.md", "one\ntoo\n", "two"), ("a.json", '{\n"b": 1\n}\n', "2")])
    def test_a_difference_names_the_line_of_the_file(self, tmp_path, name, old, new):
        """Markdown has its header as a line more, JSON in place of its brace; a forged header does not help."""
        text = old.replace("too", "two").replace("1", "2")
        (tmp_path / name).write_bytes(with_header(name, old, OLD))
        found = file_difference(tmp_path, name, text)
        assert found.offset == next(i for i, (a, b) in enumerate(zip(old, text, strict=True)) if a != b)
        assert (tmp_path / name).read_text().split("\n")[found.line - 1] == found.found
        assert new in found.expected

    def test_a_missing_or_headless_file_differs_at_byte_zero(self, tmp_path):
        """Also when the rendering is empty."""
        (tmp_path / "b.md").write_bytes(b"one\n")
        assert file_difference(tmp_path, "none.md", "") == Difference(0, 1, "", "")
        assert file_difference(tmp_path, "b.md", "one\n") == Difference(0, 1, "one", "")


class TestBlocks:
    @pytest.fixture
    def path(self, tmp_path):
        (tmp_path / "README.md").write_bytes(TEXT)
        return tmp_path / "README.md"

    def test_an_unedited_block_is_replaced(self, path, store):
        """The rest of the file stays, and nothing is kept."""
        assert write_blocks(path, {"a": "y"}, store) == Written(changed=True)
        assert path.read_bytes() == b"intro\n" + render_block("a", "y") + b"outro"

    def test_an_equal_rendering_writes_nothing(self, path, store):
        """The file is not even touched."""
        before = path.stat()
        assert write_blocks(path, {"a": "x"}, store) == Written(changed=False)
        assert path.stat().st_mtime_ns == before.st_mtime_ns

    def test_an_edited_block_keeps_the_whole_file_as_a_blob(self, path, store):
        """And all blocks are rendered again."""
        text = TEXT + b"\n" + BEGIN_B + b"edit\n" + END_B
        path.write_bytes(text)
        done = write_blocks(path, {"a": "y", "b": "z"}, store)
        assert store.get(done.kept) == text
        assert path.read_bytes() == b"intro\n" + render_block("a", "y") + b"outro\n" + render_block("b", "z")

    def test_an_edit_equal_to_the_new_rendering_is_none(self, path, store):
        """Only the marker's hash is brought up to date."""
        path.write_bytes(TEXT.replace(b"x\n", b"y\n"))
        assert write_blocks(path, {"a": "y"}, store) == Written(changed=True)
        assert path.read_bytes() == b"intro\n" + render_block("a", "y") + b"outro"

    def test_a_block_at_the_end_without_newline_stays_so(self, path, store):
        """The byte after the marker belongs to people."""
        path.write_bytes(TEXT.removesuffix(b"\noutro"))
        write_blocks(path, {"a": "y"}, store)
        assert path.read_bytes() == b"intro\n" + render_block("a", "y").removesuffix(b"\n")

    def test_a_missing_block_or_file_is_refused(self, path, tmp_path, store):
        """Nothing is appended on a guess."""
        with pytest.raises(BlockError, match="block b is missing"):
            write_blocks(path, {"b": "y"}, store)
        with pytest.raises(BlockError, match="file is missing"):
            write_blocks(tmp_path / "none.md", {"a": "y"}, store)
        assert path.read_bytes() == TEXT

    def test_a_file_that_can_not_be_written_is_a_clear_error(self, as_nobody, store):
        """A read-only folder."""
        path = as_nobody.folder / "README.md"
        path.write_bytes(TEXT)
        with as_nobody, pytest.raises(BlockError, match="Permission denied"):
            write_blocks(path, {"a": "y"}, store)
        assert path.read_bytes() == TEXT

    def test_a_difference_counts_its_line_in_the_file(self):
        """The begin marker stands on line 2, the body on line 3."""
        (block,) = parse_blocks(TEXT, "R")
        assert block_difference("x", block) is None
        assert block_difference("y", block) == Difference(0, 3, "y", "x")
