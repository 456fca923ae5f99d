"""Packs that a test has installed, in place of those that are."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from kopt_kb.doors import table
from kopt_kb.doors.pack import Pack

_REAL = table.packs


def installed(monkeypatch: pytest.MonkeyPatch, *strange: Pack, without: Collection[str] = ()) -> None:
    """Have strangers' packs read behind those of the distribution, some of which are left out."""
    known = {name: pack for name, pack in _REAL().usable.items() if name not in without}
    found = table.Packs({**known, **{pack.name: pack for pack in strange}}, ())
    monkeypatch.setattr(table, "packs", lambda: found)
