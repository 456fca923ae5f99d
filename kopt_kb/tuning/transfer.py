"""Rule 11 as a part of the lint gate: a change is refused whose gain no training step keeps."""

from __future__ import annotations

from collections.abc import Mapping

from kopt_kb.analysis.transfer.buckets import Bucket, bucket_of
from kopt_kb.runners.transfer import count_steps
from kopt_kb.tuning.decision import GateResult
from kopt_kb.workspace.rounds import Round

__all__ = ["transfer_gate"]


def transfer_gate(old: Mapping[str, str], new: Mapping[str, str], current: Round, lint: GateResult) -> GateResult:
    """Return the lint gate's word with that of Rule 11; a new cache of a weight has to pass eight counted steps.

    Args:
        old: The incumbent's files.
        new: The candidate's.
        current: The round, whose hypothesis says what is claimed.
        lint: What the lint said; a failure stays one.
    """
    stated = current.hypothesis
    confirms = current.proposal is not None and current.proposal.confirms
    if lint.result == "fail" or stated is None or confirms:
        return lint
    bucket = bucket_of(old, new, category=stated.category, claim=stated.claim, expected=stated.expected)
    reason = _refusal(bucket, new)
    if reason:
        return GateResult("lint", "fail", f"Rule 11, {bucket.word}: {reason}"[:400])
    return lint


def _refusal(bucket: Bucket, new: Mapping[str, str]) -> str:
    if bucket.findings:
        return "; ".join(f"line {one.line} {one.what}" for one in bucket.findings[:3])
    if bucket.forbidden:
        return bucket.why
    for use in bucket.caches:
        holders = [path for path, text in new.items() if path.endswith(".py") and use.name in text]
        steps = next((path for path in holders if "def training_step(" in new[path]), next(iter(holders), ""))
        refused = count_steps(new, steps).refusal if steps else "no Python file holds it"
        if refused:
            return f"{use.name}: {refused}"
    return ""
