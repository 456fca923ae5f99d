"""The state machine: one step does what the journal says is next; a kill between any two events loses nothing."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Self

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.candidate.job import Executor
from kopt_kb.tuning.branches import show_version
from kopt_kb.tuning.machine import State, StepName, exits, next_step, owes, state_of
from kopt_kb.tuning.options import Budget, BudgetSpentError, CampaignOptions, Settings
from kopt_kb.tuning.policy import Policy, confirmed_policy
from kopt_kb.tuning.proposals import Proposal, Proposer
from kopt_kb.tuning.proposing import Proposing
from kopt_kb.tuning.report import CampaignReport, report_of
from kopt_kb.tuning.rounds import RoundWork
from kopt_kb.tuning.seconds import decision_s, search_end_s, spent_s
from kopt_kb.tuning.session import Session
from kopt_kb.tuning.stops import stop_reason
from kopt_kb.tuning.tips import add_tips
from kopt_kb.workspace.journal.campaign_events import Resumed, Stopped, StopReason
from kopt_kb.workspace.journal.disk import read_regular
from kopt_kb.workspace.journal.round_events import HypothesisStated, RoundStarted
from kopt_kb.workspace.state import WorkspaceState
from kopt_kb.workspace.views.render import render_saying
from kopt_kb.workspace.workspace import Workspace

if TYPE_CHECKING:
    from kopt_kb.tuning.setup import CampaignSetup

__all__ = ["Campaign"]


class Campaign:
    """A tuning campaign on a workspace; a context manager that holds the journal's lock.

    Args:
        workspace: Where it happens.
        policy: Thresholds and stop reasons.
        proposers: Asked in order for the next hypothesis.
        executor: Runs candidates.
        settings: Sizes of measurements.
        options: Compiler, profiler, tips, progress.
    """

    def __init__(
        self,
        workspace: Workspace,
        policy: Policy,
        proposers: Sequence[Proposer],
        executor: Executor,
        *,
        settings: Settings | None = None,
        options: CampaignOptions | None = None,
    ) -> None:
        self._workspace = workspace
        self._policy = policy
        self._proposers = tuple(proposers)
        self._executor = executor
        self._settings = settings or Settings()
        self._options = options or CampaignOptions()
        self._ends_at = math.inf
        self._say = self._options.say
        self._session: Session | None = None
        self._compared = False
        self._rendered_seq = 0

    def __enter__(self) -> Self:
        self._open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give the journal's lock back, and end what the executor keeps; closing twice is harmless."""
        self._executor.close()
        if self._session is not None:
            self._session.close()
            self._session, self._compared = None, False

    def _open(self) -> Session:
        if self._session is None:
            self._session = Session.open(self._workspace.layout, self._executor, self._options.project)
            last = self._session.journal.events[-1:]
            self._rendered_seq = last[0].seq if last and last[0].kind != Resumed.kind else 0
        return self._session

    def _setup(self) -> CampaignSetup:
        from kopt_kb.tuning.setup import CampaignSetup

        own = (self._executor, self._policy, self._proposers, self._settings, self._options)
        return CampaignSetup(self._open(), str(self._workspace.layout.root), *own)

    def _rounds(self) -> RoundWork:
        session, left_s = self._open(), max(self._ends_at - time.monotonic(), 0.0)
        state = session.state()
        settings = replace(
            self._settings, search_s=min(self._settings.search_s, search_end_s(state, self._policy, left_s))
        )
        current = state.open_round
        if self._policy.round_s and current is not None and current.number:
            left_s = max(self._policy.round_s - spent_s(current), 1.0)
            search_s = min(settings.search_s, left_s / 2)  # what it finds can still be judged
            settings = replace(settings, run_s=min(settings.run_s, left_s - search_s), search_s=search_s)
        return RoundWork(session, self._policy, settings, self._options)

    def _proposing(self) -> Proposing:
        own = (self._open(), self._policy, self._proposers, self._options, self._ends_at)
        return Proposing(*own, self._rounds().profiled)

    def state(self) -> WorkspaceState:
        """Return the state after the last event."""
        return self._open().state()

    def step(self) -> State:
        """Do the next thing and return where the campaign stands then.

        Raises:
            RepeatedHypothesisError: A proposer said again what was tried; nothing was written.
            BadInput: The journal belongs to a campaign with another policy or kind of executor.
            MissingTool: What measuring needs is absent.
        """
        session = self._open()
        state = session.state()
        if not self._compared:
            state = self._compare(session, state)
            self._compared = True
        steps: dict[StepName, Callable[[WorkspaceState], None]] = {
            "rest": lambda _: None, "end_at_targets": self._end_at_targets, "define": self._define,
            "prepare": lambda state: self._setup().prepare(state.created.platform),
            "read_tips": lambda state: self._setup().read_tips(state), "begin_baseline": self._begin_baseline,
            "measure_noise": lambda state: self._rounds().noise(state), "keep_version": self._keep_version,
            "account_gap": self._account_gap, "measure_reachable": lambda state: self._rounds().reachable(state),
            "state_hypothesis": self._restate, "submit": self._rounds().submit, "validate": self._rounds().validate,
            "next_round": self._next_round,
        }  # fmt: skip
        due = next_step(state)
        steps[due.name](state)
        reached = session.state()
        closed = state.open_round is not None and reached.open_round is None
        if reached.stopped is not None or closed or due.closes:
            self._render()
        return state_of(reached)

    def decide(self) -> State:
        """Step until a round is decided or the campaign stops; return where it stands then. Raises as `step` does."""
        session = self._open()
        while True:
            before = session.state()
            reached = self.step()
            now = session.state()
            if now.stopped is not None or (before.open_round is not None and now.open_round is None):
                return reached

    def run(self, budget: Budget | None = None) -> CampaignReport:
        """Step until the campaign stops; a spent budget or an interrupt stops it with that reason.

        Where the transition table allows no end for a budget, such as straight after the baseline, and inside a round,
        which its seconds may end, a spent budget ends only this call: the campaign stays open. A round that could not
        be decided in the seconds that are left is not begun.
        """
        limits = budget or Budget()
        self._ends_at = math.inf if limits.seconds_s is None else time.monotonic() + limits.seconds_s
        session = self._open()
        session.ends_at = self._ends_at
        done = _closed(session.state())
        try:
            while (state := session.state()).stopped is None:
                is_between = state.open_round is None and bool(state.rounds) and not owes(state)
                needs_s = decision_s(state, self._policy) if is_between else 0.0
                is_late = time.monotonic() + needs_s >= self._ends_at
                spent = limits.rounds is not None and _closed(state) - done >= limits.rounds
                if not is_late and not (spent and is_between):
                    self._step_in_time()
                elif is_between and stop_reason(state, self._policy) is not None and self._step_in_time():
                    pass  # ended for that reason
                elif is_between and "budget" in exits(state, self._policy):
                    self.stop("budget")
                else:
                    left_s = self._ends_at - time.monotonic()
                    is_short = is_late and left_s > 0
                    why = f"leaves {left_s:.1f} s, too few to decide a round," if is_short else "is spent"
                    self._say(f"the budget {why} at {state_of(state)}: the campaign stays open")
                    break
        except KeyboardInterrupt:
            self.stop("user")
        finally:
            if session.journal.head.seq != self._rendered_seq:
                self._render()  # a new start, the machine or what it waits for, that no round followed
        return report_of(session.state(), self._policy)

    def _step_in_time(self) -> bool:
        """Do the next thing; False where the end of the budget cut it off, and the next call begins it again."""
        try:
            self.step()
        except BudgetSpentError:
            return False
        return True

    def stop(self, reason: StopReason) -> None:
        """End the campaign for a reason that comes from outside, such as user or budget.

        Raises:
            BadInput: The transition table does not let it end for that reason where it stands.
        """
        session = self._open()
        state = session.state()
        last = state.rounds[-1].decided_seq if state.rounds else 0
        if state.stopped is None:
            self._end(state, reason, (last,) if last else ())
            self._render()

    def _end(self, state: WorkspaceState, reason: StopReason, evidence: tuple[int, ...]) -> None:
        allowed = exits(state, self._policy)
        if reason not in allowed:
            raise BadInput(
                f"a campaign does not end with {reason} at {state_of(state)}",
                where=str(self._workspace.layout.root),
                fix=f"there it ends with {', '.join(sorted(allowed))}",
                code="KB422",
            )
        self._open().append(Stopped(reason, evidence))
        self._say(f"stopped: {reason}")

    def restart(self) -> None:
        """Go on after a stop, under what this campaign was given; rounds and versions stay.

        Raises:
            BadInput: Simulated and measured rounds would meet.
        """
        state = self._open().state()
        if state.route == "roofline":
            return
        if state.campaign is not None:
            self._refuse_mixing(state)
        self._setup().define(state)

    def report(self) -> CampaignReport:
        """Return the report of the state as it is."""
        return report_of(self.state(), self._policy)

    def _refuse_mixing(self, state: WorkspaceState) -> None:
        if state.simulated != self._executor.simulated:
            what, fix = "simulated and measured rounds never share a workspace", "make another workspace with kb init"
            fix += ", or go on with --simulate" if state.simulated else ""
            raise BadInput(what, where=str(self._workspace.layout.root), fix=fix, code="KB421")

    def _compare(self, session: Session, state: WorkspaceState) -> WorkspaceState:
        """Hold this call against the open campaign, once: whoever opened it before may have sat at another machine.

        Raises:
            BadInput: It was confirmed with another policy or kind of executor, or its machine can't be gone on from.
        """
        if state.campaign is None or state.route == "roofline":
            return state
        self._refuse_mixing(state)
        confirmed = confirmed_policy(state.campaign)
        if confirmed != self._policy:
            what = f"the campaign runs under policy {confirmed.name} as it was confirmed"
            fix = "resume it as it is, or stop it and start another"
            raise BadInput(what, where=str(self._workspace.layout.root), fix=fix, code="KB420")
        if state.simulated or not state.environment_seq or state.stopped is not None:
            return state
        self._setup().go_on(state)
        return session.state()

    def _end_at_targets(self, state: WorkspaceState) -> None:
        """End at once: the user chose the route that has targets and nothing to try."""
        if state.campaign is None:
            self._setup().define(state)
            state = self._open().state()
        self._end(state, "user", (1, *filter(None, (state.targets_seq,))))

    def _define(self, state: WorkspaceState) -> None:
        setup = self._setup()
        setup.refuse_rounds_by_hand(state)
        setup.define(state)

    def _begin_baseline(self, state: WorkspaceState) -> None:
        session = self._open()
        if self._options.project is not None:
            self._options.project.begin(session, state)
        else:
            session.append(RoundStarted(0, self._incumbent(state)))

    def _render(self) -> None:
        """Bring memory, reports and trends up to the journal; an edit by hand is kept and named."""
        report = render_saying(self._workspace, self._say, self._open().journal)
        if report is not None:
            self._rendered_seq = report.head.seq

    def _next_round(self, state: WorkspaceState) -> None:
        session = self._open()
        if state.best is not None and state.best.snapshot is not None:
            session.checkout(state.best.snapshot.blob)
        self._write_tips(state)
        project = self._options.project
        if project is not None and project.freeze(session, state):
            return
        stop, incumbent = stop_reason(state, self._policy), self._incumbent(state)
        just_begun = state.rounds and state.rounds[-1] is state.baseline
        if stop is None and just_begun:
            self._render()  # a kill between the decision and the views may have left Stage 1 without its report
        state = self._proposing().reviewed(state) if stop is None else state
        stop = self._proposing().held_open(state, stop)
        proposal = self._proposing().ask(state, incumbent) if stop is None else None
        if proposal is None and project is not None and (last := project.confirmation(session, state)) is not None:
            proposal, incumbent = last
        if proposal is None:
            if stop is None and state.baseline is None:
                self._say("nobody proposes a kernel: give --proposer CMD or --plan FILE to kb tune run")
            self._proposing().refuse_open(state, stop)
            evidence = tuple(round_.decided_seq for round_ in state.rounds if round_.decided_seq)
            self._end(state, *(stop or ("exhausted", evidence)))
            return
        number = state.rounds[-1].number + 1 if state.rounds else 0
        session.append(RoundStarted(number, incumbent))
        self._proposing().state_hypothesis(number, proposal)

    def _write_tips(self, state: WorkspaceState) -> None:
        """Add what decided rounds taught to the file of earlier experience; each once, and nothing of a simulation."""
        if state.named is not None and state.named.tips and not state.simulated:
            count = add_tips(state, self._open().store.get, self._rounds().ruling.gain)
            if count:
                self._say(f"{count} tips added to {state.named.tips}")

    def _incumbent(self, state: WorkspaceState) -> str:
        """Return the blob a round starts from: the last accepted version, else the file the workspace began with."""
        best = state.best
        if best is not None and best.snapshot is not None:
            return best.snapshot.blob
        if state.rounds:
            return state.rounds[0].incumbent
        given = read_regular(self._workspace.layout.kernel)
        if given is None:
            raise BadInput(
                "there is no kernel.py", where=str(self._workspace.layout.root), fix="restore it from git", code="KB432"
            )
        return self._open().store.put(given)

    def _keep_version(self, state: WorkspaceState) -> None:
        accepted = state.rounds[-1]
        subject = f"V{accepted.number}: {accepted.hypothesis.claim if accepted.hypothesis else 'baseline'}"
        failure = self._open().snapshot(accepted, accepted.submitted[accepted.name].blob, subject)
        if failure:
            self._say(f"no commit shows {accepted.name}: {failure}")
        if self._options.project is not None and accepted.number:
            own = self._options.project
            show_version(self._open(), own.root, accepted, subject, self._say, own.project.exclude)

    def _account_gap(self, state: WorkspaceState) -> None:
        """Append where the best version's time goes, one account a shape, and what that offers."""
        from kopt_kb.tuning.accounting import accounts

        session = self._open()
        for event in accounts(state, session.store.get, self._options.platform):
            session.append(event)
            self._say(f"v{event.version}, {event.gap.name}: {event.gap.summary() or event.gap.headline}")
        self._proposing().listed(session.state())

    def _restate(self, state: WorkspaceState) -> None:
        """Say the hypothesis of a round that was cut off before it: the kept proposal, else ask again."""
        session = self._open()
        current = state.rounds[-1]
        if current.proposal is not None:
            kept = current.proposal
            evidence = self._proposing().chosen(current.number, kept.category, current.proposal_seq)
            stated = HypothesisStated(current.number, kept.category, kept.claim, kept.expected, evidence, kept.proposer)
            session.append(stated)
            return
        before = state.before(current)
        project = self._options.project
        last = project.confirmation(session, before) if project is not None else None
        if last is not None and current.incumbent == last[1]:
            proposal: Proposal | None = last[0]
        else:
            proposal = self._proposing().ask(before, current.incumbent)
        if proposal is None:
            self._end(state, "exhausted", (current.seq,))
            return
        self._proposing().state_hypothesis(current.number, proposal)


def _closed(state: WorkspaceState) -> int:
    """Return how many rounds are over; the baseline is none, an attempt at it that failed is one."""
    baseline = state.baseline
    return sum(round_.closed for round_ in state.rounds if round_ is not baseline)
