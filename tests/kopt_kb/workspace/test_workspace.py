"""A workspace is opened from its folder, and its state is that of its journal."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.workspace.layout import LayoutError
from kopt_kb.workspace.notes import add_note
from kopt_kb.workspace.workspace import Workspace


def test_opening_something_else_is_refused(tmp_path: Path) -> None:
    """A folder without a journal is no workspace."""
    with pytest.raises(LayoutError, match="kb init"):
        Workspace.open(tmp_path)


def test_the_state_grows_with_the_journal(workspace: Workspace) -> None:
    """What another writer appended is there at the next look; what was read before stays."""
    before = workspace.state()
    add_note(workspace, "tip", b"wide loads", "ann")
    after = Workspace.open(workspace.layout.root).state()
    assert (before.seq, after.seq) == (3, 4)
    assert [one.by for one in after.attempts[0].notes] == ["ann"] and before.attempts[0].notes == ()
    assert workspace.state(workspace.events()) == after
