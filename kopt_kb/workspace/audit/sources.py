"""What a workspace rests on: its registered rows read again, its targets computed again, its open fields."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from kopt_kb.analysis.roofline.floor import ComputeFloor
from kopt_kb.base.errors import KoptError
from kopt_kb.problem.shapes import format_shape
from kopt_kb.wiki.apart import apart
from kopt_kb.wiki.registry import Platform
from kopt_kb.wiki.resolve import verify
from kopt_kb.workspace.audit.findings import AuditFinding, line_of
from kopt_kb.workspace.journal.setup_events import Target
from kopt_kb.workspace.registration import TimeBounds, citation_of, target_set
from kopt_kb.workspace.retarget import aim_in_force, factor_in_force, targets_now
from kopt_kb.workspace.state import WorkspaceState
from kopt_kb.workspace.targets.conditions import wiki_of
from kopt_kb.workspace.targets.floors import has_floors, product_floor_s
from kopt_kb.workspace.targets.short import too_short

__all__ = ["open_fields", "other_wiki", "row_findings", "set_by", "target_findings"]

_README = "README.md"


def row_findings(state: WorkspaceState, platform: Platform, readme: str) -> Iterator[AuditFinding]:
    """Yield a finding for each registered row that changed, is gone or is refused, and a note for one that moved."""
    blocked = {fault.key: fault for fault in platform.sheet.faults}
    for row in state.specs.values():
        citation = citation_of(row)
        line = line_of(readme, f"- {row.key}:")
        held, now = verify(platform.wiki, citation)
        fault = blocked.get(row.key) or blocked.get(row.key.partition("[")[0]) or blocked.get(None)
        if fault is not None:
            yield AuditFinding("refused", _README, line, f"{row.key}: {fault}", "repair the wiki page first")
        elif held == "changed" and now is not None:
            text = f"{row.key} was {row.value} {row.unit}, {now.path}:L{now.line} says {now.value} {now.unit}"
            fix = "register it again with `kb workspace set`, or restore the page"
            yield AuditFinding("changed", _README, line, text, fix)
        elif now is not None and (now.value, now.unit, now.grade) != (row.value, row.unit or "-", row.grade):
            registered = f"{row.value} {row.unit} ({row.grade})"
            text = f"{row.key} is registered as {registered}, its row says {now.value} {now.unit} ({now.grade})"
            yield AuditFinding("changed", _README, line, text, "register it again with `kb workspace set`")
        elif held == "missing":
            text = f"{citation} is gone from the wiki"
            yield AuditFinding("missing", _README, line, text, "restore the row or drop the value")
        elif held == "moved" and now is not None:
            text = f"{row.key} moved to {now.path}:L{now.line}, unchanged"
            yield AuditFinding("moved", _README, line, text, "nothing to do")


def target_findings(state: WorkspaceState, platform: Platform, readme: str) -> Iterator[AuditFinding]:
    """Yield a finding for each shape without a target, or whose target its rows do not give."""
    line = line_of(readme, "## Stop Conditions")
    if state.targets is None:
        yield AuditFinding("no-target", _README, line, "no targets were set", "create the workspace with `kb init`")
        return
    problem = state.problem
    try:
        found = targets_now(problem, platform, factor_in_force(state), aim_in_force(state))
        short = too_short(state.targets)
        bounds = TimeBounds.of(platform, found)
        now = target_set(problem, found, reason="audit", by="audit", bounds=bounds if short else None)
    except KoptError as error:
        text = f"the targets can't be recomputed: {error.what} ({error.where})"
        yield AuditFinding("refused", _README, line, text, error.fix or "repair the wiki page")
        return
    least = {format_shape(shape): one for shape, one in zip(problem.shapes, bounds.floors, strict=True)}
    if has_floors(state) and any(_differ(product_floor_s(state, shape), one) for shape, one in least.items()):
        text = "the floors that were recorded with the targets are not those that the wiki's rows give"
        yield AuditFinding("target", _README, line, text, "set the targets again with `kb workspace set`")
    recorded = {one.shape: one for one in state.targets.targets if one.shape}
    fresh = {one.shape: one for one in now.targets if one.shape}
    for shape in (format_shape(one) for one in problem.shapes):
        if shape in short and shape in too_short(now):
            continue
        yield from _target(shape, recorded.get(shape), fresh.get(shape), line_of(readme, f"| {shape} |"))


def _differ(held: Fraction | None, fresh: ComputeFloor | None) -> bool:
    return held != (None if fresh is None else Fraction(str(float(fresh.seconds))))


def _target(shape: str, recorded: Target | None, fresh: Target | None, line: int) -> Iterator[AuditFinding]:
    if recorded is None:
        text = f"{shape} has no target: an input is UNKNOWN"
        yield AuditFinding("no-target", _README, line, text, "add the row to the wiki and set the target")
    elif fresh is None:
        text = f"{shape}: the wiki no longer knows the input of its target"
        yield AuditFinding("target", _README, line, text, "restore the row")
    elif _judged(recorded) != _judged(fresh):
        given = f"{fresh.quantity} {fresh.value} {fresh.unit} by {fresh.basis}"
        held = f"{recorded.quantity} {recorded.value} {recorded.unit} by {recorded.basis}"
        text = f"{shape}: target is {held}, the wiki's rows now give {given}"
        yield AuditFinding("target", _README, line, text, "set it again with `kb workspace set`, or restore the page")


def _judged(target: Target) -> tuple[str, Fraction, str]:
    return target.quantity, Fraction(target.value), target.unit


def set_by(state: WorkspaceState, readme: str) -> Iterator[AuditFinding]:
    """Yield a note where a person set the targets in force."""
    made = state.targets
    if made is not None and made.supersedes is not None:
        line = line_of(readme, "## Stop Conditions")
        text = f"the targets were set by {made.by} in event {state.targets_seq}: {made.reason}"
        yield AuditFinding("set-by", _README, line, text, "nothing to do")


def other_wiki(state: WorkspaceState, platform: Platform | None, readme: str) -> Iterator[AuditFinding]:
    """Yield a note where values are not read in the packaged wiki, now (None: not looked) or when targets were set."""
    named = (apart(platform) if platform is not None else "") or wiki_of(state.targets)
    if named:
        text = f"the values are those of {named}"
        yield AuditFinding("other-wiki", _README, line_of(readme, "## Stop Conditions"), text, "nothing to do")


def open_fields(state: WorkspaceState, readme: str) -> Iterator[AuditFinding]:
    """Yield a finding for each field that is still to be filled in, and for each user's stand-in."""
    for number, line in enumerate(readme.split("\n"), 1):
        if line.rstrip().endswith("TBD"):
            yield AuditFinding("tbd", _README, number, f"{line.strip()!r} is still open", "fill it in")
    for row in state.unknown.values():
        if row.placeholder:
            at = line_of(readme, f"- {row.key}:")
            text = f"{row.key} has the placeholder {row.placeholder}"
            yield AuditFinding("placeholder", _README, at, text, "replace it by a sourced row of the wiki")
