"""A workspace appears complete or not at all, and never over something else."""

from __future__ import annotations

import fcntl
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kopt_kb.workspace.layout import LayoutError, create_workspace, find_layout, folder_name, refuse_links


def build(layout):
    layout.readme.write_text("hello")
    layout.journal.write_text("")


class TestNames:
    @pytest.mark.parametrize("name", ["norm", "rms_norm-2.1", "_x", "A" * 64])
    def test_plain_names_get_the_prefix(self, name):
        """Letters, digits, dot, underscore and dash."""
        assert folder_name(name) == "kernel_opt_" + name

    @pytest.mark.parametrize(
        "name", ["", ".", "..", ".git", "-rf", "a/b", "a\\b", "a b", "a\n", "a\0", "é", "A" * 65, "a:b", "~"]
    )
    def test_all_others_are_refused(self, name):
        """The error says what a name may be."""
        with pytest.raises(LayoutError, match="use up to 64 letters"):
            folder_name(name)

    @given(st.text(max_size=70))
    def test_an_accepted_name_is_one_plain_path_component(self, name):
        """Whatever is given, the folder stays below its parent."""
        try:
            folder = folder_name(name)
        except LayoutError:
            return
        assert "/" not in folder
        assert folder.isascii()
        assert folder.isprintable()


class TestCreate:
    def test_the_folder_holds_the_plan_and_what_was_built(self, tmp_path):
        """All folders exist before `build` runs; nothing hidden is left."""
        layout = create_workspace(tmp_path, "norm", build)
        assert layout.root == tmp_path / "kernel_opt_norm"
        assert sorted(path.name for path in layout.root.iterdir()) == [
            *["README.md", "journal.jsonl", "logs", "memory", "notes", "objects", "plans", "profiles", "rounds"]
        ]
        assert [path.name for path in tmp_path.iterdir()] == ["kernel_opt_norm"]
        assert find_layout(layout.root) == layout

    @pytest.mark.parametrize("kind", ["folder", "full folder", "file", "broken link"])
    def test_nothing_that_exists_is_overwritten(self, tmp_path, kind):
        """Not even an empty folder; `build` does not run."""
        final = tmp_path / "kernel_opt_norm"
        if kind == "file":
            final.write_text("mine")
        elif kind == "broken link":
            final.symlink_to("nowhere")
        else:
            final.mkdir()
        if kind == "full folder":
            (final / "x").write_text("mine")
        with pytest.raises(LayoutError, match="never overwritten"):
            create_workspace(tmp_path, "norm", lambda _layout: pytest.fail("built"))
        assert [path.name for path in tmp_path.iterdir()] == ["kernel_opt_norm"]

    @pytest.mark.parametrize("error", [ValueError("x"), KeyboardInterrupt()])
    def test_a_failing_build_leaves_nothing(self, tmp_path, error):
        """The error comes through, interrupts too."""

        def fail(layout):
            build(layout)
            raise error

        with pytest.raises(type(error)):
            create_workspace(tmp_path, "norm", fail)
        assert list(tmp_path.iterdir()) == []

    def test_a_full_disk_in_build_is_a_clear_error(self, tmp_path):
        """And leaves nothing."""

        def fail(_layout):
            raise OSError(28, "No space left on device")

        with pytest.raises(LayoutError, match="No space left") as caught:
            create_workspace(tmp_path, "norm", fail)
        assert caught.value.where == str(tmp_path / "kernel_opt_norm")
        assert list(tmp_path.iterdir()) == []

    def test_a_workspace_made_meanwhile_is_not_overwritten(self, tmp_path):
        """The place is looked at again before the rename."""
        with pytest.raises(LayoutError, match="never overwritten"):
            create_workspace(tmp_path, "norm", lambda _layout: create_workspace(tmp_path, "norm", build))
        assert [path.name for path in tmp_path.iterdir()] == ["kernel_opt_norm"]
        assert (tmp_path / "kernel_opt_norm/README.md").read_text() == "hello"

    def test_a_missing_or_read_only_parent_is_a_clear_error(self, tmp_path, as_nobody):
        """Parents are not made on a guess."""
        with pytest.raises(LayoutError, match="no such folder"):
            create_workspace(tmp_path / "none", "norm", build)
        with as_nobody, pytest.raises(LayoutError, match="Permission denied"):
            create_workspace(as_nobody.folder, "norm", build)


def test_only_a_folder_with_a_journal_is_a_workspace(tmp_path):
    """Anything else is named."""
    with pytest.raises(LayoutError, match="no journal"):
        find_layout(tmp_path)
    with pytest.raises(LayoutError, match="no such folder"):
        find_layout(tmp_path / "none")


def test_what_a_killed_creation_left_is_removed_by_the_next(tmp_path):
    """Of the same name; one that is being built is not touched."""
    left = tmp_path / ".kernel_opt_norm.abcdef.partial"
    (left / "objects").mkdir(parents=True)
    other = tmp_path / ".kernel_opt_gemm.abcdef.partial"
    other.mkdir()
    busy = tmp_path / ".kernel_opt_norm.fedcba.partial"
    busy.mkdir()
    lock = os.open(busy, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    create_workspace(tmp_path, "norm", build)
    os.close(lock)
    assert (left.exists(), other.exists(), busy.exists()) == (False, True, True)


def test_a_link_below_the_root_is_refused_and_the_root_may_be_one(tmp_path):
    """Wherever on the way it stands; people may reach a workspace by a link."""
    create_workspace(tmp_path, "norm", lambda layout: layout.journal.write_bytes(b""))
    root = tmp_path / "link"
    root.symlink_to(tmp_path / "kernel_opt_norm")
    layout = find_layout(root)
    (layout.logs / "round-1").symlink_to(tmp_path)
    refuse_links(root, layout.logs)
    with pytest.raises(LayoutError, match="is a link") as caught:
        refuse_links(root, layout.logs / "round-1" / "deeper")
    assert caught.value.where == str(layout.logs / "round-1")
