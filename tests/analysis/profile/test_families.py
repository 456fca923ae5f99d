"""Families are closed sets without repetition."""

from __future__ import annotations

from kopt_kb.analysis.profile import families
from kopt_kb.analysis.profile.vocabulary import METRICS


def test_families_have_no_repetition():
    """Each name stands once."""
    for family in (families.ENGINES, families.FLOP_DTYPES, families.LIMITERS):
        assert len(set(family)) == len(family)


def test_every_member_has_its_metric():
    """Limiters, stalls, pipes and FLOP kinds are all in the vocabulary."""
    ids = [f"occupancy_limit.{one}" for one in families.LIMITERS]
    ids += [f"stall.{one}" for one in families.STALL_REASONS] + [f"pipe.{one}_pct" for one in families.PIPES]
    ids += [f"flops.{engine}.{dtype}" for engine in families.ENGINES for dtype in families.FLOP_DTYPES]
    assert [one for one in ids if one not in METRICS] == []
