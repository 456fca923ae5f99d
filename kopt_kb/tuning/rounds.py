"""The inside of a round: search, candidate, gates, records, decision; each step appends what is still missing."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal

from kopt_kb.base.wire import plain
from kopt_kb.launch.candidate.answers import ReportEvidence, Timing
from kopt_kb.launch.candidate.job import Job, JobKind, SpaceAsked
from kopt_kb.launch.candidate.source_config import configs_of
from kopt_kb.launch.record.source import NOT_REPLAYED
from kopt_kb.tuning.decision import SUSPICIOUS, Decision, GateResult
from kopt_kb.tuning.executed import executed_floors
from kopt_kb.tuning.gates import GateContext, is_flushed, judge
from kopt_kb.tuning.jobs import JobFiles, Ran, job_of, winner_of
from kopt_kb.tuning.launcher_gate import launcher_event, launcher_word, timed_runs
from kopt_kb.tuning.noise import measure_noise, noise_floor_pct, noise_of
from kopt_kb.tuning.options import BudgetSpentError, CampaignOptions, Settings, SourceGate
from kopt_kb.tuning.parts import gate_named
from kopt_kb.tuning.policy import Gate, Policy, gates_of
from kopt_kb.tuning.reachable import floors_of, measure_reachable
from kopt_kb.tuning.ruling import Ruling, timed_name
from kopt_kb.tuning.seconds import longest_s, spent_s
from kopt_kb.tuning.session import Session, says_nothing
from kopt_kb.tuning.validation_scope import quick_validation
from kopt_kb.tuning.versions import best_rival, incumbent_name
from kopt_kb.workspace.journal.campaign_events import LevelChosen
from kopt_kb.workspace.journal.pack_events import pack_of
from kopt_kb.workspace.journal.round_events import CandidateSubmitted, Decided, GateJudged, Measured
from kopt_kb.workspace.journal.setup_events import ProfileRead
from kopt_kb.workspace.plans import kept_plan
from kopt_kb.workspace.rounds import ISA_SCAN, Round
from kopt_kb.workspace.state import WorkspaceState

__all__ = ["RoundWork"]

_PROFILE_S, _PROFILE_SHARE = 7.0, 0.25
"""Seconds that a first profile is taken to last (under ncu on an H100 6.3 to 10.7, most of them ncu's own start), and
the share of what a call has left above which candidates are timed instead."""


@dataclass(slots=True)
class RoundWork:
    """What is done inside one round."""

    session: Session
    policy: Policy
    settings: Settings
    options: CampaignOptions
    ruling: Ruling = field(init=False)

    def __post_init__(self) -> None:
        self.ruling = Ruling(self.session, self.policy)

    def submit(self, state: WorkspaceState) -> None:
        """Append the open round's candidate; of a search, run first, the best configuration of each shape."""
        current = state.rounds[-1]
        proposal = current.proposal
        if proposal is None:  # only the kernel as it was given was proposed by nobody
            self.session.append(CandidateSubmitted(current.number, current.name, current.incumbent, {}, "baseline"))
            return
        source, proposer = self.session.store.get(proposal.source), proposal.proposer
        params: Mapping[str, object] = {"configs": configs_of(source)} if self.options.project is None else {}
        if proposal.spaces:
            template = f"{current.name}.template"
            if template not in current.submitted:
                blob = self.session.store.put(source)
                self.session.append(
                    CandidateSubmitted(current.number, template, blob, {"spaces": plain(proposal.spaces)}, proposer)
                )
            kept = configs_of(source)  # what a shape has now competes too, so that no search makes it worse
            floors = self._floors(state) if not state.simulated else {}
            asked = {
                shape: SpaceAsked(space.start, space.knobs, kept.get(shape), *floors.get(shape, ()))
                for shape, space in proposal.spaces.items()
            }
            rules, prune_s = self.options.pruning, self.settings.prune_s
            pruning = replace(rules, seconds=prune_s) if rules is not None and prune_s > 0 else None
            job = self._job("search", state, source, b"")
            job = replace(job, body=replace(job.body, spaces=asked, pruning=pruning))
            ran = self.session.run_once(current, template, job)
            source, params = winner_of(source, ran)
        blob = self.session.store.put(source)
        plan = kept_plan(self.session.layout, self.session.store, current.number)
        self.session.append(CandidateSubmitted(current.number, current.name, blob, params, proposer, plan))

    def _floors(self, state: WorkspaceState) -> dict[str, tuple[float, str]]:
        """Return what the machine was seen to reach on each shape, where the policy ends campaigns there."""
        return floors_of(state) if "hardware_limit" in self.policy.stop_reasons else {}

    def validate(self, state: WorkspaceState) -> None:
        """Judge the open round's next gate, or decide when all are judged or one failed.

        A candidate that is the incumbent byte for byte, such as a search that kept what was there, is not timed
        against itself.
        """
        current = state.rounds[-1]
        if current.number and 0 < self.policy.round_s <= spent_s(current):
            self._end(
                current, Decision("rollback", "round time", f"{spent_s(current):.0f} s of {self.policy.round_s:g}")
            )
            return
        is_given = current.number == 0 and state.route == "kernel"
        if not is_given and current.submitted[current.name].blob == current.incumbent:
            self._end(current, Decision("rollback", "unchanged", ""))
            return
        for gate in gates_of(self.policy):
            if gate not in current.gates:
                self._judge(state, current, gate)
                return
            if current.gates[gate].result == "fail":
                break
        decision = self.ruling.decide(state, current)
        rule = f"{decision.rule} (quick)" if current.level == "quick" else decision.rule
        self._end(current, replace(decision, rule=rule), tuple(current.measured))

    def _end(self, current: Round, decision: Decision, records: tuple[str, ...] = ()) -> None:
        """Append the decision; a rollback takes back the versions that the round was to confirm."""
        # What could not be measured refutes nothing.
        confirms = current.proposal.confirms if current.proposal is not None else ()
        refuted = confirms if decision.decision == "rollback" else ()
        own = (decision.decision, self.policy.name, decision.rule, records, refuted, self.ruling.trust_of(current))
        self.session.append(Decided(current.number, *own, launcher_word(current), self.ruling.source_of(current)))
        why = next((f": {gate.reason}" for gate in current.gates.values() if gate.result == "fail" and gate.reason), "")
        self.options.say(f"round {current.number}: {decision.decision} ({decision.rule}){why}")

    def _judge(self, state: WorkspaceState, current: Round, gate: Gate) -> None:
        """Judge one gate; before the build the round's scope is chosen, before the roof a gain may be timed again."""
        if gate == "build" and self.options.project is not None and self._quick_validation(state, current):
            return
        if gate == "roofline" and self._timed_again(state, current):
            return
        if gate in {"launcher", "evidence"} and (why_not := self._needless(gate, state, current)):
            self.session.append(GateJudged(current.name, gate, "unavailable", why_not, ()))
            return
        level = self.ruling.trust_of(current)
        if gate == "launcher" and not state.simulated and level != "replayed":
            self.session.append(GateJudged(current.name, gate, "pass", f"no record is judged: times are {level}", ()))
            return
        context = self._context(state, current)
        result, runs = judge(gate, context)
        if gate == "timing" and result.result == "pass":
            self._record(state, current, context.run("timing"))
        if gate == "launcher" and runs and (seen := launcher_event(current, context.run("launcher"))) is not None:
            self.session.append(seen)
        self.session.append(GateJudged(current.name, gate, result.result, result.reason, runs))
        if gate == "evidence" and not state.simulated:
            got = "profile" if result.result == "pass" else "no profile"
            self.options.say(f"{current.name}: {got}: {result.reason}")

    def _needless(self, gate: Gate, state: WorkspaceState, current: Round) -> str:
        """Return why a launcher is not run, or no profile taken: both are of what would be accepted alone."""
        if state.simulated:
            return ""  # the gate says so itself
        others = [GateResult(one.gate, one.result, one.reason) for one in current.gates.values()]
        decision = self.ruling.decide(state, current, [*others, GateResult(gate, "pass")])
        if not decision.accepted:
            what = "no launcher is run" if gate == "launcher" else "no profile is taken"
            return f"{what} of what is not accepted ({decision.rule})"
        if gate == "launcher":
            return ""
        took_s, left_s = longest_s(state, "evidence"), max(self.session.ends_at - time.monotonic(), 0.0)
        if late := self._no_time_for_a_profile(state):  # what is faster is kept rather than begun again
            return f"{late}: times decide"
        usual_s = took_s or _PROFILE_S
        if usual_s > _PROFILE_SHARE * left_s:
            return f"a profile takes about {usual_s:.1f} s, too much of the {left_s:.1f} s that the call has left"
        return ""

    def _no_time_for_a_profile(self, state: WorkspaceState) -> str:
        """Return that the end of the call would cut a profile off, by what one took before; else nothing."""
        took_s, left_s = longest_s(state, "evidence"), self.session.ends_at - time.monotonic()
        if left_s >= took_s or not took_s:
            return ""
        return f"a profile took {took_s:.1f} s before, the call has {max(left_s, 0.0):.1f} s left"

    def _timed_again(self, state: WorkspaceState, current: Round) -> bool:
        """Time a gain that is too good to be believed again in a fresh run; True when this step did.

        With the records of both runs there are as many repeats as the rule asks for, and it is silent. Without them,
        when the run failed, the round ends unverified.
        """
        if state.baseline is None or current.gates["timing"].result != "pass":
            return False
        name, before = f"{timed_name(current)}.again", self.session.journal.head.seq
        if not current.attempts(name, "timing"):  # once begun, its records may be there in part
            passed = [GateResult(gate, "pass") for gate in self.policy.required_gates]  # the rest is judged right after
            if self.ruling.decide(state, current, passed).rule != SUSPICIOUS:
                return False
            self.options.say(f"round {current.number}: a gain too good to be believed is timed again")
        ran = self.session.run_once(current, name, self._run_job("timing", state, current))
        if isinstance(ran.result, Timing) and not ran.result.problem:
            self._record(state, current, ran)
        return self.session.journal.head.seq != before

    def _run_job(self, kind: JobKind, state: WorkspaceState, current: Round) -> Job:
        """Return the job of a round's gate; before there is a baseline a candidate is timed against itself."""
        source = self.session.store.get(current.submitted[current.name].blob)
        incumbent = self.session.store.get(current.incumbent) if state.baseline is not None else source
        job = self._job(kind, state, source, incumbent, "quick" if current.level == "quick" else "full")
        job = replace(job, body=replace(job.body, foresees_launcher="launcher" in gates_of(self.policy)))
        if kind == "timing" and state.baseline is not None:
            noise = noise_floor_pct(state.noise_of(state.environment_seq), ())
            job = replace(job, body=replace(job.body, threshold_pct=max(self.policy.least_mean_gain_pct, noise)))
        if kind == "launcher":
            return replace(job, body=replace(job.body, expected=timed_runs(current)))
        rival = best_rival(state, current) if kind == "timing" and current.level != "quick" else None
        if rival is None or rival.snapshot is None:
            return job
        return replace(job, best=self.session.store.get(rival.snapshot.blob))

    def _quick_validation(self, state: WorkspaceState, current: Round) -> bool:
        """Validate a round of a project on its representative shapes, once; True when that is what this step did."""
        project = self.options.project
        if project is None or not current.number or current.level or not project.has_quick(state):
            return False

        blobs = (current.submitted[current.name].blob, current.incumbent)
        source, incumbent = (self.session.store.get(blob) for blob in blobs)

        def run(kind: JobKind) -> Ran:
            job = self._job(kind, state, source, incumbent, "quick")
            return self.session.run_once(current, f"{current.name}.quick", job)

        chosen = quick_validation(self.policy, state, current, run)
        self.session.append(LevelChosen(current.number, chosen.scope, chosen.reason))
        self.options.say(f"round {current.number}: {chosen.scope} validation: {chosen.reason}")
        return True

    def _context(self, state: WorkspaceState, current: Round) -> GateContext:
        source = self.session.store.get(current.submitted[current.name].blob)
        ran: dict[str, Ran] = {}

        def run(kind: JobKind) -> Ran:
            if kind not in ran:
                ran[kind] = self.session.run_once(current, timed_name(current), self._run_job(kind, state, current))
            return ran[kind]

        def evidence(result: ReportEvidence) -> GateResult:
            kernel = current.submitted[current.name].blob
            return self._read(state, result, kernel, current.name, is_new=not current.profiles)

        options, times = self.options, partial(current.times, current.name)
        lint, flush = self._lint(state, current), self.settings.flush_bytes
        cold = options.project is None and is_flushed(state, flush)
        judge = partial(self._resources, current, options.resources) if options.resources is not None else None

        def files() -> tuple[Mapping[str, str], Mapping[str, str]]:
            incumbent = self.session.store.get(current.incumbent)
            return state.files_of(incumbent), state.files_of(source)

        executed = partial(executed_floors, state, options, source)
        return GateContext(
            source, state, state.simulated, run, times, evidence, judge, state.task.framework, cold, lint, current,
            files, executed,
        )  # fmt: skip

    def _lint(self, state: WorkspaceState, current: Round) -> Callable[[bytes], GateResult] | None:
        """Return what judges a source that is no single kernel file; caches it leaves to a gate that judges them."""
        project = self.options.project
        if project is None:
            return None
        own = [gate_named(name) for name in self.policy.required_gates if pack_of(name)]
        is_left = current.number > 0 and any(gate.judges_caches for gate in own)
        return partial(project.lint, self.session.store.get(state.rounds[0].incumbent), caches=not is_left)

    def _resources(self, current: Round, judged_by: SourceGate, source: bytes) -> GateResult:
        """Judge what a candidate's compiled code needs, and scan what passes."""
        try:
            word = judged_by(source, self.session.ends_at)
            if word.result == "pass" and not current.scans:
                self._scan(source, current.submitted[current.name].blob)
        except TimeoutError:
            raise BudgetSpentError from None
        return word

    def _read(
        self, state: WorkspaceState, result: ReportEvidence, kernel: str, version: str, *, is_new: bool = True
    ) -> GateResult:
        """Keep a report and, where it is new, what the rules say of it; return the gate's word."""
        from kopt_kb.launch.machine.report_file import suffix_of
        from kopt_kb.tuning.evidence import ReportOrigin, read_evidence

        report = self.session.store.put(result.report)
        name = f"{version}_{result.shape}{suffix_of(result.report)}"
        work = next((one.work for one in state.rooflines if one.shape == result.shape), None)
        word, profile = read_evidence(result, ReportOrigin(report, kernel, name, self.options.platform, work))
        if profile is not None and is_new:
            self.session.append(profile)
        return word

    def profiled(self, state: WorkspaceState, shape: str) -> str:
        """Profile the best version on a shape, the largest if none is named; return why there is no new profile.

        A profile that could not be had is not tried again before another version is the best one.
        """
        best = state.best
        if state.simulated or best is None or best.snapshot is None:
            return "the times are simulated" if state.simulated else "no version is accepted yet"
        known = {str(one.get("shape")) for each in state.profiles_of(best).values() for one in each.evidence}
        if shape in known or (known and not shape):
            return f"{best.name} was profiled on {shape or ', '.join(sorted(known))} already"
        kernel = best.snapshot.blob
        job = self._job("evidence", state, self.session.store.get(kernel), b"")
        job = replace(job, body=replace(job.body, shapes=(shape,))) if shape else job
        name = f"asked-{best.name}-{shape or 'largest'}"
        earlier = [run for one in self.session.state().rounds for run in one.attempts(name, "evidence")]
        ended = [self.session.recall(run) for run in earlier if run.finished is not None]
        ran = next((one for one in ended if not says_nothing(one)), None)
        if ran is None and (late := self._no_time_for_a_profile(state)):
            return late
        if ran is None:
            run = f"{name}.evidence.{len(earlier) + 1}"
            outcome = self.session.execute(run, name, len(earlier) + 1, job)
            ran = Ran(outcome.outcome, outcome.result, run, outcome.printed)
        if not isinstance(ran.result, ReportEvidence):
            return ran.failure() or ran.unable or "the run gave no answer"
        word = self._read(state, ran.result, kernel, best.name)
        return "" if word.result == "pass" else word.reason

    def _scan(self, source: bytes, kernel: str) -> None:
        """Record what the compiled code holds against the ISA targets, where a compiler is at hand."""
        read, ends_at = self.options.instructions, self.session.ends_at
        scan = read(source, ends_at) if read is not None else None
        if scan is not None:
            report = self.session.store.put(scan.report)
            self.session.append(ProfileRead(report, ISA_SCAN, kernel, "instructions", scan.evidence))

    def _job(
        self,
        kind: JobKind,
        state: WorkspaceState,
        source: bytes,
        incumbent: bytes,
        scope: Literal["quick", "full"] = "full",
    ) -> Job:
        problem, repeats = state.problem, self.policy.repeats
        reference = self.session.store.get(state.reference) if state.reference is not None else b""
        sources = JobFiles(source, reference, incumbent)
        job = job_of(kind, problem, self.settings, repeats, sources)
        job = replace(job, body=replace(job.body, level=scope))
        return job if self.options.project is None else self.options.project.job(self.session, state, job)

    def reachable(self, state: WorkspaceState) -> None:
        """Time what the machine in force reaches, and say it."""

        def job(sources: JobFiles, shapes: tuple[str, ...], dtype: str) -> Job:
            made = job_of("timing", state.problem, self.settings, self.policy.repeats, sources)
            return replace(made, body=replace(made.body, shapes=shapes, dtype=dtype))

        for one in measure_reachable(self.session, state, job):
            said = f"{one.rate_si:.4g} a second, {one.probe}" if one.rate_si is not None else one.reason
            self.options.say(f"reachable, {one.shape}, {one.roof}: {said}")

    def noise(self, state: WorkspaceState) -> None:
        """Measure the noise of the machine in force on the best version."""
        measure_noise(self.session, state, lambda source: self._job("timing", state, source, source))

    def _record(self, state: WorkspaceState, current: Round, ran: Ran) -> None:
        """Append the records of a timing run that are not there yet; for the baseline also the noise.

        They belong to the machine in force when the run started, which a remembered run may have outlived.
        """
        versions = {"incumbent": incumbent_name(state, current), "candidate": current.name}
        rival = best_rival(state, current)
        if rival is not None:
            versions["best"] = rival.name
        run = current.runs.get(ran.run)
        machine = run.environment if run is not None else state.environment_seq
        basis = ran.result.basis if isinstance(ran.result, Timing) else None
        trust = self.session.executor.trust if basis is None else basis.trust
        for shape, sides in ran.result.shapes.items() if isinstance(ran.result, Timing) else ():
            if state.baseline is None:
                versions = {"candidate": current.name}
                known = state.noise_of(machine).get(shape)
                if known is None or known.run != ran.run:
                    self.session.append(noise_of(shape, [*sides["incumbent"], *sides["candidate"]], ran.run))
            for side, name in versions.items():
                for at, sample in enumerate(sides.get(side, ()), start=1):
                    record = f"{ran.run}:{name}:{shape}:{at}"
                    if record not in current.measured:
                        taken = (sample.n, sample.median_s, sample.spread)
                        source = NOT_REPLAYED if basis is None else basis.source_of(side)
                        self.session.append(Measured(record, name, shape, *taken, ran.run, machine, trust, source))
