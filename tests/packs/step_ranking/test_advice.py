from __future__ import annotations

import pytest

from kopt_kb.packs.step_ranking.advice import change_for


@pytest.mark.parametrize(
    ("category", "roof", "share", "each_s", "change"),
    [
        ("products", "bf16 matrix", 0.3, 1e-3, "library"),
        ("products", "dram", 0.3, 1e-3, "library"),
        ("attention", "bf16 matrix", 0.3, 1e-3, "kernel"),
        ("elementwise", "dram", 0.9, 1e-3, "fusion"),
        ("products", "bf16 matrix", 0.9, 1e-3, "unknown"),
        ("copies", "dram", 0.3, 1e-3, "layout"),
        ("norms", "dram", 0.01, 2e-6, "graph"),
    ],
)
def test_the_class_of_change_follows_category_roof_and_length(category, roof, share, each_s, change) -> None:
    found, why = change_for(category, roof, share, each_s)
    assert found == change
    assert why
