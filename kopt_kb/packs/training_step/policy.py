"""The policy `primus`: the Primus-Turbo kernel-optimize campaign, whose gains have to reach a training step."""

from __future__ import annotations

from dataclasses import replace

from kopt_kb.tuning.policy import Policy, default_policy

__all__ = ["primus"]


def primus() -> Policy:
    """Return the policy."""
    usual = default_policy()
    return replace(
        usual,
        name="primus",
        source="the Primus-Turbo kernel-optimize campaign",
        small_gain_pct=2.0,
        small_gain_repeats=3,
        least_mean_gain_pct=1.0,
        suspicious_gain_pct=None,
        suspicious_repeats=1,
        chain_loss_pct=1.0,
        required_gates=(*usual.required_gates, "training_step.transfer"),
        stop_reasons=("target", "hardware_limit", "iterations", "budget", "user", "exhausted", "aborted"),
        max_rounds=119,
        escalation_rollbacks=4,
        named=True,
        needs_skew=True,
    )
