"""The one way targets change: another factor or other shapes, with a reason and an author, as events."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import ClassVar

from kopt_kb.analysis.frameworks import vendors_of
from kopt_kb.analysis.roofline.roofline import Roofline
from kopt_kb.analysis.roofline.targets import TARGET_FACTOR, parse_performance_target
from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import Wire
from kopt_kb.problem.problem import Problem
from kopt_kb.wiki.registry import Platform, Registry
from kopt_kb.workspace.anchors import open_journal
from kopt_kb.workspace.journal.events import Event
from kopt_kb.workspace.journal.setup_events import AGGREGATE, TargetSet
from kopt_kb.workspace.registration import (
    TimeBounds,
    rooflines,
    specs_registered,
    target_set,
    unknown_needs,
)
from kopt_kb.workspace.state import WorkspaceState
from kopt_kb.workspace.targets.short import too_short
from kopt_kb.workspace.views.render import RenderReport, render_workspace
from kopt_kb.workspace.workspace import Workspace

__all__ = [
    "Retargeting",
    "Terms",
    "aim_in_force",
    "factor_in_force",
    "parse_factor",
    "parse_threshold",
    "registry_of",
    "set_targets",
    "targets_now",
    "wiki_roots",
]


@dataclass(frozen=True, slots=True)
class Retargeting(Wire):
    """The new targets, the event they supersede, and the rendering that followed."""

    WIRE: ClassVar = (
        "seq=event.seq", "supersedes=targets.supersedes", "reason=targets.reason", "by=targets.by",
        "targets=targets.targets", "render=report",
    )  # fmt: skip
    event: Event
    targets: TargetSet
    report: RenderReport


@dataclass(frozen=True, slots=True)
class Terms:
    """What a workspace is asked for from now on.

    Attributes:
        shapes: All shapes; empty keeps those in force.
        dtype: Storage type; empty keeps it. Its usual tolerance comes with it unless one is given.
        threshold: Largest relative error of a correct result; None keeps it.
        framework: Language; empty keeps it.
    """

    shapes: Sequence[str] = ()
    dtype: str = ""
    threshold: Fraction | None = None
    framework: str = ""


def parse_factor(text: str) -> Fraction:
    """Return a share of the roof: an exact number above 0 and at most 1."""
    try:
        factor = Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise BadInput(
            f"{text!r} is not a number", where="--target-factor", fix="for example 0.85", code="KB105"
        ) from None
    if not 0 < factor <= 1:
        fix = "nothing is faster than its roof: give a share above 0 and at most 1"
        raise BadInput(f"{text} is no share of a roof", where="--target-factor", fix=fix, code="KB105")
    return factor


def parse_threshold(text: str) -> Fraction:
    """Return a relative error: an exact number above 0 and below 1."""
    try:
        limit = Fraction(text)
    except (ValueError, ZeroDivisionError):
        limit = Fraction(0)
    if not 0 < limit < 1:
        fix = "for example 0.01; it lies between 0 and 1"
        raise BadInput(f"{text!r} is no relative error", where="--tolerance", fix=fix, code="KB105")
    return limit


def registry_of(state: WorkspaceState, wikis: Sequence[str] = ()) -> Registry:
    """Return the wiki asked for, else the one the workspace was made from if it is still there.

    Its pages are compiled anew: whoever judges a workspace believes no cache.
    """
    return Registry.open(*wiki_roots(state, wikis), use_cache=False)


def wiki_roots(state: WorkspaceState, wikis: Sequence[str] = ()) -> tuple[str | Path, ...]:
    """Return the folders of the wiki that `registry_of` opens; none stands for the one read by default."""
    if wikis or os.environ.get("KOPT_GPU_WIKI"):
        return tuple(wikis)
    root = Path(state.created.wiki.root)
    return (root,) if root.is_absolute() and (root / "hardware").is_dir() else ()


def factor_in_force(state: WorkspaceState) -> Fraction:
    """Return the share of the roof the targets in force ask for."""
    if state.targets is None:
        return TARGET_FACTOR
    factors = [target.factor for target in state.targets.targets if target.quantity != AGGREGATE]
    if not factors and too_short(state.targets):  # no condition holds it, the recorded rooflines do
        return Fraction(str(state.rooflines[0].target.factor)).limit_denominator(10**6)
    return Fraction(factors[0]) if factors else TARGET_FACTOR


def aim_in_force(state: WorkspaceState) -> str:
    """Return the performance target the targets in force were made from; empty when a share of each roof is it."""
    return str(state.targets.work.get("performance_target", "")) if state.targets is not None else ""


def targets_now(problem: Problem, platform: Platform, factor: Fraction, aim: str = "") -> list[Roofline]:
    """Return the rooflines of a problem with targets of this share of each roof, or of a performance target."""
    return rooflines(problem, platform, aim=parse_performance_target(aim) or factor)


def set_targets(
    workspace: Workspace,
    registry: Registry,
    *,
    factor: Fraction | None = None,
    aim: str | None = None,
    terms: Terms | None = None,
    reason: str,
    by: str,
) -> Retargeting:
    """Register the platform's rows again and set new targets; README and views are rendered.

    Args:
        workspace: The workspace.
        registry: The wiki.
        factor: Share of the roof; None keeps the one in force.
        aim: Performance target in words, in place of a share; `null` goes back to 0.9; None keeps the one in force.
        terms: Shapes, type, tolerance and language from now on; None keeps those in force.
        reason: Why, in words.
        by: Who decides it.

    Raises:
        UnknownData: An input of a target is UNKNOWN; nothing is changed.
        BadInput: Neither a reason nor an author, or a shape that does not fit.
    """
    if not reason.strip() or not by.strip():
        raise BadInput(
            "targets need a reason and an author", where="kb workspace set", fix="give --reason and --by", code="KB102"
        )
    with open_journal(workspace.layout) as journal:
        state = workspace.state(journal.events)
        new = terms or Terms()
        problem = _judged_by(_problem(state, new.shapes), new.dtype, new.threshold)
        _check_framework(state, new.framework)
        product = registry.platform(state.created.platform)
        share, words = _aims(state, factor, aim)
        found = targets_now(problem, product, share, words)
        missing = unknown_needs(found)
        if missing:
            raise missing[0].error()
        old = {key: row.placeholder for key, row in state.unknown.items() if row.placeholder}
        earlier, bounds = state.targets_seq or None, TimeBounds.of(product, found, problem.tolerance)
        made = target_set(problem, found, reason=reason, by=by, supersedes=earlier, aim=words, bounds=bounds)
        made = replace(made, work={**made.work, "problem": problem.to_json()})
        if new.framework:
            made = replace(made, work={**made.work, "framework": new.framework})
        journal.append("specs_registered", specs_registered(product, found, old))
        event = journal.append("target_set", made)
    return Retargeting(event, made, render_workspace(workspace))


def _problem(state: WorkspaceState, shapes: Sequence[str]) -> Problem:
    old = state.problem
    if not shapes:
        return old
    return old.with_shapes(shapes)


def _judged_by(problem: Problem, dtype: str, threshold: Fraction | None) -> Problem:
    """Return the problem in another storage type, and with another tolerance."""
    if dtype and problem.own is not None:
        fix = "make another workspace with kb init --problem"
        raise BadInput("the type of a problem outside the list is its own", where="--dtype", fix=fix, code="KB103")
    if dtype:
        problem = Problem.of(problem.op, problem.shapes, dtype, options=dict(problem.options))
    if threshold is None:
        return problem
    stated = replace(problem.tolerance, rel_l2_err=threshold, reason="relative error given by the user")
    return replace(problem, tolerance=stated)


def _check_framework(state: WorkspaceState, framework: str) -> None:
    vendors = vendors_of(framework) if framework else ()
    if vendors and state.task.vendor not in vendors:
        what = f"{framework} builds for {' and '.join(vendors)}, and {state.created.platform} is {state.task.vendor}'s"
        raise BadInput(what, where="--framework", fix="name another language", code="KB103")


def _aims(state: WorkspaceState, factor: Fraction | None, aim: str | None) -> tuple[Fraction, str]:
    """Return share and performance target from here on; what is given replaces what was there."""
    if factor is not None:
        return factor, ""
    words = aim_in_force(state) if aim is None else aim
    if parse_performance_target(words) is not None:
        return TARGET_FACTOR, words
    return (TARGET_FACTOR if aim is not None else factor_in_force(state)), ""
