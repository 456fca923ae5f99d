"""What the pack curate brings."""

from __future__ import annotations

from importlib import import_module

from kopt_kb.packs.curate.pack import PACK


def test_forms_of_text_come_back_and_binary_ones_are_known_by_their_bytes() -> None:
    """CSV and JSON are read as anybody's tables are."""
    forms = {one.name: one for one in PACK.exports}
    assert [one.name for one in PACK.exports if one.read is None and one.load is None] == ["csv", "json"]
    assert {name for name, one in forms.items() if one.magic} == {"sqlite", "parquet"}
    assert all((one.render is None) != (one.store is None) for one in forms.values())
    assert all(one.recognises is not None for one in forms.values() if one.read is not None)


def test_each_action_is_a_command_below_wiki() -> None:
    """With arguments and a run of its own."""
    for command in PACK.commands:
        if command.name.startswith("wiki "):
            module = import_module(command.module)
            assert callable(module.add_arguments)
            assert callable(module.run)


def test_each_check_asks_pages_or_a_wiki() -> None:
    """One that asks neither would be none."""
    assert all((one.product is None) != (one.wiki is None) for one in PACK.wiki_checks)
