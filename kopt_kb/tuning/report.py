"""The end of a campaign in numbers: rounds, decisions, times, Stop Conditions; computed from the state."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from kopt_kb.analysis.gap.document import Gap
from kopt_kb.analysis.roofline.recorded import RecordedRoofline
from kopt_kb.base.errors import ExitCode
from kopt_kb.base.frames import Record, pandas_frame, polars_frame
from kopt_kb.base.markup.html import fragment
from kopt_kb.base.wire import Wire
from kopt_kb.launch.candidate.answers import Trust
from kopt_kb.launch.candidate.launcher_run import LauncherWord, launcher_says
from kopt_kb.launch.record.source import BEFORE, NOT_REPLAYED
from kopt_kb.tuning.decision import score_pct
from kopt_kb.tuning.machine import StepName, next_step, state_of
from kopt_kb.tuning.policy import Policy, confirmed_policy
from kopt_kb.tuning.shown import COLUMNS, headline, records_of, report_blocks
from kopt_kb.tuning.stops import evaluation, not_evaluable
from kopt_kb.tuning.versions import gain_pct
from kopt_kb.workspace.journal.campaign_events import Stopped
from kopt_kb.workspace.journal.round_events import GateJudged
from kopt_kb.workspace.ledger import LedgerEntry
from kopt_kb.workspace.levels import level_words
from kopt_kb.workspace.rounds import ACCEPTED, Round
from kopt_kb.workspace.state import WorkspaceState
from kopt_kb.workspace.targets.conditions import Evaluation, wiki_of
from kopt_kb.workspace.workspace import Workspace

if TYPE_CHECKING:
    import pandas
    import polars


__all__ = [
    "CampaignReport",
    "RoundLine",
    "StatedTarget",
    "campaign_report",
    "launcher_of",
    "report_of",
    "stated_targets",
]


@dataclass(frozen=True, slots=True)
class RoundLine(Wire):
    """One round of the report; the gain is against its incumbent, None without times.

    `refuted` says that a later round took the accepted one back; `trust` is the level of what its decision rests on,
    left out where that is not said; `launcher` whether its own launcher was seen to do what its record does; `source`
    whether its code comes from its source, and why not.
    """

    WIRE: ClassVar = (
        "number", "category", "claim", "decision", "rule", "reason", "gain_pct", "medians_s", "refuted",
        "trust?=_level", "launcher", "source",
    )  # fmt: skip
    number: int
    category: str
    claim: str
    decision: str
    rule: str
    reason: str
    gain_pct: float | None
    medians_s: dict[str, float]
    refuted: bool = False
    trust: Trust = "unstated"
    launcher: LauncherWord = ""
    source: str = str(BEFORE)

    @property
    def _level(self) -> Trust | None:
        return None if self.trust == "unstated" else self.trust

    @property
    def accepted(self) -> bool:
        """Whether its kernel became the incumbent and nothing refuted it."""
        return self.decision in ACCEPTED and not self.refuted

    @property
    def below_the_roof(self) -> str:
        """Why a candidate was not believed that took less time than documented roofs allow; empty for any other."""
        return f"round {self.number}: {self.reason}" if self.rule == "gate roofline" else ""


@dataclass(frozen=True, slots=True)
class StatedTarget(Wire):
    """One condition in force, as text; `shape` is `all` for the aggregate."""

    shape: str
    condition: str


@dataclass(frozen=True, slots=True)
class CampaignReport(Wire):
    """What a campaign came to.

    Attributes:
        state: Where it stands.
        route: How the workspace entered the loop.
        policy: Name of its policy.
        simulated: Whether its times are computed; then Stop Conditions are not evaluable.
        stop: Why it ended; None while it runs.
        next: What happens next, a step of the machine.
        gates: Words of the gates on the round that is open, so far; empty between rounds.
        rounds: All rounds.
        baseline: Name of the baseline: the first accepted version; empty before there is one.
        baseline_s: Shape → seconds of the baseline.
        best_s: Shape → seconds of the last accepted version, measured in the round that accepted it.
        best: Name of that version.
        gain_pct: Change of the score from baseline to best; None too where their times are not of one level of trust.
        conditions: The Stop Conditions judged; None when not evaluable.
        why_not: Why they are not; empty when they are judged.
        targets: The targets in force.
        rooflines: The rooflines they come from, one a shape.
        ledger: Opportunities of the best version, and what became of each.
        gaps: Where the time of the best version above its roofs goes, one a shape; empty where nobody accounted for it.
        level: On what gains rest, in words; empty without a gain, but of a project, whose rounds have some.
        wiki: The wiki of the targets, where that is not the packaged one.
    """

    WIRE: ClassVar = (
        "state", "next", "gates", "route", "policy", "simulated", "stop", "rounds", "baseline", "baseline_s", "best",
        "best_s",
        "gain_pct", "level?=_said_level", "stop_conditions=_judged", "why_not_evaluable=_why_not", "targets?=_targets",
        "rooflines?=_rooflines", "gaps", "ledger", "wiki?=_wiki",
    )  # fmt: skip
    state: str
    route: str
    policy: str
    simulated: bool
    stop: Stopped | None
    rounds: tuple[RoundLine, ...]
    baseline: str
    baseline_s: dict[str, float]
    best_s: dict[str, float]
    best: str
    gain_pct: float | None
    conditions: Evaluation | None
    why_not: str
    targets: tuple[StatedTarget, ...]
    rooflines: tuple[RecordedRoofline, ...]
    next: StepName = "rest"
    gates: tuple[GateJudged, ...] = ()
    gaps: tuple[Gap, ...] = ()
    ledger: tuple[LedgerEntry, ...] = ()
    wiki: str = ""
    level: str = ""

    def __repr__(self) -> str:
        return f"CampaignReport({self.state}: {headline(self)[0]})"

    def _repr_html_(self) -> str:
        return fragment(*report_blocks(self))

    def records(self) -> list[Record]:
        """Return one row a round and shape."""
        return records_of(self)

    def to_pandas(self) -> pandas.DataFrame:
        """Return one row a round and shape as a pandas DataFrame; raises `MissingTool` without pandas."""
        return pandas_frame(self.records(), COLUMNS)

    def to_polars(self) -> polars.DataFrame:
        """Return the same for polars."""
        return polars_frame(self.records(), COLUMNS)

    @property
    def exit_code(self) -> ExitCode:
        """What a command ends with: a stop that left the aggregate unmet, or unjudged, is a finding.

        A lacking target is UNKNOWN; simulated times are judged by nothing, as everybody knows who asked for them.
        """
        if self.route == "roofline":
            return ExitCode.OK if len(self.targets) > len(self.rooflines) else ExitCode.UNKNOWN
        unmet = not self.simulated and (self.conditions is None or not self.conditions.aggregate_met)
        ended = self.stop is not None and (unmet or self.stop.reason == "aborted")
        return ExitCode.FINDING if ended else ExitCode.OK

    @property
    def refused(self) -> str:
        """Why an aborted campaign has no baseline: the gate that failed, with its words; else nothing."""
        if self.stop is None or self.stop.reason != "aborted" or not self.rounds:
            return ""
        return next((one.reason for one in reversed(self.rounds) if one.reason), "")

    @property
    def _judged(self) -> Evaluation | Literal["not evaluable"]:
        return "not evaluable" if self.conditions is None else self.conditions

    @property
    def _why_not(self) -> str | None:
        return self.why_not or None

    @property
    def _said_level(self) -> str | None:
        return self.level or None

    @property
    def _wiki(self) -> str | None:
        return self.wiki or None

    @property
    def _targets(self) -> tuple[StatedTarget, ...] | None:
        return self.targets if self.route == "roofline" else None

    @property
    def _rooflines(self) -> tuple[RecordedRoofline, ...] | None:
        return self.rooflines if self.route == "roofline" else None


def campaign_report(workspace: Workspace | str | Path) -> CampaignReport:
    """Return the report of a workspace's campaign.

    Raises:
        BadInput: There is no workspace, or its journal can't be read.
    """
    opened = workspace if isinstance(workspace, Workspace) else Workspace.open(workspace)
    state = opened.state()
    return report_of(state, confirmed_policy(state.campaign))


def report_of(state: WorkspaceState, policy: Policy) -> CampaignReport:
    """Return the report of a state."""
    best, baseline = state.best, state.baseline or (state.rounds[0] if state.rounds else None)
    first = _medians(baseline, baseline.name) if baseline is not None else {}
    last = _medians(best, best.name) if best is not None else {}
    alike = baseline is not None and best is not None and _levels(baseline) == _levels(best)
    gain = score_pct([first[shape] for shape in last], [last[shape] for shape in last]) if alike and first else None
    return CampaignReport(
        state=state_of(state).value,
        route=state.route,
        policy=policy.name,
        simulated=state.simulated,
        stop=state.stopped,
        rounds=tuple(_line(round_) for round_ in state.rounds),
        baseline=state.baseline.name if state.baseline is not None else "",
        baseline_s=first,
        best_s=last,
        best=best.name if best is not None else "",
        gain_pct=gain,
        conditions=evaluation(state),
        why_not=not_evaluable(state),
        targets=stated_targets(state),
        rooflines=state.rooflines,
        next=next_step(state).name,
        gates=tuple(state.open_round.gates.values()) if state.open_round is not None else (),
        gaps=tuple(state.gaps_of(best).values()) if best is not None else (),
        ledger=state.ledger_of(best) if best is not None else (),
        wiki=wiki_of(state.targets),
        level=_level(state, best if gain is not None else None),
    )


def launcher_of(report: CampaignReport) -> str:
    """Return what the last accepted version's decision says of its launcher; empty where nothing is measured."""
    accepted = [one for one in report.rounds if one.accepted]
    return "" if report.simulated or not accepted else f"v{accepted[-1].number}: {launcher_says(accepted[-1].launcher)}"


def stated_targets(state: WorkspaceState) -> tuple[StatedTarget, ...]:
    """Return the targets in force as text."""
    made = state.targets.targets if state.targets is not None else ()
    return tuple(
        StatedTarget(one.shape or "all", f"{one.quantity} {one.op} {one.value} {one.unit}".strip()) for one in made
    )


def _levels(round_: Round) -> set[Trust]:
    """Return the levels of trust of a round's own times."""
    return {record.trust for record in round_.measured.values() if record.candidate == round_.name}


def _level(state: WorkspaceState, best: Round | None) -> str:
    measured = state.task.project is not None and any(round_.measured for round_ in state.rounds)
    return level_words(state, _levels(best) if best is not None else ()) if best is not None or measured else ""


def _medians(round_: Round, name: str) -> dict[str, float]:
    return {shape: statistics.median(times) for shape, times in round_.times(name).items()}


def _line(round_: Round) -> RoundLine:
    failed = next((gate.reason for gate in round_.gates.values() if gate.result == "fail"), "")
    stated, decided = round_.hypothesis, round_.decided
    return RoundLine(
        number=round_.number,
        category=stated.category if stated is not None else "baseline",
        claim=stated.claim if stated is not None else "the kernel as it was given",
        decision=decided.decision if decided is not None else "open",
        rule=decided.rule if decided is not None else "",
        reason=failed,
        gain_pct=gain_pct(round_),
        medians_s=_medians(round_, round_.name),
        refuted=round_.refuted_by is not None,
        trust=decided.trust if decided is not None else "unstated",
        launcher=decided.launcher if decided is not None else "",
        source=str(decided.source if decided is not None else NOT_REPLAYED),
    )
