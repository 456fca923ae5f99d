"""One fold, event by event or at once, gives the same state; every recorded journal folds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.workspace.fold import Fold, fold, folded
from kopt_kb.workspace.journal.blobs import ObjectStore
from kopt_kb.workspace.journal.events import Event
from kopt_kb.workspace.state import WorkspaceState
from kopt_kb.workspace.workspace import Workspace

CAMPAIGNS = ["gemm", "rms_norm", "rms_norm_2", "softmax", "softmax_2"]


def recorded(repo_root: Path, op: str) -> tuple[tuple[Event, ...], ObjectStore]:
    """Events and blobs of a campaign measured on an H200."""
    kept = Workspace.open(repo_root / "benchmarks" / "campaigns" / "h200_sxm" / op)
    return kept.events(), ObjectStore(kept.layout.objects)


@pytest.mark.parametrize("op", CAMPAIGNS)
def test_a_growing_fold_equals_a_fresh_one_on_recorded_campaigns(repo_root: Path, op: str) -> None:
    """At a sample of lengths, split anywhere; what was read before stays as it was."""
    events, store = recorded(repo_root, op)
    growing = Fold(store.get)
    kept: list[tuple[WorkspaceState, WorkspaceState]] = []
    for end in range(1, len(events) + 1):
        growing.take(events[end - 1 : end])
        if end % 7 == 0 or end == len(events):
            wanted = fold(events[:end], store.get)
            assert growing.state() == wanted and growing.seq == end
            kept.append((growing.state(), wanted))
    for state, wanted in kept:
        assert (state.attempts, state.noise, state.masked) == (wanted.attempts, wanted.noise, wanted.masked)


@pytest.mark.parametrize("op", CAMPAIGNS)
def test_notes_of_old_journals_are_typed_events(repo_root: Path, op: str) -> None:
    """Policy, tips and proposals of version 1 journals stand in the state, and records claim no level of trust."""
    events, store = recorded(repo_root, op)
    state = fold(events, store.get)
    assert state.campaign is not None and state.campaign.policy["name"] == "gpu-wiki"
    assert state.tips is not None and state.tips.text == "" and state.unread == {}
    assert all(one.proposal is not None for one in state.rounds if one.number)
    assert all(one.proposal.round == one.number for one in state.rounds if one.proposal is not None)
    assert {one.trust for one in state.measured.values()} == {"unstated"}


def test_a_note_of_somebody_else_is_no_event_of_the_loop(repo_root: Path) -> None:
    """The same text under another author stays a note of hers."""
    events, store = recorded(repo_root, "softmax")
    foreign = [replace(one, data=replace(one.data, by="ann")) if one.kind == "note_added" else one for one in events]
    assert fold(events, store.get).campaign is not None
    assert fold(foreign, store.get).campaign is None


def test_a_note_of_the_loop_without_its_blob_is_said_and_stops_no_reader(repo_root: Path) -> None:
    """The rest of the journal folds; whoever would go on from it finds the reason."""
    events, store = recorded(repo_root, "softmax")
    lost = next(one.data.text for one in events if one.kind == "note_added")

    def read(sha: str) -> bytes:
        if sha == lost:
            raise BadInput("is missing", where=sha)
        return store.get(sha)

    state = fold(events, read)
    assert list(state.unread.values()) == [f"{lost}: is missing"]
    assert len(state.rounds) == len(fold(events, store.get).rounds)


def test_a_journal_whose_head_did_not_move_is_folded_once(
    repo_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Events that were added are taken up alone; another journal of the same name starts anew."""
    events, store = recorded(repo_root, "softmax")
    taken: list[int] = []
    take = Fold.take

    def counted(self: Fold, more: tuple[Event, ...]) -> None:
        taken.append(len(more))
        take(self, more)

    monkeypatch.setattr(Fold, "take", counted)
    path = tmp_path / "journal.jsonl"
    first = folded(path, events[:40], store.get)
    again, grown = folded(path, events[:40], store.get), folded(path, events[:45], store.get)
    assert (first == again, grown.seq, taken) == (True, 45, [40, 0, 5])
    other, _ = recorded(repo_root, "gemm")
    assert folded(path, other[:50], store.get).created.name == other[0].data.name
    assert taken[-1] == 50


def test_a_fold_of_nothing_is_refused() -> None:
    """As a journal that is empty."""
    with pytest.raises(BadInput, match="empty"):
        Fold(lambda _: b"").state()
