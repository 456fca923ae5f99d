"""The counting dictionary; whole runs are in tests/packs/training_step/test_transfer.py."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from kopt_kb.packs.training_step.transfer_steps import Counting


def test_a_read_after_a_question_is_one_with_it() -> None:
    """`if k not in c: c[k] = …; return c[k]` asks once; so do get and a bare read."""
    cache = Counting({})
    assert "k" not in cache
    cache["k"] = 1
    assert cache["k"] == 1
    assert (cache.lookups, cache.hits, cache.first_hit) == (1, 0, False)
    cache.begin()
    assert cache["k"] == 1
    assert cache.get("k") == 1
    assert cache.get("other") is None
    assert (cache.lookups, cache.hits) == (2, 1)
    assert cache.setdefault("new", 2) == 2
    assert cache.lookups == 3
