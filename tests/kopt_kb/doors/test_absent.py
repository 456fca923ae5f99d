"""What no installed pack brings is refused by the name of the pack that would."""

from __future__ import annotations

from importlib.metadata import EntryPoint

import pytest

from kopt_kb.doors import absent, table
from kopt_kb.doors.absent import OFFERS, absent_offers, absent_pack, needs_pack
from kopt_kb.doors.pack import Pack


def _installed(monkeypatch: pytest.MonkeyPatch, *names: str, faults: tuple[table.PackFault, ...] = ()) -> None:
    monkeypatch.setattr(absent, "entry_points", lambda **_: [EntryPoint("songs", "choir", OFFERS)])
    found = table.Packs({name: Pack(name, "a test's pack") for name in names}, faults)
    monkeypatch.setattr(table, "packs", lambda: found)


@pytest.mark.parametrize(
    ("offer", "installed", "expected"), [("songs", (), "choir"), ("songs", ("choir",), ""), ("dances", (), "")]
)
def test_the_pack_of_an_offer(
    monkeypatch: pytest.MonkeyPatch, offer: str, installed: tuple[str, ...], expected: str
) -> None:
    """Named where it is declared and not there; nothing where it is there, or where nobody declares it."""
    _installed(monkeypatch, *installed)
    assert absent_pack(offer) == expected


def test_the_refusal_names_the_pack(monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit code of what is not installed; a pack that can't be used says why."""
    _installed(monkeypatch)
    error = needs_pack("singing", "songs", "kb sing")
    assert (error.what, error.error_code) == ("singing needs the pack choir, which is not installed", "KB120")
    _installed(monkeypatch, faults=(table.PackFault("choir", "SyntaxError: no"),))
    assert needs_pack("singing", "songs").what == "singing needs the pack choir, which can't be used: SyntaxError: no"


def test_an_offer_that_nobody_declares_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the offer's own name."""
    _installed(monkeypatch)
    assert "brings dances; none is installed" in needs_pack("dancing", "dances").what


def test_every_offer_is_of_a_pack_that_is_declared() -> None:
    """The distribution's own group names its own packs, installed or not."""
    declared = {entry.value for entry in absent.entry_points(group=OFFERS)}
    assert {"problem_sets"} <= declared <= {entry.name for entry in absent.entry_points(group=table.GROUP)}


def test_offers_that_begin_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of packs that are not there, without what they begin with."""
    entries = [EntryPoint(f"sing {name}", f"{name}s", OFFERS) for name in ("alto", "bass")]
    monkeypatch.setattr(absent, "entry_points", lambda **_: [*entries, EntryPoint("dance", "altos", OFFERS)])
    monkeypatch.setattr(table, "packs", lambda: table.Packs({"basss": Pack("basss", "a test's pack")}, ()))
    assert absent_offers("sing ") == ("alto",)
