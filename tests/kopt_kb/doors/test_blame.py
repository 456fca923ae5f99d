"""Which pack an exception comes from."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from kopt_kb.doors import blame
from kopt_kb.doors.blame import strange_frame
from kopt_kb.doors.entries import EntryPoint
from kopt_kb.doors.table import GROUP


def _raised(name: str, monkeypatch: pytest.MonkeyPatch) -> Exception:
    module = ModuleType(name)
    monkeypatch.setitem(sys.modules, name, module)
    exec(compile("def fail():\n    return 1 / 0\n", f"/{name}.py", "exec"), module.__dict__)
    with pytest.raises(ZeroDivisionError) as raised:
        module.fail()
    return raised.value


def test_the_last_frame_of_a_stranger_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """With its pack; a module that no pack names, and this distribution's own packs, are nobody's."""
    entries = [
        EntryPoint("rude", "kopt_rude.pack:PACK", GROUP),
        EntryPoint("cutile", "kopt_kb.packs.cutile.pack:PACK", GROUP),
    ]
    monkeypatch.setattr(blame, "entry_points", lambda **_: entries)
    assert strange_frame(_raised("kopt_rude.loop", monkeypatch)) == ("rude", "/kopt_rude.loop.py:2")
    assert strange_frame(_raised("kopt_rude_not.loop", monkeypatch)) == ("", "")
    assert strange_frame(_raised("kopt_kb.packs.cutile.loop", monkeypatch)) == ("", "")
