"""The door for forms in which values leave."""

from __future__ import annotations

from pathlib import Path

from kopt_kb.doors.export import Export
from kopt_kb.doors.table import behind


def test_names_are_given_once() -> None:
    """`--for` takes them."""
    names = [form.name for _, form in behind("exports")]
    assert len(set(names)) == len(names)


def test_a_form_may_be_written_and_never_read(tmp_path: Path) -> None:
    """All but its name and what it is may be left out."""
    form = Export("poem", "who reads poems")
    assert (form.render, form.store, form.read, form.load, form.magic, form.many) == (
        None,
        None,
        None,
        None,
        b"",
        False,
    )
