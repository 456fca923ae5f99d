"""What is known when a hypothesis is wanted: verdict, gaps, counts, roofs, limits, categories, pages, references."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, ClassVar

from kopt_kb.analysis.frameworks import framework_named
from kopt_kb.analysis.gap.document import Gap
from kopt_kb.analysis.roofline.recorded import RecordedRoofline, RoofUse, roof_uses
from kopt_kb.analysis.rules.categories import CategoryRow, ranked_categories
from kopt_kb.analysis.rules.table import LIMITERS
from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import JsonMap, Wire
from kopt_kb.tuning.references import ReferenceText, references_of
from kopt_kb.tuning.stops import representative
from kopt_kb.wiki.places import PageToRead
from kopt_kb.workspace.journal.direction_events import ReviewHeld
from kopt_kb.workspace.journal.setup_events import ProfileRead, ReachableMeasured, SpecRow
from kopt_kb.workspace.ledger import LedgerEntry
from kopt_kb.workspace.state import WorkspaceState

if TYPE_CHECKING:
    from kopt_kb.wiki.registry import Platform

__all__ = ["Profiled", "ProposerKnowledge", "ShapeKnown", "known_of", "limiters_of"]

_BY_BOUND = {"memory": "dram", "compute": "compute", "balanced": "balanced", "mixed": "dram"}
"""What limits a kernel as far as its roofline alone tells."""
_LIMITS = re.compile(r"shared_memory|registers|threads_per|warps_per|blocks_per_sm|sm_count|capacity|register_granule")


@dataclass(frozen=True, slots=True)
class Profiled(Wire):
    """The profile in force: of the very bytes of the best version.

    Attributes:
        event: Its event in the journal.
        tool: What recorded it.
        report: Blob of the report.
        name: Its name in profiles/; empty: it has none.
        code: Class and limiter.
        kernels: A kernel each: verdict with evidence and others, and the metrics behind it; the longest first.
    """

    event: int
    tool: str
    report: str
    name: str
    code: str
    kernels: tuple[JsonMap, ...]


@dataclass(frozen=True, slots=True)
class ShapeKnown(Wire):
    """One shape under its roofs.

    Attributes:
        roofline: Counted work, roofs with citations, bound and target.
        median_s: Time of the best version; None before one was measured, or simulated.
        uses: What that time achieves under each roof.
        reachable: What the machine in force was seen to reach; None where nobody measured it.
    """

    WIRE: ClassVar = ("shape=roofline.shape", "median_s", "uses", "reachable", "roofline")
    roofline: RecordedRoofline
    median_s: float | None
    uses: tuple[RoofUse, ...]
    reachable: ReachableMeasured | None


@dataclass(frozen=True, slots=True)
class ProposerKnowledge(Wire):
    """What a proposer may build on besides the kernel's text.

    Attributes:
        profile: The profile in force; None without one of the best version.
        limiters: What limits it, the first first: by the verdict, else by the roofline.
        limiter_basis: What the first limiter rests on.
        categories: Kinds of change those limiters ask for, in order, each with its row and the advice it quotes.
        gaps: Where the best version's time above its roofs goes, one a shape.
        under_roofs: Work, roofs, targets and times by shape.
        isa: Targets of the compiled code and what the best version's code holds.
        limits: Sourced limits of the part.
        pages: What to read, in order.
        references: Where the reference project speaks of this.
        review: The review that was held before this round; None without one.
        ledger: What became of each opportunity of the best version, the largest first.
    """

    profile: Profiled | None = None
    limiters: tuple[str, ...] = ()
    limiter_basis: str = ""
    categories: tuple[CategoryRow, ...] = ()
    gaps: tuple[Gap, ...] = ()
    under_roofs: tuple[ShapeKnown, ...] = ()
    isa: tuple[JsonMap, ...] = ()
    limits: tuple[SpecRow, ...] = ()
    pages: tuple[PageToRead, ...] = ()
    references: tuple[ReferenceText, ...] = ()
    review: ReviewHeld | None = None
    ledger: tuple[LedgerEntry, ...] = ()

    def order(self, categories: tuple[str, ...]) -> tuple[str, ...]:
        """Return these categories in the order in which they are to be tried."""
        first = [one.category for one in self.categories if one.category in categories]
        return tuple(dict.fromkeys((*first, *categories)))


def known_of(state: WorkspaceState, platform: Platform | None = None) -> ProposerKnowledge:
    """Return what is known of a state.

    Args:
        state: The campaign.
        platform: Its product, whose wiki holds the pages; None leaves them out.

    Raises:
        BadInput: A page of the wiki that it needs is broken.
    """
    profile = _profiled(state)
    limiters, basis = limiters_of(state)
    best, project = state.best, state.task.reference_project
    scans = best.scans if best is not None else ()
    return ProposerKnowledge(
        profile=profile,
        limiters=limiters,
        limiter_basis=basis,
        categories=ranked_categories(limiters),
        gaps=tuple(state.gaps_of(best).values()) if best is not None else (),
        under_roofs=_shapes(state),
        isa=scans[-1].evidence if scans else (),
        limits=tuple(row for row in state.specs.values() if _LIMITS.search(row.key)),
        pages=_pages(state, platform),
        review=_review(state),
        ledger=state.ledger_of(best) if best is not None else (),
        references=references_of(project, (state.problem.op, *limiters[:1])) if project else (),
    )


def limiters_of(state: WorkspaceState) -> tuple[tuple[str, ...], str]:
    """Return what limits the best version, the first first, and what that rests on."""
    profile = _profiled(state)
    found: list[str] = []
    for kernel in profile.kernels if profile is not None else ():
        verdict = kernel.get("verdict")
        if isinstance(verdict, Mapping):
            others = verdict.get("others") or ()
            named = (
                [verdict, *(one for one in others if isinstance(one, Mapping))]
                if isinstance(others, list | tuple)
                else [verdict]
            )
            found += [str(one.get("limiter")) for one in named]
    known = tuple(dict.fromkeys(one for one in found if one in LIMITERS and one != "insufficient-data"))
    if known and profile is not None:
        return known, f"{profile.code}, event {profile.event}"
    bound = state.targets.bound if state.targets is not None else "unknown"
    by_bound = _BY_BOUND.get(bound)
    no_limiter = f"{profile.code}, event {profile.event}" if profile is not None else "no profile of the best version"
    return ((by_bound,) if by_bound else ()), f"{no_limiter}; its roofline is {bound}"


def _profiled(state: WorkspaceState) -> Profiled | None:
    found: Mapping[int, ProfileRead] = state.profiles_of(state.best) if state.best is not None else {}
    if not found:
        return None
    event = max(found)
    one = found[event]
    return Profiled(event, one.tool, one.report, one.name, one.code, one.evidence)


def _review(state: WorkspaceState) -> ReviewHeld | None:
    last = state.reviews[max(state.reviews)] if state.reviews else None
    coming = state.rounds[-1].number + 1 if state.rounds else 0
    return last if last is not None and last.round == coming else None


def _shapes(state: WorkspaceState) -> tuple[ShapeKnown, ...]:
    """Return the shapes of the targets; simulated times are never held against roofs."""
    best = state.best
    measured = {} if best is None or state.simulated else representative(best)
    times = {shape: record.median_s for shape, record in measured.items()}
    probed = state.reachable_of(state.environment_seq)
    return tuple(
        ShapeKnown(
            roofline, times.get(roofline.shape),
            roof_uses(roofline, times[roofline.shape]) if roofline.shape in times else (),
            probed.get(roofline.shape),
        )
        for roofline in state.rooflines
    )  # fmt: skip


def _pages(state: WorkspaceState, platform: Platform | None) -> tuple[PageToRead, ...]:
    """Return what `kb route knowledge` says to read for this work; nothing for work its vocabulary does not know."""
    if platform is None:
        return ()
    framework = framework_named(state.task.framework)
    backends = (framework.name.casefold() if framework is not None else "", "")
    for backend in dict.fromkeys(backends):
        found = _stops(platform, state.problem.op, backend)
        if found:
            return found
    return ()


@cache
def _stops(platform: Platform, op: str, backend: str) -> tuple[PageToRead, ...]:
    """Return the reading list; nothing for an operation or language that no page is about."""
    from kopt_kb.wiki.route import reading_list
    from kopt_kb.wiki.search_filters import Filters

    filters = Filters(op=op, backend=backend, arch=platform.identity.target, platform=platform.id)
    try:
        return reading_list(platform.wiki, filters).stops
    except BadInput:
        return ()
