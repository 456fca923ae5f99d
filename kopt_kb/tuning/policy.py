"""What a tuning policy may say, and the default: thresholds, repeats, gates and stop reasons, as data; packs add more.

docs/tuning.md says how the contradictions of their originals were resolved.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Literal, get_args

from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import Wire, read
from kopt_kb.doors import table
from kopt_kb.launch.candidate.answers import Trust
from kopt_kb.tuning.parts import gate_named, needs_pack
from kopt_kb.workspace.journal.campaign_events import CampaignConfirmed, StopReason
from kopt_kb.workspace.journal.compat import present_policy
from kopt_kb.workspace.journal.pack_events import PackWord, pack_of

__all__ = [
    "ALWAYS", "DEFAULT_POLICY", "GATES", "CoreGate", "Gate", "NeedsBound", "Policy", "confirmed_policy",
    "default_policy", "gates_of", "known_policy", "policies", "policy_named", "refuse_absent",
]  # fmt: skip

ALWAYS: frozenset[StopReason] = frozenset({"budget", "user", "exhausted", "aborted"})
"""Reasons that end every campaign: nothing is left to spend, to wait for, to try or to measure."""

CoreGate = Literal["lint", "limits", "build", "correctness", "timing", "roofline", "launcher", "evidence"]
Gate = CoreGate | PackWord
GATES: tuple[CoreGate, ...] = get_args(CoreGate)
"""All gates of the core in the order in which they are judged."""


NeedsBound = Literal["no", "where_possible", "yes"]
"""Whether replayed code has to come from its source: never, where its language can be made again, always."""


@dataclass(frozen=True, slots=True)
class Policy(Wire):
    """Thresholds and switches of one way to run a campaign.

    A change is 100 × (incumbent time / candidate time − 1) percent: positive is faster.

    Attributes:
        name: How users choose it.
        source: The document it follows.
        small_gain_pct: A gain of the score below this must be shown again by repeats.
        small_gain_repeats: Repeats that a small gain needs.
        least_mean_gain_pct: The mean of the repeats' gains must be above this for a small gain to count.
        least_gain_over_deviation: And above this many standard deviations of the repeats' gains.
        suspicious_gain_pct: A gain above this needs `suspicious_repeats`; None: no gain is too good.
        suspicious_repeats: Repeats that a suspicious gain needs; above `repeats` it is timed once more in a fresh run.
        regression_limit_pct: A core shape that loses this much or more rolls the round back; 0: any loss beyond the
            noise that was measured.
        note_loss_pct: A shape that loses more than this is a trade-off, named in a note.
        chain_loss_pct: Most by which an accepted version may fall behind the best accepted one.
        core_shapes: Shapes the regression limit protects; None: all shapes.
        repeats: Repeats that the engine measures.
        required_gates: Gates whose absence leaves a round unverified; those of packs, as `pack.word`, are judged only
            where they are required.
        stop_reasons: Reasons that may end a campaign, besides those that end every one.
        stop_scope: Which Stop Condition ends it: the aggregate, or every shape's.
        max_rounds: Rounds after the baseline; None: no limit.
        plateau_rounds: Decided rounds in a row without `plateau_gain_pct` in all; used by reason plateau.
        plateau_gain_pct: Gain over those rounds that ends a plateau.
        stagnation_rollbacks: Rollbacks in a row after which the next hypothesis is of another category.
        escalation_rollbacks: Rollbacks in a row that hand the campaign to a person; used by reason escalated.
        hardware_limit_pct: Share of what the machine reaches, on every shape and repeat, that is the limit.
        needs_bound: Whether replayed code has to come from the candidate's source.
        accepts_reported: Whether a project's own times decide where its results are not compared: the user's word.
        review_rollbacks: Rollbacks in a row that a review is recorded after.
        close_ledger: Whether the campaign may end while an opportunity of its best version is open.
        least_trust: Least level of trust that a decision may rest on.
        skewed_shapes: Shapes of a grouped product on which experts are uneven; a gain has to be there on each.
        needs_skew: Whether a project of a grouped product has to name such shapes.
        named: Whether a campaign gets a name, a manifest and a file of tips; with a branch it does anyway.
        first_loss_pct: Most by which a core shape may fall behind the baseline over all rounds; None: no limit.
        full_gain_pct: The category of an accepted gain below this comes last in the next round.
        last_gain_pct: An accepted gain below this ends the campaign, as a plateau.
        round_s: Seconds that the runs of a round may take together; 0: no limit.
        escalates: Root causes of the best version's profile that hand the campaign to a person.
        branch: Name of a campaign and of its branch, with `{kernel}` and `{date}`; empty: the name that projects get.
        pack: Pack that brought it; empty: the core.
    """

    name: str
    source: str
    small_gain_pct: float
    small_gain_repeats: int
    least_mean_gain_pct: float
    least_gain_over_deviation: float
    suspicious_gain_pct: float | None
    suspicious_repeats: int
    regression_limit_pct: float
    note_loss_pct: float
    chain_loss_pct: float
    core_shapes: tuple[str, ...] | None
    repeats: int
    required_gates: tuple[Gate, ...]
    stop_reasons: tuple[StopReason, ...]
    stop_scope: Literal["aggregate", "every_shape"]
    max_rounds: int | None
    plateau_rounds: int
    plateau_gain_pct: float
    stagnation_rollbacks: int
    escalation_rollbacks: int
    hardware_limit_pct: float
    least_trust: Trust = "unstated"
    needs_bound: NeedsBound = "no"
    accepts_reported: bool = False
    review_rollbacks: int = 2
    close_ledger: bool = False
    skewed_shapes: tuple[str, ...] = ()
    needs_skew: bool = False
    named: bool = False
    first_loss_pct: float | None = None
    full_gain_pct: float = 0.0
    last_gain_pct: float = 0.0
    round_s: float = 0.0
    escalates: tuple[str, ...] = ()
    branch: str = ""
    pack: str = ""

    def __post_init__(self) -> None:
        """Refuse values that can't be meant; raises `BadInput`."""
        where = f"policy {self.name}"
        if self.repeats < max(1, self.small_gain_repeats) or 2 * self.repeats < self.suspicious_repeats:
            raise BadInput("repeats is below what its own rules need", where=where, fix="raise repeats", code="KB408")
        if any(gate not in GATES and not pack_of(gate) for gate in self.required_gates):
            raise BadInput(
                "a required gate does not exist", where=where, fix=f"one of {', '.join(GATES)}", code="KB408"
            )
        if self.max_rounds is not None and self.max_rounds < 1:
            raise BadInput(f"max_rounds is {self.max_rounds}", where=where, fix="at least 1, or none", code="KB408")

    def is_core(self, shape: str) -> bool:
        """Return whether the regression limit protects this shape."""
        return self.core_shapes is None or shape in self.core_shapes


_REQUIRED: tuple[Gate, ...] = ("lint", "build", "correctness", "timing", "roofline", "launcher")

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
    stop_scope="every_shape",
    max_rounds=None,
    plateau_rounds=6,
    plateau_gain_pct=1.0,
    stagnation_rollbacks=2,
    escalation_rollbacks=15,
    hardware_limit_pct=97.0,
    least_trust="replayed",
    needs_bound="where_possible",
)  # fmt: skip

DEFAULT_POLICY = _GPU_WIKI.name
"""Policy when no other is named."""


def default_policy() -> Policy:
    """Return the policy when no other is named, of which others may be variants."""
    return _GPU_WIKI


def policies() -> dict[str, Policy]:
    """Return name → policy: the core's, then those of packs."""
    from kopt_kb.doors.loop_words import loop_parts  # the default policy needs no pack

    known = {_GPU_WIKI.name: _GPU_WIKI}
    for pack, part in loop_parts():
        for name, make in part.policies.items():
            if name in known:
                continue
            try:
                known[name] = replace(make(), name=name, pack=pack)
            except Exception:  # noqa: BLE001, S112 - a stranger's policy that can't be made is none; the others are there
                continue
    return known


def known_policy(name: str) -> Policy | None:
    """Return a policy as it ships; None for a name that neither the core nor a usable pack has."""
    return _GPU_WIKI if name == _GPU_WIKI.name else policies().get(name)


def gates_of(policy: Policy) -> tuple[Gate, ...]:
    """Return the gates that a policy's rounds are judged by, in their fixed order.

    A launcher is run where the policy demands it. A gate of a pack stands behind the gate of the core that it names,
    several in the order of the policy.

    Raises:
        MissingTool: A pack that brings one can't be used.
    """
    gates = tuple(gate for gate in GATES if gate != "launcher" or gate in policy.required_gates)
    own = [(name, gate_named(name)) for name in policy.required_gates if pack_of(name)]
    if not own:
        return gates
    return tuple(name for core in gates for name in (core, *(name for name, gate in own if gate.after == core)))


def refuse_absent(policy: Policy) -> None:
    """Raise `MissingTool` where a pack that the policy names can't be used."""
    words = (*policy.required_gates, *policy.stop_reasons)
    named = [pack for pack in (policy.pack, *map(pack_of, words)) if pack]
    if not named:
        return

    for pack in named:
        if pack not in table.packs().usable:
            raise needs_pack(pack, f"policy {policy.name}")


def policy_named(
    name: str,
    *,
    core_shapes: tuple[str, ...] | None = None,
    max_rounds: int | None = None,
    stop_scope: Literal["", "aggregate", "every_shape"] = "",
    without_stops: Collection[str] = (),
    close_ledger: bool = False,
) -> Policy:
    """Return a policy with the campaign's own core shapes, limit of rounds, scope and stop reasons.

    Raises:
        BadInput: No policy has this name, or a value can't be meant.
    """
    policy = known_policy(name)
    if policy is None:
        raise BadInput(f"no policy {name!r}", where="policy", fix=f"one of {', '.join(policies())}", code="KB400")
    if core_shapes is not None:
        policy = replace(policy, core_shapes=core_shapes)
    if max_rounds is not None:
        limit = policy.max_rounds
        if limit is not None and max_rounds > limit:
            raise BadInput(f"{max_rounds} rounds", where=f"policy {name}", fix=f"at most {limit}", code="KB408")
        policy = replace(policy, max_rounds=max_rounds)
    if stop_scope:
        policy = replace(policy, stop_scope=stop_scope)
    if close_ledger:
        policy = replace(policy, close_ledger=True)
    strange = set(without_stops) - set(policy.stop_reasons)
    if strange:
        known = f"one of {', '.join(reason for reason in policy.stop_reasons if reason not in ALWAYS)}"
        raise BadInput(f"no stop reason {', '.join(sorted(strange))}", where=f"policy {name}", fix=known, code="KB408")
    fixed = set(without_stops) & ALWAYS
    if fixed:
        known = f"one of {', '.join(reason for reason in policy.stop_reasons if reason not in ALWAYS)}"
        what = f"no campaign goes on past {', '.join(sorted(fixed))}"
        raise BadInput(what, where=f"policy {name}", fix=known, code="KB408")
    if without_stops:
        policy = replace(
            policy, stop_reasons=tuple(reason for reason in policy.stop_reasons if reason not in without_stops)
        )
    return policy


def confirmed_policy(campaign: CampaignConfirmed | None) -> Policy:
    """Return the policy a campaign was confirmed with, whether its pack is there or not; before that the default.

    Raises:
        BadInput: A field of the recorded policy is missing, surplus, or can't be meant.
    """
    if campaign is None:
        return _GPU_WIKI
    # A project's own times decided by themselves before anybody was asked.
    return read(Policy, {"accepts_reported": True, **present_policy(campaign.policy)}, where="policy")
