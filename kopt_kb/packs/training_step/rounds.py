"""Rule 11 on the rounds of a workspace: what each change is, and what of its gain a training step keeps."""

from __future__ import annotations

from collections.abc import Callable

from kopt_kb.base.errors import KoptError
from kopt_kb.packs.training_step.attribution import (
    Attribution,
    CheckedRound,
    attribution,
    decision_word,
    real_gain_pct,
)
from kopt_kb.packs.training_step.buckets import Bucket, BucketFinding, bucket_of
from kopt_kb.problem.skew import is_skewed
from kopt_kb.workspace.journal.blobs import BlobReader
from kopt_kb.workspace.rounds import Round
from kopt_kb.workspace.state import WorkspaceState

__all__ = ["attributed", "bucket_of_round", "checked_round", "skew_words", "unchecked"]


def bucket_of_round(state: WorkspaceState, attempt: Round, blob: BlobReader) -> Bucket | None:
    """Return what a round changes; None for the baseline, a confirmation, and where no candidate is at hand."""
    submitted, stated = attempt.submitted.get(attempt.name), attempt.hypothesis
    if submitted is None or stated is None or attempt.is_baseline or (attempt.proposal and attempt.proposal.confirms):
        return None
    try:
        old, new = (state.files_of(blob(sha)) for sha in (attempt.incumbent, submitted.blob))
    except KoptError:
        return None
    bucket = bucket_of(old, new, category=stated.category, claim=stated.claim, expected=stated.expected)
    if skew_words(state).startswith("uniform"):
        even = BucketFinding(0, "uniform-only: no shape has uneven experts")
        return Bucket(bucket.word, bucket.why, bucket.caches, (*bucket.findings, even), bucket.bound_pct)
    return bucket


def skew_words(state: WorkspaceState) -> str:
    """Return how far a grouped product is measured with uneven experts; empty for other operations."""
    if state.problem.op != "grouped_gemm" or state.campaign is None:
        return ""
    named = state.campaign.policy.get("skewed_shapes")
    if isinstance(named, list | tuple) and named:
        return f"holds under skew: a gain on {', '.join(map(str, named))}"
    if state.task.project is not None:
        return "uniform-only"
    groups = dict(state.problem.options).get("groups")
    if isinstance(groups, list | tuple) and groups and not is_skewed(tuple(int(str(one)) for one in groups)):
        return "uniform-only"
    return "holds under skew: every shape has one expert with half of the rows and one without any"


def checked_round(attempt: Round, bucket: Bucket, gain_pct: float | None) -> CheckedRound:
    """Return the transfer check of a round."""
    gain = gain_pct or 0.0
    real = real_gain_pct(bucket.word, gain, bucket.bound_pct, forbidden=bucket.forbidden)
    word = decision_word(bucket.word, forbidden=bucket.forbidden)
    return CheckedRound(attempt.number, bucket.word, gain, real, word)


def _kept(state: WorkspaceState) -> list[Round]:
    """Return the accepted rounds that changed something: the baseline did not, nor does a confirmation."""
    kept = [one for one in state.rounds if one.accepted and not one.is_baseline and one.refuted_by is None]
    return [one for one in kept if one.proposal is None or not one.proposal.confirms]


def unchecked(state: WorkspaceState, blob: BlobReader) -> tuple[str, ...]:
    """Return why a report can't be published: accepted rounds without a check, or with a change that may not be."""
    found = []
    for one in _kept(state):
        bucket = bucket_of_round(state, one, blob)
        if bucket is None:
            found.append(f"{one.name} has no transfer check")
        elif bucket.forbidden:
            why = bucket.findings[0].what if bucket.findings else bucket.why
            found.append(f"{one.name} is REJECT-as-overfit ({why}): roll it back first")
    return tuple(found)


def attributed(
    state: WorkspaceState, blob: BlobReader, gain_of: Callable[[Round], float | None], headline_pct: float | None
) -> tuple[Attribution, tuple[CheckedRound, ...]] | None:
    """Return what a campaign's gain is made of; None without an accepted round, or where one has no check."""
    rounds = []
    for one in _kept(state):
        bucket = bucket_of_round(state, one, blob)
        if bucket is None:
            return None
        rounds.append(checked_round(one, bucket, gain_of(one)))
    if not rounds or headline_pct is None:
        return None
    return attribution(headline_pct, rounds), tuple(rounds)
