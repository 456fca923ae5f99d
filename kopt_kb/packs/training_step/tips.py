"""Tips of campaigns that hold gains to a training step: none praises what no step keeps."""

from __future__ import annotations

import re

from kopt_kb.doors.loop_part import GainTip
from kopt_kb.packs.training_step.rounds import bucket_of_round, checked_round
from kopt_kb.tuning.versions import gain_pct
from kopt_kb.workspace.journal.blobs import BlobReader
from kopt_kb.workspace.rounds import Round
from kopt_kb.workspace.state import WorkspaceState

__all__ = ["praised_overfits", "tip_of_gain", "without_overfits"]

_OVERFIT = re.compile(
    r"\bid\(\s*(?:a|x|activation\w*|grad\w*|dy|\w*scale)\s*\)|weakref\.ref\(|lru_cache"
    r"|fixed M_per_group|constant M_per_group",
    re.IGNORECASE,
)
_WARNS = re.compile(r"over-?fit|do not retry|anti-pattern|never|refused", re.IGNORECASE)


def praised_overfits(text: str) -> tuple[int, ...]:
    """Return the lines that offer as useful what no training step keeps; those that warn of it are none."""
    lines = enumerate(text.splitlines(), 1)
    return tuple(number for number, line in lines if _OVERFIT.search(line) and not _WARNS.search(line))


def without_overfits(text: str) -> str:
    """Return tips without the lines that praise an over-fit."""
    praised = set(praised_overfits(text))
    if not praised:
        return text
    return "\n".join(line for number, line in enumerate(text.splitlines(), 1) if number not in praised) + "\n"


def tip_of_gain(state: WorkspaceState, attempt: Round, blob: BlobReader) -> GainTip | None:
    """Return what a round's tip says: an over-fit is an anti-pattern, a cache of a weight is worth its bound."""
    bucket = bucket_of_round(state, attempt, blob)
    if bucket is None:
        return None
    checked = checked_round(attempt, bucket, gain_pct(attempt))
    if checked.decision == "REJECT-as-overfit":
        return GainTip(refused=f"a benchmark over-fit, {bucket.word}")
    kept = attempt.accepted and attempt.refuted_by is None
    return GainTip(words=f"bounded by {bucket.bound_pct:g} % of a step") if kept and checked.bucket == "W1" else None
