"""What people said is sorted into the memory's fields, in the forms that the fields have."""

from __future__ import annotations

import pytest

from kopt_kb.packs.memory_form.attempts import read_memory
from kopt_kb.packs.memory_form.entries import MemoryFileError, read_entry
from kopt_kb.packs.memory_form.memory_model import MemoryDirection, SearchEntry


def test_notes_go_to_their_fields(story):
    """A search, a pitfall, a missing value, a tip."""
    story.say("note_added", "nothing on swizzles", topic="search", by="ann")
    story.say("note_added", "l2: UNKNOWN (gpu-wiki not found). no sheet", topic="pitfall", by="kb init")
    story.say("note_added", "l1: UNKNOWN (no source gives it). no sheet", topic="pitfall", by="kb init")
    story.say("note_added", "loads spill", topic="pitfall", by="ann")
    story.say("note_added", "  ", topic="tip", by="ann")
    one = read_memory(story.workspace).get(0)
    assert (one.search_log[0].source, one.search_log[0].finding) == ("note", "nothing on swizzles")
    assert [each.error_type for each in one.pitfalls_and_fixes] == ["unknown_spec", "unknown_spec", "note"]
    assert (one.notes[0].topic, one.notes[0].text) == ("tip", "(empty)")


def test_an_entry_of_another_version_of_the_form_is_kept_as_a_note(story):
    """A blob that no longer validates is not lost."""
    story.say("memory_noted", '{"source": "hearsay"}', version=0, field="search_log", by="ann")
    one = read_memory(story.workspace).get(0)
    assert one.search_log == () and one.notes[0].text == '{"source": "hearsay"}'


class TestEntries:
    def test_plain_words_fill_the_main_member(self):
        """A pitfall of words is a note with a lesson."""
        assert read_entry("pitfalls_and_fixes", " loads were not aligned ").lesson == "loads were not aligned"
        assert read_entry("open_directions", "persist") == MemoryDirection("persist")
        assert read_entry("risks_and_rollback", " may spill ") == "may spill"

    def test_json_gives_all_members(self):
        """Sources are a closed set."""
        made = read_entry("search_log", '{"source": "gpu-wiki", "query": "q", "finding": "f"}')
        assert made == SearchEntry("gpu-wiki", "f", query="q")

    @pytest.mark.parametrize(
        "text",
        [
            '{"source": "hearsay", "finding": "f"}',
            '{"finding": 3, "source": "note"}',
            '{"finding": NaN}',
            "{",
            " ",
            "{}",
        ],
    )
    def test_entries_of_another_form_are_refused(self, text):
        """Numbers, unknown sources, NaN, broken or empty JSON."""
        with pytest.raises(MemoryFileError, match="search_log"):
            read_entry("search_log", text)
