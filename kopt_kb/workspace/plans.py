"""Plans: one optimization a file in plans/, in the form of the router's template; written and checked."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from kopt_kb.base.wire import Wire
from kopt_kb.workspace.journal.blobs import ObjectStore
from kopt_kb.workspace.journal.disk import read_regular
from kopt_kb.workspace.layout import Layout
from kopt_kb.workspace.state import WorkspaceState
from kopt_kb.workspace.targets.conditions import StopConditions

__all__ = ["SECTIONS", "PlanFault", "kept_plan", "new_plan", "plan_faults", "plan_path", "round_plan"]

SECTIONS: tuple[str, ...] = (
    "Input Evidence", "Search Log", "Optimization Action", "Expected Impact", "Risks and Rollback",
)  # fmt: skip
"""Headings of a plan, in order."""

_SEARCH = ("Source", "Query", "Finding", "Actionability")
_TBD = re.compile(r"\bTBD\b")


@dataclass(frozen=True, slots=True)
class PlanFault(Wire):
    """What a plan lacks, and the line."""

    line: int
    what: str


def plan_path(layout: Layout, version: int) -> Path:
    """Return the file of a version's plan."""
    return layout.plans / f"v{version}_plan.md"


def kept_plan(layout: Layout, store: ObjectStore, version: int) -> str | None:
    """Return the blob of a version's plan as it stands now; None where there is none that can be read."""
    try:
        text = read_regular(plan_path(layout, version))
    except OSError:
        return None
    return store.put(text) if text is not None else None


def new_plan(state: WorkspaceState) -> tuple[int, str]:
    """Return the number of the next version and its plan with what is known; what has to be thought of is TBD."""
    number = max(state.attempts) + 1 if state.attempts and state.baseline is not None else 0
    best = state.best
    profile = best.profiles[-1] if best is not None and best.profiles else None
    evidence = [f"- bound: {state.targets.bound if state.targets is not None else 'unknown'}, by the registered roofs"]
    evidence += [f"- target: {one.shape}: {one.target}" for one in StopConditions.of(state).conditions]
    evidence.append(
        f"- profile of {best.name}: {profile.tool}, {profile.code}, report {profile.name}"
        if best is not None and profile is not None
        else "- profile: none yet; take one before a bottleneck is named"
    )
    failed = [
        round_
        for round_ in state.rounds
        if round_.decided is not None and not round_.accepted and round_.hypothesis is not None
    ]
    evidence += [f"- tried: {one.hypothesis.claim}: {one.status}" for one in failed[-3:] if one.hypothesis is not None]
    lines = [
        f"# Plan of v{number}", "", "## Input Evidence", "", *evidence, "", "## Search Log", "",
        f"| {' | '.join(_SEARCH)} |", f"|{'---|' * len(_SEARCH)}", "| gpu-wiki | TBD | TBD | TBD |", "",
        "## Optimization Action", "", "- category: TBD", "- change: TBD", "", "## Expected Impact", "", "- TBD", "",
        "## Risks and Rollback", "", "- risk: TBD",
        f"- rollback: kernel.py of {best.name if best is not None else 'the start'}", "",
    ]  # fmt: skip
    return number, "\n".join(lines)


def round_plan(state: WorkspaceState, number: int) -> str:
    """Return the plan of a round whose hypothesis is stated: what it knew, read, does and expects."""
    attempt, choice, best = state.attempts[number], state.choice_of(number), state.best
    stated = attempt.hypothesis
    _, text = new_plan(state)
    evidence = text[text.index("## Input Evidence") : text.index("## Search Log")].rstrip()
    why = [f"- category: {choice.reason}"] if choice is not None else []
    read = [(one, ref) for one in state.reviews.values() if one.round == number for ref in one.references]
    rows = [
        f"| gpu-wiki | review after v{one.versions[-1] if one.versions else 0} | {ref} | read |" for one, ref in read
    ]
    rows = rows or [f"| campaign | what was tried | {len(state.rounds)} rounds of this journal | not repeated |"]
    said = ("-", "-", "-") if stated is None else (stated.category, stated.claim, stated.expected)
    start = best.name if best is not None else "the start"
    lines = [
        f"# Plan of v{number}", "", evidence, *why, "", "## Search Log", "", f"| {' | '.join(_SEARCH)} |",
        f"|{'---|' * len(_SEARCH)}", *rows, "", "## Optimization Action", "", f"- category: {said[0]}",
        f"- change: {said[1]}", "", "## Expected Impact", "", f"- {said[2]}", "", "## Risks and Rollback", "",
        f"- risk: {attempt.proposal.risk if attempt.proposal is not None and attempt.proposal.risk else 'not stated'}",
        f"- rollback: kernel.py of {start}", "",
    ]  # fmt: skip
    return "\n".join(lines)


def plan_faults(text: str) -> tuple[PlanFault, ...]:
    """Return what keeps a text from being a plan: sections, their order, an empty or open one, more than one action."""
    lines = text.splitlines()
    heads = [(at, line[3:].strip()) for at, line in enumerate(lines, 1) if line.startswith("## ")]
    names = [name for _, name in heads if name in SECTIONS]
    found = [PlanFault(1, f"there is no section {name}") for name in SECTIONS if name not in names]
    if names != [name for name in SECTIONS if name in names]:
        found.append(PlanFault(heads[0][0], f"the sections are in another order than {', '.join(SECTIONS)}"))
    ends = [at for at, _ in heads[1:]] + [len(lines) + 1]
    for (at, name), end in zip(heads, ends, strict=False):
        if name in SECTIONS:
            found += _section(name, at, [line.strip() for line in lines[at : end - 1]])
    return tuple(sorted(found, key=lambda one: one.line))


def _section(name: str, at: int, body: list[str]) -> list[PlanFault]:
    said = [line for line in body if line]
    if not said:
        return [PlanFault(at, f"{name} is empty")]
    found = [PlanFault(at + n, f"{name} is open: TBD") for n, line in enumerate(body, 1) if _TBD.search(line)]
    if name == "Search Log":
        rows = [line for line in said if line.startswith("|")]
        if len(rows) < 3 or [cell.strip() for cell in rows[0].strip("|").split("|")] != list(_SEARCH):
            found.append(PlanFault(at, f"Search Log is no table of {', '.join(_SEARCH)} with a row"))
    if name == "Optimization Action":
        changes = [n for n, line in enumerate(body, 1) if re.match(r"-\s*change\s*:", line, re.IGNORECASE)]
        if len(changes) != 1:
            found.append(PlanFault(at, f"a plan has one `- change:`, and this one has {len(changes)}"))
    return found
