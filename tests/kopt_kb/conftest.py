"""Fixtures that several folders share."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from kopt_kb.doors import table
from kopt_kb.doors.pack import Pack
from kopt_kb.launch.judge.makers import Makers
from kopt_kb.workspace import fold

OnlyPacks = Callable[..., None]
"""Leaves the given packs alone installed."""


@pytest.fixture
def only_packs(monkeypatch: pytest.MonkeyPatch) -> OnlyPacks:
    """Puts the given packs in the place of those that are installed; journals are folded again, as another process does."""

    def install(*packs: Pack, faults: tuple[table.PackFault, ...] = ()) -> None:
        found = table.Packs({pack.name: pack for pack in packs}, faults)
        monkeypatch.setattr(table, "packs", lambda: found)
        monkeypatch.setattr(fold, "_KNOWN", {})

    return install


@pytest.fixture(scope="session")
def makers() -> Iterator[Makers]:
    """Two warm makers for all tests of a session: each imports torch and triton once."""
    with Makers(2) as two:
        yield two
