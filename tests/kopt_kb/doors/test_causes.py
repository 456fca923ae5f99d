"""Error codes of packs."""

from __future__ import annotations

import pytest

from kopt_kb.base.error_codes import PackCode
from kopt_kb.doors import table
from kopt_kb.doors.causes import known_code, pack_causes
from kopt_kb.doors.pack import Pack, PackCause

MINE = PackCause(PackCode("MY001"), "mine", "a cause", "A remedy.")
TAKEN = PackCause(PackCode("KB110"), "taken", "a cause", "A remedy.")


@pytest.fixture(autouse=True)
def _two_packs(monkeypatch: pytest.MonkeyPatch) -> None:
    second = Pack("second", "another", causes=(PackCause(MINE.code, "late", "c", "R."),))
    held = table.Packs({"first": Pack("first", "a test's", causes=(MINE, TAKEN)), "second": second}, ())
    monkeypatch.setattr(table, "packs", lambda: held)


def test_a_code_belongs_to_who_had_it_first() -> None:
    """The core, then the first pack."""
    assert pack_causes() == {"MY001": MINE}


@pytest.mark.parametrize("word", ["KB110", "MY001"])
def test_a_word_of_another_process_is_a_code(word: str) -> None:
    """Of the core or of a pack."""
    assert known_code(word) == word


def test_any_other_word_is_none() -> None:
    """Nobody lists it."""
    with pytest.raises(ValueError, match="MY002"):
        known_code("MY002")
