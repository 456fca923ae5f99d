"""Results of a suite: a file each, whole, by product; folded by what is current."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.packs.problem_sets.suite_rows import SuiteRow
from kopt_kb.packs.problem_sets.suite_store import SuiteStore, job_key


def _row(reason: str) -> SuiteRow:
    return SuiteRow("sums", "problem.toml", "a/problem.toml", "refused", reason)


def test_keys_tell_parts_apart() -> None:
    """Where one part ends matters."""
    assert job_key("ab", b"c") != job_key("a", b"bc")
    assert job_key("ab", "c") == job_key(b"ab", b"c")


def test_the_current_result_wins_over_a_newer_one(tmp_path: Path) -> None:
    """Else the newest; rows of other products are not there."""
    store = SuiteStore(tmp_path / "results")
    assert store.fold("T10", ()) == ()
    for key, platform in (("k1", "T10"), ("k2", "T10"), ("k3", "T20")):
        store.write(platform, key, [_row(key)])
    assert [row.reason for row in store.fold("T10", ["k1"])] == ["k1"]
    assert [row.reason for row in store.fold("T10", [])] == ["k2"]
    assert [row.reason for row in store.fold("T20", [])] == ["k3"]


def test_a_file_that_is_no_result_is_named(tmp_path: Path) -> None:
    """With what to do."""
    (tmp_path / "x.json").write_text("{}")
    with pytest.raises(BadInput, match="is no result of a suite") as caught:
        SuiteStore(tmp_path).fold("T10", ())
    assert caught.value.where == str(tmp_path / "x.json")


def test_a_claim_ends_with_its_holder(tmp_path: Path) -> None:
    """Two at once are one; afterwards the other has it."""
    store = SuiteStore(tmp_path / "results")
    with store.claim("k") as first, store.claim("k", 0.01) as second:
        assert (first, second) == (True, False)
    with store.claim("k") as again:
        assert again
