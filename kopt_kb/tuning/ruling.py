"""What the gates and records of a round come to: its decision, and the level of trust that it rests on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kopt_kb.launch.candidate.answers import LEVELS, Check, Contest, Timing, Trust
from kopt_kb.launch.record.source import CodeSource, least_bound
from kopt_kb.tuning.decision import Decision, GateResult, behind_first, decide, judge_gates, unbound, unmet, untrusted
from kopt_kb.tuning.noise import noise_floor_pct
from kopt_kb.tuning.policy import Policy
from kopt_kb.tuning.session import Session
from kopt_kb.tuning.versions import GainInterval, best_rival, gain_interval, incumbent_name, since_first
from kopt_kb.workspace.levels import level_words
from kopt_kb.workspace.rounds import Round
from kopt_kb.workspace.state import WorkspaceState

__all__ = ["Ruling", "timed_name"]


@dataclass(frozen=True, slots=True)
class Ruling:
    """Decides rounds by a policy from what the journal and the answers of finished runs say."""

    session: Session
    policy: Policy

    def decide(self, state: WorkspaceState, current: Round, gates: Sequence[GateResult] = ()) -> Decision:
        """Return the decision on a round; `gates` stand in for those it has been through."""
        gates = gates or [GateResult(gate.gate, gate.result, gate.reason) for gate in current.gates.values()]
        others = [gate for gate in gates if gate.gate != "launcher"]  # it is run for what the others would accept
        found = self._by_others(state, current, [*others, GateResult("launcher", "pass")])
        return (judge_gates(self.policy, gates) or found) if found.accepted else found

    def _by_others(self, state: WorkspaceState, current: Round, gates: Sequence[GateResult]) -> Decision:
        noise = _noise_pct(state, current)
        new = current.times(current.name)
        trust = None if state.simulated else self.trust_of(current)
        lacking = judge_gates(self.policy, gates) or untrusted(self.policy, trust)
        lacking = lacking or _uncompared(self.policy, state) or unbound(self.policy, trust, self.source_of(current))
        if lacking is not None:
            return lacking
        if state.baseline is None:
            return self._first(state, current)
        shapes = list(state.problem.shape_names)
        old = current.times(incumbent_name(state, current)) or {shape: [] for shape in shapes}
        rival = best_rival(state, current)
        best = current.times(rival.name) if rival is not None else {}
        known = best if best.keys() >= set(shapes) else None
        found = decide(self.policy, old, new, gates, noise_pct=noise, best=known, contest=self._contest(current))
        return behind_first(self.policy, found, since_first(state, current))

    def trust_of(self, current: Round) -> Trust:
        """Return the lowest level of what a round measured; of one that measured nothing, what its checks rest on."""
        levels = [record.trust for record in current.measured.values()]
        if not levels:
            answers = [self.session.recall(run).result for run in current.runs.values() if run.finished is not None]
            levels = [one.basis.trust for one in answers if isinstance(one, Check) and one.basis is not None]
        return min(levels, key=LEVELS.index, default=self.session.executor.trust)

    def source_of(self, current: Round) -> CodeSource:
        """Return whether the code objects of a round's candidate come from its source, as its last answers say.

        Probes of what the machine reaches and profiles that somebody asks for may run within a round too.
        """
        finished = [run for run in current.runs.values() if run.finished is not None]
        runs = [run for run in finished if run.started.candidate.partition(".")[0] == current.name]
        answers = [self.session.recall(run).result for run in runs if run.started.gate in {"check", "timing"}]
        basis = [one.basis for one in answers if isinstance(one, Check | Timing) and one.basis is not None]
        return least_bound(one.source_of("candidate") for one in basis)

    def gain(self, state: WorkspaceState, current: Round) -> GainInterval | None:
        """Return what a round's candidate gained and between which bounds: the contest's, else those of the repeats."""
        contest = self._contest(current)
        if contest is None:
            return gain_interval(current, _noise_pct(state, current))
        if contest.gain_pct is None or contest.least_pct is None or contest.most_pct is None:
            return None
        return GainInterval(contest.gain_pct, contest.least_pct, contest.most_pct)

    def _contest(self, current: Round) -> Contest | None:
        """Return the verdict of the round's last timing, if it made a contest."""
        names = {timed_name(current), f"{timed_name(current)}.again"}
        runs = [run for run in current.runs.values() if run.started.gate == "timing" and run.started.candidate in names]
        answers = [self.session.recall(run).result for run in runs if run.finished is not None]
        timed = [one.contest for one in answers if isinstance(one, Timing) and not one.problem]
        return timed[-1] if timed else None

    def _first(self, state: WorkspaceState, current: Round) -> Decision:
        """Return the decision on a kernel whose gates passed and that nothing was accepted before."""
        if state.route == "kernel":
            return Decision("accept", "baseline", "the kernel as it was given")
        shapes = list(state.problem.shape_names)
        run = current.gates["correctness"].runs[0]
        check = self.session.recall(current.runs[run]).result
        if not isinstance(check, Check):
            return Decision("unverified", "Stage 1: no check is recorded", f"{run} holds no check")
        lacking = unmet(shapes, self.policy.repeats, check.rel_l2_err_by_shape or {}, current.times(current.name))
        if lacking:
            return Decision("unverified", f"Stage 1: {lacking[0]}", "; ".join(lacking))
        return Decision("accept", "baseline", "the first correct kernel")


def _noise_pct(state: WorkspaceState, current: Round) -> float:
    """Return the noise floor of the machine that timed a round, in percent."""
    timed = next((record.environment for record in current.measured.values()), state.environment_seq)
    steps = (record.spread.get("step_pct") for record in current.measured.values())
    return noise_floor_pct(state.noise_of(timed), steps)


def _uncompared(policy: Policy, state: WorkspaceState) -> Decision | None:
    """Return the decision on a project whose results nobody compares; None where they are, or the user accepts that."""
    project = state.task.project
    if project is None or project.compares or policy.accepts_reported:
        return None
    reason = f"{level_words(state, ())}: --accept-reported, or kb trust, lets them decide"
    return Decision("unverified", "trust", reason)


def timed_name(current: Round) -> str:
    """Return the name under which a round's candidate runs: on few shapes what it answers is another thing."""
    return f"{current.name}.quick" if current.level == "quick" else current.name
