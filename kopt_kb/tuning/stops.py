"""When a campaign ends: the reason and the events it rests on, decided from the state alone."""

from __future__ import annotations

from collections.abc import Mapping

from kopt_kb.analysis.rules.table import ROOT_CAUSES
from kopt_kb.tuning.parts import stop_rule_named
from kopt_kb.tuning.policy import Policy
from kopt_kb.tuning.versions import gain_pct
from kopt_kb.workspace.journal.campaign_events import StopReason
from kopt_kb.workspace.journal.pack_events import pack_of
from kopt_kb.workspace.journal.round_events import Measured
from kopt_kb.workspace.journal.setup_events import EnvironmentRecorded, ProfileRead
from kopt_kb.workspace.rounds import Round, standing
from kopt_kb.workspace.state import WorkspaceState
from kopt_kb.workspace.targets.conditions import AboveCeilingError, Evaluation, StopConditions

__all__ = [
    "Stop",
    "evaluation",
    "not_evaluable",
    "representative",
    "rollbacks_in_a_row",
    "root_cause",
    "stagnant_categories",
    "stop_reason",
]

Stop = tuple[StopReason, tuple[int, ...]]


def representative(round_: Round) -> Mapping[str, Measured]:
    """Return shape → the round's record of its own candidate whose time is the (lower) median of the repeats."""
    return standing(record for record in round_.measured.values() if record.candidate == round_.name)


def evaluation(state: WorkspaceState) -> Evaluation | None:
    """Return the Stop Conditions on the last accepted version.

    None when simulated, unmeasured, above a roof, or timed on a device that is not the workspace's product.
    """
    if state.best is None or not_evaluable(state):
        return None
    return StopConditions.of(state).evaluate(representative(state.best))


def not_evaluable(state: WorkspaceState) -> str:
    """Return why the Stop Conditions can't be judged, one clause; empty when they can."""
    if state.simulated:
        return "the times are simulated"
    if state.best is None:
        return "no version is accepted and measured yet"
    other = _other_machine(state, state.best)
    if other is not None:
        known, wanted = other.product or "a name no page of the wiki has", state.created.platform
        return f"measured on {other.device} ({known}); the conditions are for {wanted}"
    try:
        StopConditions.of(state).evaluate(representative(state.best))
    except AboveCeilingError as error:
        return f"{error.where}: {error.what}"
    return ""


def _other_machine(state: WorkspaceState, best: Round) -> EnvironmentRecorded | None:
    """Return a machine that timed the version and is not the workspace's product, as far as names say.

    The machine in force may be another one by now: it says nothing about what was measured before.
    """
    seqs = {record.environment for record in best.measured.values() if record.candidate == best.name}
    machines = [state.environments[seq] for seq in sorted(seqs) if seq in state.environments]
    wanted = state.created.platform
    return next((machine for machine in machines if machine.is_other_than(wanted)), None)


def stop_reason(state: WorkspaceState, policy: Policy) -> Stop | None:
    """Return why the campaign ends now, or None; only between rounds, and never straight after the baseline."""
    baseline = state.baseline
    if baseline is None:
        return _no_baseline(state, policy)
    rounds = [round_ for round_ in state.rounds if round_.number > baseline.number and round_.decided is not None]
    rounds = [round_ for round_ in rounds if round_.seq > state.campaign_seq]
    if not rounds:
        return None
    checks = (_target, _hardware_limit, _iterations, _plateau, _escalated)
    stops = (check(state, policy, rounds) for check in checks)
    found = next((stop for stop in stops if stop is not None and stop[0] in policy.stop_reasons), None)
    return found or _of_packs(state, policy)


def _of_packs(state: WorkspaceState, policy: Policy) -> Stop | None:
    """Return the first of the policy's stop reasons of packs that is due."""
    for reason in policy.stop_reasons:
        if pack_of(reason) and (evidence := stop_rule_named(reason).due(state, policy)):
            return reason, evidence
    return None


def _no_baseline(state: WorkspaceState, policy: Policy) -> Stop | None:
    """An existing kernel that fails its gates aborts at once, a kernel to implement after the policy's escalation."""
    failed = [round_.decided_seq for round_ in state.rounds if round_.decided is not None and not round_.accepted]
    if state.route == "kernel":
        return ("aborted", (failed[0],)) if failed else None
    failed = [seq for seq in failed if seq > state.campaign_seq]
    many = "aborted" in policy.stop_reasons and len(failed) >= policy.escalation_rollbacks
    return ("aborted", tuple(failed)) if many else None


def _target(state: WorkspaceState, policy: Policy, _: list[Round]) -> Stop | None:
    judged = evaluation(state)
    if judged is None or state.best is None:
        return None
    met = judged.all_met if policy.stop_scope == "every_shape" else judged.aggregate_met
    return ("target", (state.targets_seq, state.best.decided_seq)) if met else None


def _hardware_limit(state: WorkspaceState, policy: Policy, _: list[Round]) -> Stop | None:
    """All shapes at the policy's share of what their machine reaches, in every repeat.

    That is what a probe of the same footprint or shape reached there, else our own measured row of the wiki. A kernel
    of the package that stands in for a library's is no limit by itself: the larger of it and that row is.
    """
    if state.simulated or state.best is None or _other_machine(state, state.best) is not None:
        return None
    measured_per_s = _limits_per_s(state, state.best)
    times = state.best.times(state.best.name)
    for condition in StopConditions.of(state).conditions:
        roof, recorded_s = measured_per_s.get(condition.shape), times.get(condition.shape, [])
        if roof is None or len(recorded_s) < policy.repeats:
            return None
        if condition.amount / max(recorded_s) < roof * policy.hardware_limit_pct / 100:
            return None
    return ("hardware_limit", (state.best.decided_seq,)) if times else None


def _limits_per_s(state: WorkspaceState, best: Round) -> dict[str, float]:
    """Return shape → rate that is the limit of its target's roof on the machine that timed the best version."""
    seqs = {record.environment for record in best.measured.values() if record.candidate == best.name}
    roofs = {one.shape: one.target.name for one in state.rooflines}
    limits = _measured_roofs(state)
    for one in state.reachable_of(max(seqs, default=0)).values():
        if one.rate_si is not None and roofs.get(one.shape) == one.roof:
            least = 0.0 if one.is_unbeaten else limits.get(one.shape, 0.0)
            limits[one.shape] = max(one.rate_si, least)
    return limits


def _measured_roofs(state: WorkspaceState) -> dict[str, float]:
    roofs = {}
    for roofline in state.rooflines:
        named = roofline.ceiling(roofline.target.name)
        measured = named.per_s("measured") if named is not None and named.basis == "measured" else None
        if measured is not None:
            roofs[roofline.shape] = float(measured)
    return roofs


def _iterations(_: WorkspaceState, policy: Policy, rounds: list[Round]) -> Stop | None:
    full = policy.max_rounds is not None and len(rounds) >= policy.max_rounds
    return ("iterations", (rounds[-1].decided_seq,)) if full else None


def _plateau(_: WorkspaceState, policy: Policy, rounds: list[Round]) -> Stop | None:
    """The last rounds together gained too little, or the last one was accepted for a gain that is to be the last."""
    if rounds[-1].accepted and (gain := gain_pct(rounds[-1])) is not None and gain < policy.last_gain_pct:
        return "plateau", (rounds[-1].decided_seq,)
    last = rounds[-policy.plateau_rounds :]
    if len(last) < policy.plateau_rounds:
        return None
    growth = 1.0
    for round_ in last:
        if round_.accepted:
            growth *= 1 + (gain_pct(round_) or 0.0) / 100
    flat = 100 * (growth - 1) < policy.plateau_gain_pct
    return ("plateau", tuple(round_.decided_seq for round_ in last)) if flat else None


def _escalated(state: WorkspaceState, policy: Policy, rounds: list[Round]) -> Stop | None:
    """Too many rollbacks in a row, or a profile of the best version whose root cause the policy hands to a person."""
    profiles = state.profiles_of(state.best) if state.best is not None and policy.escalates else {}
    if profiles and root_cause(profiles[max(profiles)]) in policy.escalates:
        return "escalated", (max(profiles),)
    count = rollbacks_in_a_row(rounds)
    return ("escalated", (rounds[-1].decided_seq,)) if count >= policy.escalation_rollbacks else None


def root_cause(profile: ProfileRead) -> str:
    """Return the root cause of what limits the longest kernel of a profile; nothing where no rule judged it."""
    verdict = profile.evidence[0].get("verdict") if profile.evidence else None
    return ROOT_CAUSES.get(str(verdict.get("limiter")), "") if isinstance(verdict, Mapping) else ""


def rollbacks_in_a_row(rounds: list[Round]) -> int:
    """Return how many of the last decided rounds were not accepted."""
    count = 0
    for round_ in reversed(rounds):
        if round_.decided is None or round_.accepted:
            break
        count += 1
    return count


def stagnant_categories(state: WorkspaceState, policy: Policy) -> frozenset[str]:
    """Return the categories that come last: of rollbacks in a row, once there are as many as the policy bears.

    Or of the last round, where it was accepted for less than the policy's full gain.
    """
    rounds = [round_ for round_ in state.rounds if round_ is not state.baseline and round_.decided is not None]
    count = rollbacks_in_a_row(rounds)
    if rounds and not count and (gain_pct(rounds[-1]) or policy.full_gain_pct) < policy.full_gain_pct:
        count = 1
    elif count < policy.stagnation_rollbacks:
        return frozenset()
    return frozenset(round_.hypothesis.category for round_ in rounds[-count:] if round_.hypothesis is not None)
