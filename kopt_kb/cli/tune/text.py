"""What `kb tune` shows: the parameters of a campaign before it starts, and what came of it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import Wire
from kopt_kb.cli.kit.columns import legend
from kopt_kb.cli.kit.output import printable, table
from kopt_kb.problem.shapes import format_shape
from kopt_kb.quantity.readable import duration, gain, reached
from kopt_kb.tuning.options import Settings
from kopt_kb.tuning.policy import Policy
from kopt_kb.tuning.proposals import Proposer
from kopt_kb.tuning.report import CampaignReport, RoundLine, launcher_of, stated_targets
from kopt_kb.tuning.shown import gained
from kopt_kb.workspace.state import WorkspaceState

__all__ = ["CampaignParameters", "confirm", "parameters_of", "parameters_text", "render"]


_USUAL = Settings().to_json()
"""Settings that nobody need be shown."""


@dataclass(frozen=True, slots=True)
class AskedBudget(Wire):
    """What one call may use; None: no limit."""

    seconds: float | None
    rounds: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignParameters(Wire):
    """What a campaign would run with, as inferred.

    Attributes:
        shapes: As they are written.
        route: How the workspace entered the loop.
        targets: Conditions in force, as text, each after its shape.
        core_shapes: Shapes that the regression limit protects.
        max_rounds: Rounds after the baseline; None: no limit.
        proposers: Who is asked for hypotheses, in order.
        settings: Sizes of measurements and searches; None for a project, which says its own.
        judge: Who judges a kernel; None where none is judged.
        least_trust: Least level of trust that decisions accept; None where no kernel is judged.
    """

    WIRE: ClassVar = (
        "workspace", "platform", "op", "dtype", "shapes", "framework", "route", "targets", "policy", "stop_scope",
        "stop_reasons", "core_shapes", "max_rounds", "repeats", "simulated", "proposers", "budget", "settings?",
        "judge?", "least_trust?",
    )  # fmt: skip
    workspace: str
    platform: str
    op: str
    dtype: str
    shapes: tuple[str, ...]
    framework: str
    route: str
    targets: tuple[str, ...]
    policy: str
    stop_scope: str
    stop_reasons: tuple[str, ...]
    core_shapes: tuple[str, ...] | Literal["all"]
    max_rounds: int | None
    repeats: int
    simulated: bool
    proposers: tuple[str, ...]
    budget: AskedBudget
    settings: Settings | None = None
    judge: str | None = None
    least_trust: str | None = None


def parameters_text(parameters: Wire) -> str:
    """Return parameters as a table for people."""
    return table([(name, _shown(value)) for name, value in parameters.to_json().items()], is_headed=False)


def _shown(value: object) -> str:
    if isinstance(value, dict):
        given = {name: one for name, one in value.items() if one is not None and one != _USUAL.get(name)}
        return ", ".join(f"{name} {one}" for name, one in given.items()) or ("none" if "rounds" in value else "default")
    return ", ".join(map(str, value)) if isinstance(value, list) else "none" if value is None else str(value)


def parameters_of(
    args: argparse.Namespace,
    state: WorkspaceState,
    policy: Policy,
    proposers: Sequence[Proposer],
    *,
    judge: str | None = None,
    settings: Settings | None = None,
) -> CampaignParameters:
    """Return what a campaign would run with; nothing is said of settings where nobody asked for some."""
    return CampaignParameters(
        workspace=args.workspace,
        platform=state.created.platform,
        op=state.problem.op,
        dtype=state.problem.dtype,
        shapes=tuple(map(format_shape, state.problem.shapes)),
        framework=state.task.framework,
        route=state.route,
        targets=tuple(f"{target.shape}: {target.condition}" for target in stated_targets(state)),
        policy=policy.name,
        stop_scope=policy.stop_scope,
        stop_reasons=policy.stop_reasons,
        core_shapes="all" if policy.core_shapes is None else policy.core_shapes,
        max_rounds=policy.max_rounds,
        repeats=policy.repeats,
        simulated=args.simulate,
        proposers=tuple(proposer.name for proposer in proposers),
        budget=AskedBudget(args.budget_s, args.budget_rounds),
        settings=settings,
        judge=judge,
        least_trust=None if judge is None else policy.least_trust,
    )


def confirm(args: argparse.Namespace, parameters: Wire) -> None:
    """Show the parameters and get a yes: from --yes, or from a person at a terminal.

    Raises:
        BadInput: Nobody is there, or the answer is no.
    """
    print(parameters_text(parameters), file=sys.stderr)
    if args.yes:
        return
    if not sys.stdin.isatty():
        raise BadInput("nobody is there to confirm these parameters", where="kb tune", fix="add --yes", code="KB406")
    print("start? [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().casefold() not in {"y", "yes"}:
        raise BadInput("not confirmed; nothing was started", where="kb tune", code="KB406")


def render(report: CampaignReport, *, full: bool = True) -> str:
    """Return the report as text for people."""
    stop = "" if report.stop is None else f", stopped: {report.stop.reason}"
    words = ["route " + report.route]
    if report.route != "roofline":
        words += [f"policy {report.policy}", *(["SIMULATED"] if report.simulated else [])]
        words += [
            f"times {level}" for level in dict.fromkeys(round_.trust for round_ in report.rounds) if level != "unstated"
        ]
        if not report.simulated and (sources := dict.fromkeys(one.source for one in report.rounds if one.medians_s)):
            words.append(f"source {'; '.join(sources)}")
    lines = [f"{report.state}{stop} ({', '.join(words)})"]
    lines[0] += f", next: {report.next}" if report.stop is None else ""
    if gained(report):
        lines.append(gained(report))
    elif report.level:
        lines.append(f"gains: {report.level}")
    lines += filter(None, [launcher_of(report)])
    if report.refused:
        lines.append(f"refused: {printable(report.refused)}")
    lines += [f"NOT BELIEVED {printable(one.below_the_roof)}" for one in report.rounds if one.below_the_roof]
    if not full:
        return "\n".join(lines)
    rows = [("round", "category", "decision", "gain", "trust", "rule", "claim"), *map(_line, report.rounds)]
    lines += ["", table(rows, right=(0, 3)), legend(rows[0]), ""]
    if report.conditions is None:
        return "\n".join([*lines, f"Stop Conditions: not evaluable: {report.why_not}", *_gap_lines(report)])
    judged: list[tuple[str, ...]] = [("shape", "target", "median", "achieved/target", "met", "trust")]
    for one in report.conditions.judged:
        met = "yes" if one.met else "no"
        times = (duration(one.median_s), reached(one.ratio))
        judged.append((one.condition.shape, one.condition.target, *times, met, one.level or ""))
    judged = judged if any(row[-1] for row in judged[1:]) else [row[:-1] for row in judged]
    value = report.conditions.aggregate
    text = "unmeasured" if value is None else reached(value)
    lines += ["Stop Conditions", table(judged, indent=2, right=(2, 3)), f"  {legend(judged[0])}"]
    lines.append(f"  aggregate {text}")
    return "\n".join([*lines, *_gap_lines(report)])


def _gap_lines(report: CampaignReport) -> list[str]:
    """Return where the best version's time above its roofs goes; nothing where nobody accounted for it."""
    lines = [printable(line) for gap in report.gaps for line in gap.text().splitlines()]
    shown = ["", f"Where the time of {report.best} goes", *(f"  {line}" for line in lines)] if lines else []
    ledger = [printable(str(one)) for one in report.ledger]
    return [*shown, *(["", f"Ledger of {report.best}", *(f"  {line}" for line in ledger)] if ledger else [])]


def _line(line: RoundLine) -> tuple[str, ...]:
    decision = "refuted" if line.refuted else line.decision
    return (str(line.number), line.category, decision, gain(line.gain_pct), line.trust, line.rule, line.claim[:60])
