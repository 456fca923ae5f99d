"""Bounds from facts: what may stay in a cache, what is known before the clock, which products count."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from kopt_kb.packs.problem_sets.bounds.bound import bound_of, table_of
from kopt_kb.packs.problem_sets.bounds.facts import FoundFacts, InputFact, OutputFact, ProblemFacts, ProductFact
from kopt_kb.wiki.registry import Registry

REGISTRY = Registry.open()
H100 = REGISTRY.platform("H100_SXM")
BANDWIDTH, CACHE = Fraction(3352 * 10**9), 60 * 2**20
READ = InputFact("x", "input", "fp32", (10**9,), 4 * 10**9, 4 * 10**9, "seen")
WEIGHT = InputFact("w", "weight", "fp32", (10**8,), 4 * 10**8, 4 * 10**8, "seen")
WRITTEN = OutputFact("out", "fp32", (10**9,), 4 * 10**9, 4 * 10**9, "seen")
FACTS = ProblemFacts((READ, WEIGHT), (WRITTEN,), (), (), 0)
PRODUCT = ProductFact((1, 8192, 8192, 8192), "fp32", 1)


def _bound(facts=FACTS, platform=H100):
    return bound_of(FoundFacts("p.py", facts), "p", platform)[0]


def test_bytes_less_what_the_last_cache_keeps():
    found = _bound()
    assert found.kind == "bytes"
    assert found.floor_s == float((8 * 10**9 - CACHE) / BANDWIDTH) == found.warm_floor_s
    assert found.judged_floor_s == pytest.approx(found.floor_s + float(4 * 10**8 / BANDWIDTH))


def test_results_that_fit_the_cache_cost_nothing_and_inputs_only_where_it_is_cold():
    small = replace(FACTS, inputs=(replace(READ, needed_bytes=CACHE),), outputs=(replace(WRITTEN, needed_bytes=400),))
    found = _bound(small)
    assert found.floor_s == float(CACHE / BANDWIDTH)
    assert found.warm_floor_s == float(400 / BANDWIDTH)


def test_what_is_written_may_stay_in_every_level_of_cache_and_where_nobody_says_in_any():
    """256 MiB beside 32 MiB on an MI300X; an RTX 5080's L2 is UNKNOWN, so what is written costs nothing there."""
    beside = table_of([FoundFacts("p.py", FACTS)], Path(), REGISTRY.platform("MI300X"), "0")
    assert beside.cache_bytes == (256 + 32) * 2**20
    unknown = table_of([FoundFacts("p.py", FACTS)], Path(), REGISTRY.platform("RTX_5080"), "0")
    assert unknown.cache_bytes is None
    assert unknown.rows[0].floor_s == pytest.approx(4e9 / 960e9)


def test_nothing_that_is_shown_is_no_bound():
    nothing = replace(FACTS, inputs=(replace(READ, needed_bytes=0),), outputs=(replace(WRITTEN, needed_bytes=0),))
    assert (_bound(nothing).kind, _bound(nothing).floor_s) == ("none", 0)


def test_products_count_at_the_fastest_route():
    found = _bound(replace(FACTS, inputs=(), outputs=(), products=(PRODUCT,)))
    least = 2 * 8192**3 * Fraction(49, 64)
    assert found.kind == "products"
    assert float(least) / found.products_s == pytest.approx(1978.9e12 * 1980 / 1830, rel=1e-3)


def test_a_product_that_is_left_out_says_why():
    found = _bound(replace(FACTS, products=(replace(PRODUCT, left_out="sum follows it"),)))
    assert found.products == (0, 1) and found.products_s == 0
    assert "product 1x8192x8192x8192 not counted: sum follows it" in found.basis


def test_every_product_has_a_table_and_names_the_rows_it_rests_on():
    for name in REGISTRY.platforms():
        table = table_of([FoundFacts("p.py", FACTS)], Path(), REGISTRY.platform(name), "0")
        (row,) = table.rows
        assert row.warm_floor_s <= row.floor_s <= row.judged_floor_s
        assert bool(row.floor_s) == any("memory_bandwidth" in one for one in table.citations)


def test_a_problem_without_facts_is_refused_with_its_reason():
    row, cited = bound_of(FoundFacts("p.py", None, "KB084", "it fails"), "p", H100)
    assert (row.kind, row.reason, cited) == ("refused", "it fails", ())
