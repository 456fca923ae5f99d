"""What the pack tables brings."""

from __future__ import annotations

from importlib import import_module

from kopt_kb.packs.tables.fused_moe import FORM
from kopt_kb.packs.tables.pack import PACK


def test_one_form_and_its_command() -> None:
    """Named alike in the table and in what is read."""
    assert [form.name for form in PACK.table_forms] == [FORM]
    (command,) = PACK.commands
    assert callable(import_module(command.module).run)
