"""The policy `cutile`: the cuTile performance loop, one recipe an iteration."""

from __future__ import annotations

from dataclasses import replace

from kopt_kb.tuning.policy import Policy, default_policy

__all__ = ["cutile"]


def cutile() -> Policy:
    """Return the policy."""
    return replace(
        default_policy(),
        name="cutile",
        source="the cuTile performance loop: one recipe an iteration",
        small_gain_pct=2.0,
        small_gain_repeats=3,
        regression_limit_pct=0.0,
        max_rounds=25,
        plateau_rounds=2,
        plateau_gain_pct=2.0,
        first_loss_pct=2.0,
        full_gain_pct=5.0,
        last_gain_pct=2.0,
        round_s=600.0,
        escalates=("scheduling", "unknown"),
        branch="cutile-perf-{kernel}-{date}",
    )
