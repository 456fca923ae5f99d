"""The table of readers."""

from __future__ import annotations

from kopt_kb.analysis.readers.table import READERS


def test_ids_are_unique_and_texts_are_there():
    """A reader is known by its id and described in messages."""
    ids = [one.id for one in READERS]
    assert len(set(ids)) == len(ids)
    assert all(one.what for one in READERS)
