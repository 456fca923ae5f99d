"""The closed table."""

from __future__ import annotations

import pytest

from kopt_kb.analysis.rules.table import CLASSES, LIMITERS, ROOT_CAUSES, class_of


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
