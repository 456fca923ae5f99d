"""Renders Rule 11: the transfer check of a round's summary, and the audit table of the campaign's log."""

from __future__ import annotations

from kopt_kb.packs.training_step.buckets import Bucket
from kopt_kb.packs.training_step.rounds import attributed, bucket_of_round, checked_round, skew_words, unchecked
from kopt_kb.packs.training_step.trace import paper_trace
from kopt_kb.quantity.statistics import geometric_mean, speedup_pct
from kopt_kb.wiki.tables import table
from kopt_kb.workspace.journal.blobs import BlobReader
from kopt_kb.workspace.rounds import Round
from kopt_kb.workspace.state import WorkspaceState
from kopt_kb.workspace.views.words import bullets, percent

__all__ = ["against", "applicability", "transfer_check"]


_RESIDUE = "The gap is residue of the benchmark's loop; rolling back is recommended."


def against(round_: Round, other: str, base: Round) -> float | None:
    """Return the gain of a round over a version, by their times in one round or in two; in percent."""
    own, before = round_.own_records, base.times(other)
    shapes = sorted(own.keys() & before.keys())
    if not shapes:
        return None
    old = geometric_mean(sorted(before[shape])[(len(before[shape]) - 1) // 2] for shape in shapes)
    return speedup_pct(old, geometric_mean(own[shape].median_s for shape in shapes))


def _gain(state: WorkspaceState, attempt: Round) -> float | None:
    """Return a round's gain over what it started from, timed in the same round."""
    before = next(
        (one for one in reversed(state.rounds) if one.number < attempt.number and one.snapshot is not None
         and one.snapshot.blob == attempt.incumbent), None,
    )  # fmt: skip
    return None if before is None else against(attempt, before.name, attempt)


def transfer_check(state: WorkspaceState, attempt: Round, blob: BlobReader) -> list[str]:
    """Return the section of a round's summary; nothing for the baseline."""
    bucket = bucket_of_round(state, attempt, blob)
    if bucket is None:
        return []
    checked = checked_round(attempt, bucket, _gain(state, attempt))
    keys = "; ".join(f"{one.name}: {', '.join(part.text for part in one.key)}" for one in bucket.caches)
    lines = [
        f"Bucket: {bucket.word} ({bucket.why})", f"Cache key: {keys or 'no cache'}", f"id(...) audit: {_audit(bucket)}",
        f"4-step trace hit rate: {_trace(bucket)}",
    ]  # fmt: skip
    skew = skew_words(state)
    lines += (
        [f"Workload distribution robustness: {skew}{' - REJECTED' if skew == 'uniform-only' else ''}"] if skew else []
    )
    lines += [
        f"Benchmark gain: {percent(checked.gain_pct)}",
        f"Estimated real-training gain: {percent(checked.real_pct)} ({_derived(bucket)})",
        f"Decision: {checked.decision}",
    ]
    return ["## Real-training transfer check", "", *bullets(lines)]


def _audit(bucket: Bucket) -> str:
    if bucket.findings:
        return "; ".join(f"line {one.line}: {one.what}" if one.line else one.what for one in bucket.findings)
    return "stable: weight identity with its version" if bucket.caches else "nothing is keyed on a tensor's identity"


def _trace(bucket: Bucket) -> str:
    traces = [paper_trace(one) for one in bucket.caches]
    return "; ".join(f"{one.hits}/{one.lookups}" for one in traces) or "no cache"


def _derived(bucket: Bucket) -> str:
    if bucket.forbidden:
        return "nothing of it is found again in a training step"
    if bucket.word == "W1":
        return f"within the bound of {bucket.bound_pct:g} %, saved calls × time / step time"
    return f"{bucket.word} counts in full"


def applicability(state: WorkspaceState, blob: BlobReader) -> list[str]:
    """Return the audit of a campaign that has ended."""
    refused = unchecked(state, blob)
    if refused:
        return ["## Final Report", "", *bullets(["refused: nothing is published before this is mended", *refused])]
    best, first = state.best, state.first
    headline = (
        against(best, first.name, first) if best is not None and first is not None and best is not first else None
    )
    found = attributed(state, blob, lambda one: _gain(state, one), headline)
    if found is None:
        return ["## Final Report", "", *bullets(["no round was accepted: there is no gain to attribute"])]
    made, rounds = found
    rows = [(f"v{one.round}", one.bucket, percent(one.gain_pct), percent(one.real_pct), one.decision) for one in rounds]
    return [
        "## Final Report", "", "### Real-training applicability audit", "",
        *table(["Version", "Bucket", "Benchmark gain", "Real-training gain", "Decision"], rows),
        *bullets(
            [
                f"S_real (K1 to K4): {percent(made.s_real_pct)}",
                f"W_real (W1, within its bound): {percent(made.w_real_pct)}",
                f"R_real: {percent(made.r_real_pct)}", f"headline, best against baseline: {percent(made.headline_pct)}",
                f"real-training equivalent: {percent(made.real_pct)}",
                f"inflation gap: {percent(made.inflation_pct)}: {made.verdict}",
            ]
        ),
        *([_RESIDUE, ""] if made.verdict != "clean" else []),
    ]  # fmt: skip
