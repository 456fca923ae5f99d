"""The closed table and its ordered rules."""

from __future__ import annotations

import pytest

from kopt_kb.analysis.profile import METRICS
from kopt_kb.analysis.rules.table import CLASSES, LIMITERS, ROOT_CAUSES, RULES, class_of
from kopt_kb.analysis.rules.thresholds import load_thresholds


def test_every_limiter_has_one_class_and_one_cause() -> None:
    """None stands twice, each has a root cause."""
    assert sum(len(one) for one in CLASSES.values()) == len(LIMITERS)
    assert set(ROOT_CAUSES) == set(LIMITERS)


def test_classes_of_words_that_mislead() -> None:
    """Spills are memory traffic, divergence is arithmetic, atomics are waiting."""
    assert [class_of(one) for one in ("spill", "divergence", "atomics")] == [
        "memory-bound",
        "compute-bound",
        "latency-bound",
    ]
    with pytest.raises(KeyError):
        class_of("wizardry")


def test_every_limiter_has_one_rule() -> None:
    """Each word of the table but the last resort is found by exactly one rule."""
    found = [one for rule in RULES for one in rule.limiters]
    assert sorted(found) == sorted(set(LIMITERS) - {"insufficient-data"})


def test_rules_need_metrics_that_exist() -> None:
    """Names of needs are in the vocabulary; codes are distinct and cited thresholds exist."""
    assert {need for rule in RULES for need in rule.needs} <= set(METRICS)
    assert len({rule.code for rule in RULES}) == len(RULES)
    page = load_thresholds()
    assert all(page.of(code) for rule in RULES for code in rule.reads)
