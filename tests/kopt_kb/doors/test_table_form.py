"""The door for tuned tables."""

from __future__ import annotations

from kopt_kb.doors.table import behind
from kopt_kb.doors.table_form import TableForm


def test_names_are_given_once() -> None:
    """Each form with its name, and none that takes any file."""
    forms: list[TableForm] = [form for _, form in behind("table_forms")]
    assert len({form.name for form in forms}) == len(forms)
    assert not any(form.recognises("notes.txt", b"hello") for form in forms)
