"""The list of rules."""

from __future__ import annotations

from kopt_kb.analysis.profile import METRICS
from kopt_kb.analysis.rules.ordered import RULES
from kopt_kb.analysis.rules.table import LIMITERS
from kopt_kb.analysis.rules.thresholds import load_thresholds


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
