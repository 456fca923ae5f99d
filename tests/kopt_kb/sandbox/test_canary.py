"""Claims about what tries the walls: where nothing holds, each try says what it could do, and nothing is left."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kopt_kb.sandbox import canary
from kopt_kb.sandbox.isolation import LOCKS, METADATA, READS, SOCKETS, WALLS, WRITES


def test_without_a_cage_no_wall_is_held() -> None:
    """Each with the first thing that was possible."""
    made = canary.Canary(())
    try:
        said = made.tried()
    finally:
        made.end()
    assert said.held == () and not made.folder.exists()
    assert said.missing == {
        WRITES: "tried: writing a file outside was possible",
        READS: "tried: reading a file outside was possible",
        METADATA: "tried: changing a mode outside was possible",
        SOCKETS: "tried: connecting to a socket outside was possible",
        LOCKS: "tried: locking a file outside was possible",
    }
    assert tuple(said.missing) == WALLS


def test_it_is_planted_below_nothing_that_can_be_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Else in another place; where there is none, that is an error."""
    (tmp_path / "free").mkdir()
    monkeypatch.setattr(canary, "_PLACES", (str(tmp_path / "own"), str(tmp_path / "absent"), str(tmp_path / "free")))
    assert canary._new_folder([str(tmp_path / "own")]).parent == tmp_path / "free"
    monkeypatch.setattr(canary, "_PLACES", (str(tmp_path),))
    with pytest.raises(OSError, match=re.escape(f"no folder in {tmp_path}")):
        canary.Canary([str(tmp_path)])
