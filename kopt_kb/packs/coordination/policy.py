"""The policy `autopilot`: the coordination playbook, which tries one optimization of a ranked plan at a time."""

from __future__ import annotations

from dataclasses import replace

from kopt_kb.tuning.policy import Policy, default_policy

__all__ = ["autopilot"]


def autopilot() -> Policy:
    """Return the policy."""
    return replace(
        default_policy(),
        name="autopilot",
        source="the coordination playbook: one optimization of a ranked plan at a time",
        stop_reasons=("target", "hardware_limit", "iterations", "budget", "user", "exhausted", "aborted"),
    )
