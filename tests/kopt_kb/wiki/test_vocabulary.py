"""The vocabulary is closed and consistent."""

from __future__ import annotations

import pytest

from kopt_kb.quantity.units import DIMENSIONS, units_of
from kopt_kb.wiki.vocabulary import ALIASES, AXES, METRICS, UnknownMetric, asked, canonical_key, fits, metric


def test_axes_and_dimensions_exist() -> None:
    """Every metric uses known axes and a dimension with units."""
    for one in METRICS.values():
        assert set(one.axes) <= set(AXES)
        assert one.dimension in DIMENSIONS
        assert units_of(one.dimension)
        assert one.meaning


def test_aliases_lead_to_metrics() -> None:
    """And shadow none."""
    assert set(ALIASES.values()) <= set(METRICS)
    assert not set(ALIASES) & set(METRICS)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("lds_per_cu", "shared_memory_per_sm"),
        ("LDS-per-CU", "shared_memory_per_sm"),
        (" memory_bandwidth ", "memory_bandwidth"),
    ],
)
def test_lookup_by_alias_and_spelling(name: str, found: str) -> None:
    """Case and dashes do not matter."""
    assert metric(name).id == found


@pytest.mark.parametrize(
    ("typo", "hint"),
    [("memory_bandwith", "memory_bandwidth"), ("bandwith", "memory_bandwidth"), ("l2_cap", "l2_capacity")],
)
def test_typos_get_suggestions(typo: str, hint: str) -> None:
    """Whole names and last words are compared."""
    with pytest.raises(UnknownMetric, match=hint):
        metric(typo)


def test_keys_keep_the_order_of_axes() -> None:
    """Whatever order they were given in."""
    axes = {"engine": "matrix", "dtype": "bf16", "scope": "gpu", "config": "visible"}
    assert canonical_key(METRICS["peak_compute"], axes) == "peak_compute[dtype=bf16;engine=matrix;config=visible]"


@pytest.mark.parametrize(
    ("axes", "wanted", "computes", "shows"),
    [
        ({"dtype": "fp16"}, {"dtype": "fp16"}, True, True),
        ({"dtype": "fp16", "clock": "boost"}, {"dtype": "fp16"}, True, True),
        ({"dtype": "fp16"}, {"dtype": "fp16", "clock": "boost"}, False, False),
        ({"config": "full"}, {}, False, True),
        ({"scope": "die"}, {"scope": "die"}, True, True),
        ({}, {"scope": "gpu"}, True, True),
        ({"scope": "die"}, {"scope": "gpu"}, False, False),
    ],
)
def test_scope_and_configuration_that_nobody_named(
    axes: dict[str, str], wanted: dict[str, str], computes: bool, shows: bool
) -> None:
    """What computes takes the GPU as shipped; what shows rows takes all; other axes are free for both."""
    assert fits(axes, asked(wanted, unnamed="default")) is computes
    assert fits(axes, asked(wanted, unnamed="any")) is shows


def test_a_condition_without_its_metric_says_where_conditions_stand() -> None:
    """Nobody means a metric by a word with an equals sign."""
    with pytest.raises(UnknownMetric, match=r"conditions follow a metric"):
        metric("dtype=bf16")
