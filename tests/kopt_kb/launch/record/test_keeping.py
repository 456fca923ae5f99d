"""What is kept, what is forgotten."""

from __future__ import annotations

from kopt_kb.launch.record.keeping import Keeping


def test_the_oldest_goes_first() -> None:
    """A use makes it the youngest; what is larger than everything is not kept."""
    kept: Keeping[str] = Keeping(10)
    kept.keep("a", "A", 4)
    kept.keep("b", "B", 4)
    assert kept.find("a") == "A"
    kept.keep("c", "C", 4)
    assert [kept.find(one) for one in "abc"] == ["A", None, "C"]
    kept.keep("d", "D", 11)
    assert [kept.find(one) for one in "acd"] == ["A", "C", None]


def test_a_key_counts_once() -> None:
    """Keeping it again replaces it, and what was dropped has room again."""
    kept: Keeping[str] = Keeping(10)
    for word in ("one", "two", "three"):
        kept.keep("a", word, 6)
    kept.keep("b", "B", 4)
    assert (kept.find("a"), kept.find("b")) == ("three", "B")
    kept.drop("a")
    kept.drop("a")
    kept.keep("c", "C", 6)
    assert (kept.find("a"), kept.find("b"), kept.find("c")) == (None, "B", "C")
    kept.clear()
    assert kept.find("b") is None
