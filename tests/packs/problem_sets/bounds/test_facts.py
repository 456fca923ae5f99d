"""Facts as documents."""

from __future__ import annotations

from kopt_kb.base.wire import canonical, parse, read
from kopt_kb.packs.problem_sets.bounds.facts import FoundFacts
from tests.packs.problem_sets.bounds.test_bound import FACTS, PRODUCT


def test_facts_come_back_as_they_were_written():
    for one in (FoundFacts("p.py", FACTS), FoundFacts("p.py", None, "KB084", "fails")):
        assert read(FoundFacts, parse(canonical(one.to_json()), where="x"), where="x") == one
    assert PRODUCT.to_json()["shape"] == [1, 8192, 8192, 8192]
