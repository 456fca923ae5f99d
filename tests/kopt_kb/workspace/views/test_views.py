"""Rendered files are pure functions of the journal, and no edit of one is ever overwritten."""

from __future__ import annotations

import pytest

from kopt_kb.errors import BadInput
from kopt_kb.workspace.journal.blobs import ObjectStore
from kopt_kb.workspace.journal.chain import Head
from kopt_kb.workspace.journal.journal import read_journal
from kopt_kb.workspace.views.conflict import Difference
from kopt_kb.workspace.views.header import ViewError, split_view
from kopt_kb.workspace.views.views import (
    View,
    ViewRegistry,
    compare_view,
    discard_view,
    one_file,
    view_conflict,
    view_header,
    write_view,
)

OLD, NEW = Head(1, "ab" * 32), Head(2, "cd" * 32)

kinds = one_file("kinds", "logs/kinds.md", lambda events, _blob: "".join(f"{e.kind}\n" for e in events))
numbers = View("numbers", lambda events, _blob: {f"memory/v{e.seq}.json": f'{{\n"n": {e.seq}\n}}\n' for e in events})


class TestRegistry:
    def test_all_views_render_from_events_alone(self, small_journal):
        """One view may make one file or many."""
        texts = ViewRegistry([kinds, numbers]).render(read_journal(small_journal), lambda _sha: b"")
        assert texts["logs/kinds.md"] == "note_added\nround_started\nrun_started\n"
        assert sorted(texts)[1:] == ["memory/v1.json", "memory/v2.json", "memory/v3.json"]

    def test_views_can_read_blobs(self, small_journal):
        """A note's text is a blob."""
        view = one_file("notes", "n.md", lambda events, blob: blob(events[0].data.text).decode())
        assert ViewRegistry([view]).render(read_journal(small_journal), lambda sha: sha[:4].encode()) == {
            "n.md": "abab"
        }

    def test_views_are_found_by_name_in_their_order(self):
        """An unknown name lists the known ones."""
        registry = ViewRegistry([numbers, kinds])
        assert list(registry) == [numbers, kinds]
        assert registry.get("kinds") is kinds
        with pytest.raises(BadInput, match="one of numbers, kinds"):
            registry.get("log")

    def test_names_and_files_belong_to_one_view(self, small_journal):
        """Two views can't fight over a name or a path."""
        with pytest.raises(BadInput, match="two views are called kinds"):
            ViewRegistry([kinds, kinds])
        twin = View("twin", kinds.render)
        with pytest.raises(BadInput, match="view twin renders a file of another view"):
            ViewRegistry([kinds, twin]).render(read_journal(small_journal), lambda _sha: b"")

    @pytest.mark.parametrize("path", ["/etc/x.md", "../x.md", "a/../../x.md", "a//x.md", "", "."])
    def test_no_view_leaves_the_workspace(self, path):
        """Paths are relative and plain."""
        with pytest.raises(BadInput, match="outside the workspace"):
            ViewRegistry([View("v", lambda _events, _blob: {path: ""})]).render((), lambda _sha: b"")


class TestWrite:
    def test_a_missing_file_is_written_with_its_folder(self, tmp_path):
        """The header names the head it was rendered from."""
        assert write_view(tmp_path, "logs/a.md", "one\n", OLD).status == "written"
        view = split_view("a.md", (tmp_path / "logs/a.md").read_bytes())
        assert (view.head, view.body) == (OLD, b"one\n")

    def test_an_untouched_file_is_replaced(self, tmp_path):
        """The disk equals what was last rendered."""
        write_view(tmp_path, "a.md", "one\n", OLD)
        assert write_view(tmp_path, "a.md", "two\n", NEW).status == "written"
        assert compare_view(tmp_path, "a.md", "two\n") is None

    def test_the_same_text_is_not_written_again(self, tmp_path):
        """So the header keeps the head at which the text came to be."""
        write_view(tmp_path, "a.md", "one\n", OLD)
        assert write_view(tmp_path, "a.md", "one\n", NEW).status == "unchanged"
        assert split_view("a.md", (tmp_path / "a.md").read_bytes()).head == OLD

    @pytest.mark.parametrize(
        ("edit", "reason"),
        [
            (lambda old: old + b"mine\n", "edited by hand"),
            (lambda _old: b"mine\n", "not written by kb"),
            (lambda _old: b"", "not written by kb"),
        ],
    )
    def test_an_edited_file_is_a_conflict_and_stays(self, tmp_path, edit, reason):
        """Nothing is written; the diff shows the edit."""
        path = tmp_path / "a.md"
        write_view(tmp_path, "a.md", "one\n", OLD)
        edited = edit(path.read_bytes())
        path.write_bytes(edited)
        result = write_view(tmp_path, "a.md", "two\n", NEW)
        assert (result.status, path.read_bytes()) == ("conflict", edited)
        assert reason in result.conflict.reason
        assert "-two\n" in result.conflict.diff

    def test_an_edit_equal_to_the_new_text_gets_its_header(self, tmp_path):
        """There is nothing to lose."""
        write_view(tmp_path, "a.md", "one\n", OLD)
        path = tmp_path / "a.md"
        path.write_bytes(path.read_bytes().replace(b"one", b"two"))
        assert write_view(tmp_path, "a.md", "two\n", NEW).status == "written"
        assert split_view("a.md", path.read_bytes()).intact

    def test_discard_keeps_the_old_bytes_as_a_blob(self, tmp_path):
        """The edit can be read again by its hash; a missing file leaves no blob."""
        store = ObjectStore(tmp_path / "objects")
        store.root.mkdir()
        (tmp_path / "a.md").write_bytes(b"mine\n")
        sha = discard_view(tmp_path, "a.md", "two\n", NEW, store)
        assert store.get(sha) == b"mine\n"
        assert compare_view(tmp_path, "a.md", "two\n") is None
        assert discard_view(tmp_path, "b.md", "x\n", NEW, store) is None

    def test_links_and_read_only_folders_are_clear_errors(self, tmp_path, as_nobody):
        """A link is not followed."""
        (tmp_path / "a.md").symlink_to("/etc/hostname")
        with pytest.raises(ViewError, match="can't be read"):
            write_view(tmp_path, "a.md", "x\n", NEW)
        with as_nobody, pytest.raises(ViewError, match="Permission denied"):
            write_view(as_nobody.folder, "a.md", "x\n", NEW)


class TestLooking:
    def test_a_conflict_is_found_without_writing(self, tmp_path):
        """None for a missing and an untouched file, the conflict of `write_view` for an edited one."""
        assert view_conflict(tmp_path, "a.md", "one\n", OLD) is None
        write_view(tmp_path, "a.md", "one\n", OLD)
        assert view_conflict(tmp_path, "a.md", "two\n", NEW) is None
        path = tmp_path / "a.md"
        path.write_bytes(path.read_bytes() + b"mine\n")
        before = path.read_bytes()
        found = view_conflict(tmp_path, "a.md", "two\n", NEW)
        assert found == write_view(tmp_path, "a.md", "two\n", NEW).conflict
        assert path.read_bytes() == before

    def test_a_header_is_read(self, tmp_path):
        """None without a file or a header."""
        write_view(tmp_path, "a.md", "one\n", OLD)
        (tmp_path / "b.md").write_text("mine\n")
        assert view_header(tmp_path, "a.md").head == OLD
        assert view_header(tmp_path, "b.md") is view_header(tmp_path, "c.md") is None


class TestCompare:
    def test_it_finds_an_edit_whose_header_was_forged(self, tmp_path):
        """Text and hash changed together still differ from a fresh rendering, at a named byte."""
        write_view(tmp_path, "a.md", "one\ntwo\n", OLD)
        (tmp_path / "b.md").write_bytes(b"")
        write_view(tmp_path, "c.md", "one\ntoo\n", OLD)
        assert compare_view(tmp_path, "c.md", "one\ntwo\n") == Difference(5, 2, "two", "too")

    def test_a_missing_or_headless_file_differs_at_byte_zero(self, tmp_path):
        """Also when the rendering is empty."""
        (tmp_path / "b.md").write_bytes(b"one\n")
        assert compare_view(tmp_path, "none.md", "") == Difference(0, 1, "", "")
        assert compare_view(tmp_path, "b.md", "one\n") == Difference(0, 1, "one", "")
