"""The policies that ship, as data; docs/tuning.md says how the contradictions of their originals were resolved."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from kopt_kb.errors import BadInput
from kopt_kb.tuning.policy import ALWAYS, Gate, Policy
from kopt_kb.wire import read

__all__ = ["POLICIES", "policy_from_json", "policy_named"]

_REQUIRED: tuple[Gate, ...] = ("lint", "build", "correctness", "timing", "roofline")

_GPU_WIKI = Policy(
    name="gpu-wiki",
    source="the gpu-wiki optimization router",
    small_gain_pct=1.0,
    small_gain_repeats=2,
    least_mean_gain_pct=0.0,
    least_gain_over_deviation=2.0,
    suspicious_gain_pct=30.0,
    suspicious_repeats=6,
    regression_limit_pct=5.0,
    note_loss_pct=0.0,
    chain_loss_pct=0.0,
    core_shapes=None,
    repeats=3,
    required_gates=_REQUIRED,
    stop_reasons=(
        "target", "hardware_limit", "iterations", "budget", "user", "plateau", "exhausted", "escalated", "aborted"
    ),
    stop_scope="aggregate",
    max_rounds=None,
    plateau_rounds=6,
    plateau_gain_pct=1.0,
    stagnation_rollbacks=2,
    escalation_rollbacks=15,
    hardware_limit_pct=95.0,
)  # fmt: skip

_PRIMUS = Policy(
    name="primus",
    source="the Primus-Turbo kernel-optimize campaign",
    small_gain_pct=2.0,
    small_gain_repeats=3,
    least_mean_gain_pct=1.0,
    least_gain_over_deviation=2.0,
    suspicious_gain_pct=None,
    suspicious_repeats=1,
    regression_limit_pct=5.0,
    note_loss_pct=0.0,
    chain_loss_pct=1.0,
    core_shapes=None,
    repeats=3,
    required_gates=_REQUIRED,
    stop_reasons=("target", "hardware_limit", "iterations", "budget", "user", "exhausted", "aborted"),
    stop_scope="aggregate",
    max_rounds=119,
    plateau_rounds=6,
    plateau_gain_pct=1.0,
    stagnation_rollbacks=2,
    escalation_rollbacks=4,
    hardware_limit_pct=95.0,
)

POLICIES = {one.name: one for one in (_GPU_WIKI, _PRIMUS)}
"""Name → policy."""


def policy_named(
    name: str,
    *,
    core_shapes: tuple[str, ...] | None = None,
    max_rounds: int | None = None,
    stop_scope: str = "",
    without_stops: Collection[str] = (),
) -> Policy:
    """Return a shipped policy with the campaign's own core shapes, limit of rounds, scope and stop reasons.

    Raises:
        BadInput: No policy has this name, or a value can't be meant.
    """
    if name not in POLICIES:
        raise BadInput(f"no policy {name!r}", where="policy", fix=f"one of {', '.join(POLICIES)}", code="KB400")
    found = POLICIES[name]
    if core_shapes is not None:
        found = replace(found, core_shapes=core_shapes)
    if max_rounds is not None:
        limit = found.max_rounds
        if limit is not None and max_rounds > limit:
            raise BadInput(f"{max_rounds} rounds", where=f"policy {name}", fix=f"at most {limit}", code="KB408")
        found = replace(found, max_rounds=max_rounds)
    if stop_scope == "every_shape":
        found = replace(found, stop_scope="every_shape")
    strange = set(without_stops) - set(found.stop_reasons)
    if strange:
        known = f"one of {', '.join(one for one in found.stop_reasons if one not in ALWAYS)}"
        raise BadInput(f"no stop reason {', '.join(sorted(strange))}", where=f"policy {name}", fix=known, code="KB408")
    fixed = set(without_stops) & ALWAYS
    if fixed:
        known = f"one of {', '.join(one for one in found.stop_reasons if one not in ALWAYS)}"
        what = f"no campaign goes on past {', '.join(sorted(fixed))}"
        raise BadInput(what, where=f"policy {name}", fix=known, code="KB408")
    if without_stops:
        found = replace(found, stop_reasons=tuple(one for one in found.stop_reasons if one not in without_stops))
    return found


def policy_from_json(data: Mapping[str, Any]) -> Policy:
    """Return the policy that `Policy.to_json` wrote, as a campaign's journal keeps it.

    Raises:
        BadInput: A field is missing, surplus, or can't be meant.
    """
    return read(Policy, data, where="policy")
