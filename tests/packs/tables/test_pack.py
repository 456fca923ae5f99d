"""What the pack tables brings."""

from __future__ import annotations

from importlib import import_module

import pytest

from kopt_kb.doors.table_form import TableForm
from kopt_kb.packs.tables.pack import PACK


@pytest.mark.parametrize("form", PACK.table_forms, ids=lambda form: form.name)
def test_a_form_is_named_alike_in_the_table_and_in_what_is_read(form: TableForm) -> None:
    """Its module says the name once."""
    module = import_module(form.read.place.partition(":")[0])  # type: ignore[attr-defined]
    assert form.name == module.FORM


def test_one_command() -> None:
    """With an example an action."""
    (command,) = PACK.commands
    assert callable(import_module(command.module).run)
