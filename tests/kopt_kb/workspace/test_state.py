"""State is a fold: nothing is stored, later events win."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.workspace.fold import fold
from kopt_kb.workspace.journal.blobs import ObjectStore
from kopt_kb.workspace.journal.journal import Journal
from kopt_kb.workspace.journal.setup_events import UnknownRow
from kopt_kb.workspace.workspace import Workspace


def test_a_fresh_workspace(workspace: Workspace) -> None:
    """Platform, problem, specs, targets, times."""
    state = workspace.state()
    assert (state.created.platform, state.problem.op, state.seq, state.targets_seq) == ("T10", "rms_norm", 3, 3)
    assert state.task.framework == "Triton"
    assert len(state.rooflines) == 2
    assert set(state.times) == {1, 2, 3}


def test_later_registrations_win_and_known_values_are_not_unknown(workspace: Workspace) -> None:
    """A value registered after it was unknown is known."""
    row, read = workspace.state().specs["memory_capacity"], ObjectStore(workspace.layout.objects).get
    with Journal.open(workspace.layout.journal) as journal:
        journal.append(
            "specs_registered",
            {"rows": [], "unknown": [{"key": "memory_capacity", "reason": "x", "citation": None, "placeholder": None}]},
        )
        assert isinstance(fold(journal.events, read).unknown["memory_capacity"], UnknownRow)
        from kopt_kb.workspace.journal.setup_events import SpecsRegistered

        journal.append("specs_registered", SpecsRegistered((replace(row, value="96"),), ()))
    state = workspace.state()
    assert state.specs["memory_capacity"].value == "96"
    assert "memory_capacity" not in state.unknown


def test_an_empty_or_headless_journal_is_refused(workspace: Workspace) -> None:
    """The first event names the workspace."""
    read = ObjectStore(workspace.layout.objects).get
    with pytest.raises(BadInput, match="empty"):
        fold((), read)
    with pytest.raises(BadInput, match="begins with"):
        fold(workspace.events()[1:], read)


def test_a_kernel_is_one_file(workspace: Workspace) -> None:
    """Its version has no other."""
    assert workspace.state().files_of(b"x = 1\n") == {"kernel.py": "x = 1\n"}
