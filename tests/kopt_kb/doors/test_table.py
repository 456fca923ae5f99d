"""The table of packs."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from kopt_kb.doors import table
from kopt_kb.doors.later import Later
from kopt_kb.doors.pack import Pack
from kopt_kb.doors.table import GROUP, behind, needed_pack, packs

MINE = Pack(name="mine", what="a test's pack", words=("mine",))
OTHER = Pack(name="mine", what="another of the same name")


def _installed(monkeypatch: pytest.MonkeyPatch, **values: str) -> table.Packs:
    entries = [EntryPoint(name, value, GROUP) for name, value in values.items()]
    monkeypatch.setattr(table, "entry_points", lambda **_: entries)
    return table.packs.__wrapped__()


@pytest.mark.packs
def test_built_in_packs_enter_by_the_table() -> None:
    """Each folder of packs is an entry point of this distribution, each without a fault."""
    found = packs()
    assert not found.faults
    assert {"cutile", "problem_sets", "memory_form", "training_step"} <= found.usable.keys()


def test_a_checkout_that_is_not_installed_has_its_packs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without metadata of its own distribution; a stranger's packs stand beside them."""
    own = set(_installed(monkeypatch).usable)
    assert own <= packs().usable.keys()
    assert own | {"mine"} == _installed(monkeypatch, mine=f"{__name__}:MINE").usable.keys()


def test_what_is_absent_is_told_apart_from_what_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """A distribution may leave packs out; a module that fails is a fault of its own; neither is an exception."""
    found = _installed(
        monkeypatch, gone="kopt_kb.packs.no_such_pack.pack:PACK", broken="antigravity_that_is_not:PACK", none="math:pi"
    )
    assert not {"gone", "broken", "none"} & found.usable.keys()
    assert {one.name: one.absent for one in found.faults} == {"gone": True, "broken": True, "none": False}


@pytest.mark.packs
def test_a_name_is_taken_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second pack of a name is a fault, as is an entry point that calls its pack otherwise."""
    found = _installed(monkeypatch, mine=f"{__name__}:MINE", other=f"{__name__}:OTHER")
    assert found.usable["mine"] == MINE
    assert [one.name for one in found.faults] == ["other"]


def test_every_name_behind_a_door_is_there() -> None:
    """Each `later` of each pack resolves."""
    places = [place for pack in packs().usable.values() for place in _places(pack)]
    for place in places:
        place.target  # noqa: B018 - resolving is the test


def _places(value: object) -> list[Later]:
    if isinstance(value, Later):
        return [value]
    if isinstance(value, dict):
        return [place for item in value.values() for place in _places(item)]
    if isinstance(value, tuple):
        return [place for item in value for place in _places(item)]
    slots = getattr(type(value), "__dataclass_fields__", {})
    return [place for name in slots for place in _places(getattr(value, name))]


def test_a_door_yields_what_packs_bring_with_their_pack(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the order of the packs."""
    monkeypatch.setattr(table, "packs", lambda: table.Packs({"mine": MINE}, ()))
    assert [(pack.name, word) for pack, word in behind("words")] == [("mine", "mine")]


def test_a_pack_that_is_needed_is_named_only_where_it_is_declared(monkeypatch: pytest.MonkeyPatch) -> None:
    """An absent pack, a broken one with its reason, one that is there, and a name that no pack has."""
    found = _installed(
        monkeypatch, gone="kopt_kb.packs.no_such_pack.pack:PACK", none="math:pi", mine=f"{__name__}:MINE"
    )
    monkeypatch.setattr(table, "packs", lambda: found)
    assert needed_pack("GONE") == "needs the pack gone, which is not installed"
    assert needed_pack("none") == "needs the pack none, which can't be used: math:pi is no Pack"
    assert needed_pack("mine") == needed_pack("other") == needed_pack("") == ""


def test_a_pack_that_exits_at_import_is_a_fault(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A module that calls `sys.exit` ends no command of `kb`."""
    (tmp_path / "exiting_pack.py").write_text("raise SystemExit(3)\n")
    monkeypatch.syspath_prepend(tmp_path)
    read = table._read(table.EntryPoint("evil", "exiting_pack:PACK", table.GROUP))
    assert read == table.PackFault("evil", "SystemExit: 3")
