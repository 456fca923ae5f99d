"""Words, rounds and masks are events; numbers can't be typed, and what is best can't be hidden."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kopt_kb.base.errors import BadInput
from kopt_kb.packs.memory_form import memory_edit as edit
from kopt_kb.packs.memory_form.attempts import read_memory
from kopt_kb.packs.memory_form.entries import MemoryFileError
from kopt_kb.workspace.journal.journal import Journal, JournalBusyError
from kopt_kb.workspace.views.render import render_workspace


class TestWords:
    def test_entries_are_appended(self, played):
        """Two at once, each an event with its author."""
        entries = [("open_directions", "persist"), ("search_log", '{"source": "gpu-wiki", "finding": "f"}')]
        events = edit.add_entries(played.workspace, 1, entries, "ann")
        assert [one.kind for one in events] == ["memory_noted", "memory_noted"]
        one = read_memory(played.workspace).get(1)
        assert one.open_directions[-1].direction == "persist"
        assert [entry.source for entry in one.search_log] == ["campaign", "gpu-wiki"]

    @pytest.mark.parametrize(
        "field", ["performance.latency_us", "git_commit_hash", "status", "masked", "no.such.field"]
    )
    def test_other_fields_are_refused_with_the_reason(self, played, field):
        """Nothing is appended, also of the good entry before it."""
        before = len(played.workspace.events())
        with pytest.raises(edit.FieldRefusedError, match=f"{field} can't be typed: "):
            edit.add_entries(played.workspace, 1, [("open_directions", "x"), (field, "3")], "ann")
        assert len(played.workspace.events()) == before

    def test_numbers_are_refused_because_they_come_from_records(self, played):
        """The reason names the event."""
        with pytest.raises(edit.FieldRefusedError, match="copied from `measured` events"):
            edit.add_entries(played.workspace, 1, [("performance", "{}")], "ann")

    def test_masked_and_unknown_versions_take_no_words(self, played):
        """The original updated masked files."""
        edit.mask(played.workspace, [2], "noise")
        for version in (2, 9):
            with pytest.raises(BadInput, match="is masked|no version"):
                edit.add_entries(played.workspace, version, [("open_directions", "x")], "ann")

    def test_a_wrong_form_is_refused(self, played):
        """And nothing is written."""
        with pytest.raises(MemoryFileError):
            edit.add_entries(played.workspace, 1, [("references", '{"path_or_url": 3}')], "ann")


class TestCreate:
    def test_the_next_number_begins(self, played):
        """With its hypothesis, from the incumbent's blob."""
        stated = edit.Hypothesis("memory", "wider loads", "fewer instructions")
        assert edit.create_version(played.workspace, 4, stated, "ann") == 4
        one = read_memory(played.workspace).get(4)
        assert (one.status, one.optimization.proposer) == ("open", "ann")
        assert one.kernel.incumbent == played.workspace.state().created.kernel

    @pytest.mark.parametrize(("version", "what"), [(3, "exists already"), (5, "not the next"), (0, "exists already")])
    def test_numbers_are_not_chosen(self, played, version, what):
        """Nothing is overwritten and nothing left out."""
        with pytest.raises(BadInput, match=what):
            edit.create_version(played.workspace, version)

    def test_one_round_at_a_time(self, played):
        """One with a candidate has to be decided first."""
        played.round(4, None)
        with pytest.raises(BadInput, match="v4 is not decided"):
            edit.create_version(played.workspace)

    def test_a_round_nobody_gave_a_candidate_ends_unverified(self, played):
        """Begun by hand and left: nothing judged it, so it is never accepted."""
        edit.create_version(played.workspace)
        assert edit.create_version(played.workspace) == 5
        one = read_memory(played.workspace).get(4)
        assert (one.status, one.decision.policy, one.decision.rule) == ("unverified", "by hand", "no gate judged it")

    def test_the_loop_begins_its_own_rounds(self, played):
        """A hand-begun round has no proposal the loop could work on."""
        played.say("note_added", '{"kind": "campaign", "policy": {}, "simulated": false}', topic="user", by="kb tune")
        with pytest.raises(BadInput, match="kb tune step --plan"):
            edit.create_version(played.workspace)

    def test_a_repeated_hypothesis_is_refused_with_its_number(self, played):
        """Whatever its case and spaces; a masked one doesn't count."""
        again = edit.Hypothesis("Memory", " IDEA  2 ", "x")
        with pytest.raises(BadInput, match="v2 stated this hypothesis"):
            edit.create_version(played.workspace, None, again)
        edit.mask(played.workspace, [2], "noise")
        assert edit.create_version(played.workspace, None, again) == 4


class TestMask:
    def test_masking_and_unmasking(self, played):
        """What was visible is returned; a second time nothing happens."""
        assert edit.mask(played.workspace, [3, 2], "noise") == (2, 3)
        assert edit.mask(played.workspace, [3], "noise") == ()
        assert edit.unmask(played.workspace, [3, 1], "sorry") == (3,)
        assert read_memory(played.workspace).masked == {2: "noise"}

    @pytest.mark.parametrize(("version", "what"), [(0, "the baseline"), (1, "the best accepted"), (9, "no version")])
    def test_the_baseline_and_the_best_stay(self, played, version, what):
        """And nothing of the list is masked."""
        with pytest.raises(BadInput, match=what):
            edit.mask(played.workspace, [2, version], "x")
        assert read_memory(played.workspace).masked == {}

    def test_the_open_round_stays(self, played):
        """It is being worked on."""
        played.round(4, None)
        with pytest.raises(BadInput, match="being worked on"):
            edit.mask(played.workspace, [4], "x")

    def test_a_hand_set_mask_is_recorded_and_can_be_undone(self, played):
        """The edit becomes an event first; then the version is shown again, in its file too."""
        render_workspace(played.workspace)
        path = played.workspace.layout.root / "memory/v2.json"
        path.write_text(path.read_text().replace('"masked": false', '"masked": true'))
        assert edit.unmask(played.workspace, [2], "x") == (2,)
        assert [event.kind for event in played.workspace.events()[-2:]] == ["memory_masked", "memory_unmasked"]
        render_workspace(played.workspace)
        assert read_memory(played.workspace).masked == {}
        assert '"masked": false' in path.read_text()

    def test_a_partial_restart_masks_half_by_seed(self, played):
        """Of v2..v6 two; the event keeps the seed; too few left is refused."""
        for number in (4, 5, 6):
            played.round(number, "rollback", {"1024x512": 3e-5})
        hidden = edit.mask_half(played.workspace, 7, "no new direction")
        assert hidden == edit.half_of([2, 3, 4, 5, 6], 7)
        assert len(hidden) == 2
        assert played.workspace.events()[-1].data.seed == 7
        edit.mask_half(played.workspace, 7, "again")
        edit.mask(played.workspace, [read_memory(played.workspace).visible[-1].number], "x")
        with pytest.raises(BadInput, match="fewer than two"):
            edit.mask_half(played.workspace, 7, "again")

    @given(st.sets(st.integers(0, 500)), st.integers())
    def test_half_is_half_and_repeatable(self, versions, seed):
        """Rounded down, a subset, the same whatever the order asked in."""
        found = edit.half_of(sorted(versions), seed)
        assert len(found) == len(versions) // 2
        assert set(found) <= versions
        assert found == edit.half_of(sorted(versions, reverse=True), seed)


def test_two_writers_do_not_meet(played):
    """While a campaign holds the journal, an edit is refused with one line."""
    with Journal.open(played.workspace.layout.journal), pytest.raises(JournalBusyError, match="another process"):
        edit.mask(played.workspace, [2], "x")
