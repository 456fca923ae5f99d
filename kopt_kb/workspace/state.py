"""The state of a workspace and its campaign: what `kopt_kb.workspace.fold` makes of the journal, never stored.

`Workspace.state()` reads and folds a journal again only when its head moved. Views, audit and benches get the state
as an argument; nobody folds for himself but to look at an earlier journal (`fold(events[:n], read)`).

What it holds: `created`, `specs`, `unknown`, `targets`, `problem`, `rooflines` of the workspace; `attempts` (all
rounds by number, round 0 always there), `rounds` (those that began), `benches`, `environments`, `runs`, `noises`,
`masked`; `campaign`, `environment`, `tips`, `protected`, `frozen`, `stopped` of the campaign.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from kopt_kb.analysis.roofline.recorded import RecordedRoofline
from kopt_kb.base.errors import BadInput
from kopt_kb.problem.problem import Problem
from kopt_kb.workspace.journal import campaign_events as loop
from kopt_kb.workspace.journal import direction_events as direction
from kopt_kb.workspace.journal import round_events as events
from kopt_kb.workspace.journal import setup_events as setup
from kopt_kb.workspace.journal.events import EventData, ForeignData
from kopt_kb.workspace.ledger import LedgerEntry, ledger_of
from kopt_kb.workspace.rounds import SIMULATOR, Bench, ChildRun, Round
from kopt_kb.workspace.route import RecordedTask, Route

if TYPE_CHECKING:
    from kopt_kb.analysis.gap.document import Gap
    from kopt_kb.workspace.journal import insight_events as insight

__all__ = ["MachineKey", "WorkspaceState", "machine_of"]

MachineKey = tuple[str | None, ...]
"""What tells one machine from another: device, uuid and driver; nothing for no machine."""


def machine_of(environment: setup.EnvironmentRecorded | None) -> MachineKey:
    """Return what tells this machine from another; the same device under another driver is another one."""
    return () if environment is None else (environment.device, environment.uuid, environment.driver)


@dataclass(slots=True)
class WorkspaceState:
    """What the events say up to `seq`.

    Attributes:
        created: The first event's data.
        problem: The operation, dtype and tolerance of the start, with the shapes of the targets in force.
        task: What was asked for besides the problem.
        specs: Registered rows by key, the latest registration of each.
        unknown: Needed values nobody publishes, by key.
        targets: The targets in force, and the sequence number of the event that set them.
        superseded: Targets that were in force before, oldest first: plans of that time speak of them.
        rooflines: The rooflines the targets in force were computed from, one a shape.
        measured: Measurement records by id, of rounds and benches.
        times: Sequence number → time of the event.
        attempts: Number → round, in order; round 0 is always there, whether it began or not.
        benches: By name; their runs and records are no round's.
        environments: Sequence number → machine, of all that were recorded, those of benches too.
        runs: Run id → run, of rounds and benches.
        noise_records: All noise records in order.
        noises: Machine → shape → its noise record.
        adopted: Adoptions that old journals hold, with sequence number and time.
        campaign: What was asked for; None before that.
        environment: The machine in force, with its event in `environment_seq`; 0 before there is one.
        tips: Earlier experience that was read, with its event in `tips_seq`; None before that.
        protected: Of a project: hashes of its protected files, taken before the baseline.
        frozen: Of a project: CSV header and representative shapes, fixed after the baseline.
        profiles: Sequence number → profile that was read, of any kernel; scans of compiled code are none.
        gaps: Sequence number → account of where an accepted version's time goes.
        reachables: Sequence number → what a machine gave for the amount of a shape.
        choices: Sequence number → why a round's hypothesis is of its category.
        reviews: Sequence number → review after rollbacks.
        opportunities: Sequence number → event of an opportunity.
        blocked: What the campaign waits for, as last said.
        stopped: The end, None while the campaign is open.
        bound: Sequence number → code object that was made again from its source.
        current: Number of the round that began last.
        unread: Sequence number → why, of notes of the loop in an old journal that can't be read.
        brought: Pack → sequence number → event that it brought, `ForeignData` where it can't be read here.
        hand_masks: Number → reason of what people masked in files; set by who reads the files.
    """

    seq: int
    head: str
    created: setup.WorkspaceCreated
    problem: Problem
    task: RecordedTask
    specs: Mapping[str, setup.SpecRow] = field(default_factory=dict)
    unknown: Mapping[str, setup.UnknownRow] = field(default_factory=dict)
    targets: setup.TargetSet | None = None
    targets_seq: int = 0
    superseded: list[setup.TargetSet] = field(default_factory=list)
    rooflines: tuple[RecordedRoofline, ...] = ()
    measured: dict[str, events.Measured] = field(default_factory=dict)
    times: dict[int, str] = field(default_factory=dict)
    attempts: Mapping[int, Round] = field(default_factory=dict)
    benches: Mapping[str, Bench] = field(default_factory=dict)
    environments: Mapping[int, setup.EnvironmentRecorded] = field(default_factory=dict)
    runs: dict[str, ChildRun] = field(default_factory=dict)
    noise_records: tuple[setup.NoiseMeasured, ...] = ()
    noises: Mapping[MachineKey, Mapping[str, setup.NoiseMeasured]] = field(default_factory=dict)
    adopted: tuple[tuple[int, str, setup.FileAdopted], ...] = ()
    campaign: loop.CampaignConfirmed | None = None
    campaign_seq: int = 0
    named: loop.CampaignNamed | None = None
    plan: loop.PlanMade | None = None
    environment: setup.EnvironmentRecorded | None = None
    environment_seq: int = 0
    tips: loop.TipsRead | None = None
    tips_seq: int = 0
    protected: loop.ProjectProtected | None = None
    frozen: loop.ProjectFrozen | None = None
    profiles: Mapping[int, setup.ProfileRead] = field(default_factory=dict)
    gaps: Mapping[int, insight.GapAccounted] = field(default_factory=dict)
    reachables: Mapping[int, setup.ReachableMeasured] = field(default_factory=dict)
    choices: Mapping[int, direction.CategoryChosen] = field(default_factory=dict)
    reviews: Mapping[int, direction.ReviewHeld] = field(default_factory=dict)
    opportunities: Mapping[int, direction.Opportunity] = field(default_factory=dict)
    blocked: loop.Blocked | None = None
    stopped: loop.Stopped | None = None
    bound: Mapping[int, events.RecordBound] = field(default_factory=dict)
    current: int = 0
    unread: Mapping[int, str] = field(default_factory=dict)
    brought: Mapping[str, Mapping[int, EventData]] = field(default_factory=dict)
    hand_masks: Mapping[int, str] = field(default_factory=dict)

    # ---- the workspace ---------------------------------------------------------------------------

    @property
    def route(self) -> Route:
        """How the workspace entered the loop; those from before routes have an existing kernel."""
        return self.task.route or "kernel"

    @property
    def kernel(self) -> str:
        """Blob of the file the workspace starts from; raises `BadInput` when its route is the roofline only."""
        if self.created.kernel is None:
            raise BadInput(
                "this workspace has no kernel: its route is the roofline only",
                where=self.created.name,
                fix="make one to tune with kb init --kernel-demo",
                code="KB319",
            )
        return self.created.kernel

    def files_of(self, data: bytes) -> Mapping[str, str]:
        """Return path → text of a version; raises `BadInput` where a project's blob is none."""
        if self.task.project is None:
            return {"kernel.py": data.decode("utf-8", "replace")}
        from kopt_kb.launch.project.bundle import files_of  # kernel files are no bundles

        return files_of(data)

    # ---- packs -----------------------------------------------------------------------------------

    def pack_events(self, pack: str) -> Mapping[int, EventData]:
        """Return sequence number → event of a pack, typed; none that this environment can't read."""
        own = self.brought.get(pack, {})
        return {seq: data for seq, data in own.items() if not isinstance(data, ForeignData)}

    @property
    def unread_events(self) -> Mapping[str, tuple[int, ...]]:
        """Pack → sequence numbers of its events that can't be read here."""
        found = {
            pack: tuple(seq for seq, data in own.items() if isinstance(data, ForeignData))
            for pack, own in self.brought.items()
        }
        return {pack: seqs for pack, seqs in found.items() if seqs}

    # ---- rounds ----------------------------------------------------------------------------------

    @property
    def rounds(self) -> list[Round]:
        """All rounds that began, in order."""
        return [attempt for attempt in self.attempts.values() if attempt.seq]

    @property
    def open_round(self) -> Round | None:
        """The round that is not closed."""
        last = self.attempts[max(self.attempts)]
        return last if last.seq and not last.closed else None

    @property
    def undecided(self) -> Round | None:
        """The round after the first that was begun, by hand or not, and not decided."""
        last = self.attempts[max(self.attempts)]
        return last if last.number and last.decided is None else None

    @property
    def baseline(self) -> Round | None:
        """The first accepted round, once it is closed: what all others are compared with."""
        return next(
            (
                attempt
                for attempt in self.attempts.values()
                if attempt.is_baseline and attempt.accepted and attempt.closed
            ),
            None,
        )

    @property
    def first(self) -> Round | None:
        """What is or will be the baseline; None before a kernel that has to be implemented first is accepted."""
        return next((attempt for attempt in self.attempts.values() if attempt.is_baseline), None)

    @property
    def best(self) -> Round | None:
        """The last accepted round: work always continues from it; None before a version was kept."""
        rounds = reversed(list(self.attempts.values()))
        return next((round_ for round_ in rounds if round_.accepted and round_.snapshot is not None), None)

    @property
    def incumbent(self) -> Round:
        """The last accepted round whether or not its version was kept; round 0 when there is none."""
        return next(
            (attempt for attempt in reversed(list(self.attempts.values())) if attempt.accepted), self.attempts[0]
        )

    @property
    def reference(self) -> str | None:
        """Blob of the file whose inputs and reference judge every candidate: the problem's, else the one of round 0."""
        if self.problem.own is not None:
            return self.problem.own.reference
        return next((attempt.incumbent for attempt in self.attempts.values() if attempt.seq), self.created.kernel)

    def is_simulated(self, attempt: Round) -> bool:
        """Return whether a round's times were computed by the simulator instead of measured."""
        machines = (self.environments.get(seq) for seq in {record.environment for record in attempt.measured.values()})
        return any(machine is not None and machine.device == SIMULATOR for machine in machines)

    def ended(self, runs: Iterable[str]) -> list[events.RunFinished]:
        """Return the ends of those of these runs that have one."""
        known = (self.runs[run].finished for run in runs if run in self.runs)
        return [one for one in known if one is not None]

    def before(self, attempt: Round) -> WorkspaceState:
        """Return this state without a round and those after it."""
        return replace(
            self, attempts={number: each for number, each in self.attempts.items() if number < attempt.number}
        )

    # ---- what is known of the best version ---------------------------------------------------------

    def profiles_of(self, attempt: Round) -> dict[int, setup.ProfileRead]:
        """Return sequence number → profile of the very bytes that a round's version is."""
        blob = attempt.snapshot.blob if attempt.snapshot is not None else None
        return {seq: profile for seq, profile in self.profiles.items() if blob and profile.kernel == blob}

    @property
    def limiter(self) -> str:
        """Code of the last profile of the best version; empty without one: what was rolled back limits nobody."""
        found = self.profiles_of(self.best) if self.best is not None else {}
        return found[max(found)].code if found else ""

    def gaps_of(self, attempt: Round) -> dict[str, Gap]:
        """Return shape → the last account of a round's version."""
        return {seen.gap.name: seen.gap for seen in self.gaps.values() if seen.version == attempt.number}

    def choice_of(self, number: int) -> direction.CategoryChosen | None:
        """Return why a round's hypothesis is of its category; None where nobody said."""
        return next((one for one in self.choices.values() if one.round == number), None)

    def ledger_of(self, round_: Round) -> tuple[LedgerEntry, ...]:
        """Return what became of each opportunity of a round's version, the largest first."""
        return ledger_of(self.opportunities, self.attempts, round_.number)

    # ---- masks -----------------------------------------------------------------------------------

    def unmaskable(self) -> frozenset[int]:
        """Return the numbers that can't be masked: the baseline, the incumbent and the fastest accepted round."""
        if self.first is None:
            return frozenset()
        scores = {attempt.number: attempt.mean_s() for attempt in self.attempts.values() if attempt.accepted}
        known = {number: score for number, score in scores.items() if score is not None}
        fastest = {min(known, key=lambda number: known[number])} if known else set()
        return frozenset({self.first.number, self.incumbent.number, *fastest})

    @property
    def masked(self) -> dict[int, str]:
        """Number → reason of every round that no reader may see, by event or by hand."""
        asked = {attempt.number: attempt.mask for attempt in self.attempts.values() if attempt.mask}
        asked = {**self.hand_masks, **asked}
        kept = self.unmaskable() if asked else frozenset()
        return {number: reason for number, reason in sorted(asked.items()) if number not in kept}

    # ---- the campaign ----------------------------------------------------------------------------

    @property
    def simulated(self) -> bool:
        """Whether the campaign runs on the simulator."""
        return self.campaign is not None and self.campaign.simulated

    @property
    def noise(self) -> Mapping[str, setup.NoiseMeasured]:
        """Shape → noise of the machine in force; what another machine's repeats varied by says nothing here."""
        return self.noises.get(machine_of(self.environment), {})

    def reachable_of(self, environment: int) -> Mapping[str, setup.ReachableMeasured]:
        """Return shape → what the machine of this environment's sequence number was last seen to reach."""
        machine = machine_of(self.environments.get(environment))
        events = self.reachables.values()
        return {one.shape: one for one in events if machine_of(self.environments.get(one.environment)) == machine}

    def noise_of(self, environment: int) -> Mapping[str, setup.NoiseMeasured]:
        """Return shape → noise of the machine of this environment's sequence number."""
        return self.noises.get(machine_of(self.environments.get(environment)), {})
