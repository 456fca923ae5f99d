"""What follows from what is known: the category that is chosen, the review after rollbacks, opportunities."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from kopt_kb.analysis.gap.causes import UNEXPLAINED, CauseName
from kopt_kb.analysis.gap.document import Gap, GapPart
from kopt_kb.analysis.rules.categories import CategoryRow, ranked_categories
from kopt_kb.analysis.rules.table import CLASSES
from kopt_kb.tuning.known import known_of, limiters_of
from kopt_kb.tuning.policy import Policy
from kopt_kb.tuning.stops import rollbacks_in_a_row, stagnant_categories
from kopt_kb.workspace.journal.direction_events import CategoryChosen, Direction, Opportunity, ReviewHeld
from kopt_kb.workspace.ledger import LedgerEntry
from kopt_kb.workspace.rounds import Round
from kopt_kb.workspace.state import WorkspaceState

if TYPE_CHECKING:
    from kopt_kb.wiki.registry import Platform

__all__ = ["choice_of", "open_entries", "opportunities", "review_due", "review_of", "taken_up"]

_DIRECTIONS = 3
_REFERENCES, _FILES = 8, 3
_SMALL_PCT = 1.0
"""Parts of a gap below this share of the time are nobody's opportunity."""

_LIMITER_OF: Mapping[CauseName, str] = {
    "tile": "tail", "extra-bytes": "dram", "instructions": "issue", "launch": "launch-overhead", "tail": "tail",
    "imbalance": "imbalance", "latency": "dependency",
}  # fmt: skip
"""Cause of a gap → limiter whose row of the table says what to do about it."""
_LEVEL = {"dram": "dram", "l2": "l2", "l1": "l1", "shared": "shared"}
_INFEASIBLE: Mapping[CauseName, str] = {
    "clock": "no kernel raises the clock; locking it or more power would",
    "reach": "the best measurement of this footprint stands there too",
}


def choice_of(state: WorkspaceState, number: int, category: str) -> CategoryChosen:
    """Return why a round's hypothesis is of its category: what limits, on what that rests, what the table says."""
    limiters, basis = limiters_of(state)
    rows = ranked_categories(limiters)
    row = next((one for one in rows if one.category == category), None)
    limits = f"{limiters[0]} limits ({basis})" if limiters else f"nothing is known to limit ({basis})"
    if row is not None:
        said = f"{row.limiter} asks for {category}: {row.quote} ({row.advice}, {row.citation})"
        return CategoryChosen(number, category, row.limiter, row.citation, f"{limits}; {said}")
    first = rows[0] if rows else None
    said = "the table has no row" if first is None else f"the table says {first.category} first ({first.citation})"
    return CategoryChosen(number, category, "", "", f"{limits}; the proposer chose {category}, {said}")


def review_due(state: WorkspaceState, policy: Policy) -> tuple[Round, ...]:
    """Return the rounds rolled back since the last review or accepted version; empty while they are too few."""
    baseline = state.baseline
    decided = [one for one in state.rounds if one is not baseline and one.decided is not None]
    rolled = decided[len(decided) - rollbacks_in_a_row(decided) :]
    last = max(state.reviews, default=0)
    fresh = tuple(one for one in rolled if one.decided_seq > last)
    return fresh if len(fresh) >= policy.review_rollbacks else ()


def review_of(state: WorkspaceState, policy: Policy, platform: Platform | None) -> ReviewHeld:
    """Return the review before the next round: versions, the profile in force, three directions, what to read."""
    known, avoid = known_of(state, platform), stagnant_categories(state, policy)
    directions = _rows(known.categories, avoid)
    parts = sorted((part for gap in known.gaps for part in gap.parts), key=lambda one: -one.seconds)
    directions += [one for part in parts if (one := _of_cause(part, avoid)) is not None]
    # What limits asks for nothing more: what waiting asks for, which any kernel may do, first what no round has tried.
    tried = {one.hypothesis.category for one in state.rounds if one.hypothesis is not None}
    listed = {one.category for one in directions}
    others = _rows(ranked_categories(CLASSES["latency-bound"]), {*avoid, *listed})
    directions += sorted(others, key=lambda one: one.category in tried)
    files = [f"{one.path}:{one.line}" for one in known.references][:_FILES]
    references = [*files, *(one.path for one in known.pages)]
    rolled = review_due(state, policy)
    return ReviewHeld(
        state.rounds[-1].number + 1,
        tuple(one.number for one in rolled),
        known.profile.event if known.profile is not None else None,
        tuple(directions[:_DIRECTIONS]),
        tuple(dict.fromkeys(references))[:_REFERENCES],
    )


def _of_cause(part: GapPart, avoid: Container[str]) -> Direction | None:
    """Return what a part of a gap asks for; None for what no kernel moves, nobody explains or has stagnated."""
    if part.cause == UNEXPLAINED or part.cause in _INFEASIBLE:
        return None
    rows = ranked_categories((limiter,)) if (limiter := _limiter(part)) else ()
    row = next((one for one in rows if one.category not in avoid), None)
    if rows and row is None:
        return None
    category, source = (row.category, f"gap_accounted, {row.advice}, {row.citation}") if row else ("", "gap_accounted")
    return Direction(category, str(part)[:300], source)


def _limiter(part: GapPart) -> str:
    return _LEVEL.get(part.level) or _LIMITER_OF.get(part.cause, "")


def _rows(rows: Iterable[CategoryRow], avoid: Container[str]) -> list[Direction]:
    """Return the rows of the table as directions, without those of some categories."""
    return [
        Direction(row.category, row.quote, f"{row.advice}, {row.citation}") for row in rows if row.category not in avoid
    ]


def opportunities(state: WorkspaceState) -> tuple[Opportunity, ...]:
    """Return what the best version's verdict and gaps list and the ledger does not have yet."""
    best = state.best
    if best is None:
        return ()
    known = {one.opportunity.id for one in state.ledger_of(best)}
    found = (*_of_verdict(state, best), *_of_gaps(state, best))
    return tuple(one for one in found if one.id not in known)


def _of_verdict(state: WorkspaceState, best: Round) -> Iterator[Opportunity]:
    """Yield the limiters of the profile in force, the primary one first, each with what its removal is worth."""
    profiles = state.profiles_of(best)
    seq = max(profiles, default=0)
    seen: set[str] = set()
    for kernel in profiles[seq].evidence if seq else ():
        verdict = kernel.get("verdict")
        if not isinstance(verdict, Mapping):
            continue
        others, worth = verdict.get("others"), verdict.get("worth")
        named = [verdict, *(others if isinstance(others, list | tuple) else ())]
        for finding in named:
            limiter = str(finding.get("limiter")) if isinstance(finding, Mapping) else ""
            rows = ranked_categories((limiter,))
            if not rows or limiter in seen:
                continue
            seen.add(limiter)
            value = worth.get(limiter) if isinstance(worth, Mapping) else None
            share = value.get("time_pct") if isinstance(value, Mapping) else None
            text = f"{limiter} limits: {rows[0].quote} ({rows[0].advice})"
            share_pct = float(share) if isinstance(share, int | float) else None
            name = f"{best.name}:verdict:{limiter}"
            if limiter == "dram" and (lean := _lean(state, best)):
                why = "counters found no more bytes of device memory than the problem has"
                yield Opportunity(name, best.number, text, (), share_pct, "infeasible", None, why, (seq, *lean))
                continue
            categories = tuple(row.category for row in rows)
            yield Opportunity(name, best.number, text, categories, share_pct, "untried", None, "", (seq,))


def _lean(state: WorkspaceState, best: Round) -> tuple[int, ...]:
    """Return the accounts by a profile of what device memory limits, if none has bytes to spare; else nothing."""
    by_profile = {seq: one.gap for seq, one in state.gaps.items() if one.version == best.number and one.profiles}
    spare = [
        part
        for gap in by_profile.values()
        for part in gap.parts
        if (part.cause, part.level) == ("extra-bytes", "dram") and part.time_pct >= _SMALL_PCT
    ]
    is_dram = all(gap.roof == "dram" for gap in by_profile.values())
    return () if spare or not is_dram else tuple(by_profile)


def _of_gaps(state: WorkspaceState, best: Round) -> Iterator[Opportunity]:
    """Yield the parts of the gaps: those a kernel can't move are infeasible, those nobody explains say so."""
    for seq, event in state.gaps.items():
        if event.version != best.number:
            continue
        for part in event.gap.parts:
            if part.time_pct >= _SMALL_PCT:
                yield _of_part(best, seq, event.gap, part)


def _of_part(best: Round, seq: int, gap: Gap, part: GapPart) -> Opportunity:
    name = ":".join(filter(None, (best.name, "gap", gap.name, part.cause, part.level)))
    rows = ranked_categories((limiter,)) if (limiter := _limiter(part)) else ()
    text = f"{gap.name}: {part.words}"
    if part.cause == UNEXPLAINED:
        more = f"; {gap.record[0]}" if gap.record else ""
        return Opportunity(name, best.number, f"{text}{more}", (), part.time_pct, "unexplained", None, "", (seq,))
    if part.cause in _INFEASIBLE:
        return Opportunity(
            name, best.number, text, (), part.time_pct, "infeasible", None, _INFEASIBLE[part.cause], (seq,)
        )
    said = f": {rows[0].quote} ({rows[0].advice})" if rows else ""
    categories = tuple(row.category for row in rows)
    return Opportunity(name, best.number, f"{text}{said}", categories, part.time_pct, "untried", None, "", (seq,))


def open_entries(state: WorkspaceState) -> tuple[LedgerEntry, ...]:
    """Return the opportunities of the best version that nobody closed or dismissed."""
    return tuple(one for one in state.ledger_of(state.best) if one.is_open) if state.best is not None else ()


def taken_up(state: WorkspaceState, number: int, category: str, evidence: int) -> Iterator[Opportunity]:
    """Yield the untried opportunities of the best version that a round's category takes up."""
    best = state.best
    for entry in state.ledger_of(best) if best is not None else ():
        one = entry.opportunity
        if entry.state == "untried" and category in one.categories:
            own = (one.id, one.version, one.text, one.categories, one.share_pct)
            yield Opportunity(*own, "hypothesis", number, "", (*one.evidence, evidence))
