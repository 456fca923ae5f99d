"""Recipes A to L: why each does not apply, and the order of the limiter."""

from __future__ import annotations

from kopt_kb.packs.cutile.source.answer import Situation
from kopt_kb.packs.cutile.source.recipes import ORDERS, RECIPES
from tests.packs.cutile.source.words import NAIVE, words


def test_why_a_recipe_does_not_apply() -> None:
    """Each says it; nothing is guessed where the type, the limiter or the target is not known."""
    found = words(NAIVE)
    assert "give --dtype" in found["D"].why and "no round tries it" in found["J"].why
    assert "it computes" in found["K"].why and found["L"].how == "hypothesis"
    assert "bf16" in words(NAIVE, Situation(dtype="bf16"))["D"].why
    assert words(NAIVE, Situation(target="sm_80"))["F"].why == "sm_80 has no TMA"
    assert "full division" in words(NAIVE, Situation(dtype="fp8_e4m3"))["H"].why
    copy = "import cuda.tile as ct\n@ct.kernel\ndef copy(x, y):\n    ct.store(y, (ct.bid(0),), ct.load(x, (ct.bid(0),), (64,)))\n"
    assert "give --profile" in words(copy)["K"].why
    assert words(copy, Situation(limiter="launch-overhead"))["K"].how == "hypothesis"
    assert next(iter(words(copy, Situation(limiter="launch-overhead")))) == "K"


def test_the_order_follows_the_limiter_and_values_follow_each_other() -> None:
    """By the catalogue of knobs; a product without a profile counts as compute-bound; latency has one try a value."""
    assert list(words(NAIVE)) == list(ORDERS["compute-bound"])
    assert list(words(NAIVE, Situation(limiter="dram"))) == list(ORDERS["memory-bound"])
    assert all(sorted(order) == sorted(RECIPES) == list("ABCDEFGHIJKL") for order in ORDERS.values())
    tried: list[str] = []
    while (found := words(NAIVE, Situation(tried=tuple(tried)))["E"]).source:
        tried.append(f"recipe E: {found.change}")
    assert [one.split()[3] for one in tried] == ["3", "1", "2", "6", "10"]
