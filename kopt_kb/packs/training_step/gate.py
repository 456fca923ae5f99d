"""Rule 11 as a gate: a change is refused whose gain no training step keeps."""

from __future__ import annotations

from collections.abc import Mapping

from kopt_kb.packs.training_step.buckets import Bucket, bucket_of
from kopt_kb.packs.training_step.transfer import count_steps
from kopt_kb.tuning.decision import GateResult
from kopt_kb.tuning.gates import GateContext

__all__ = ["transfer_gate"]


def transfer_gate(context: GateContext) -> tuple[GateResult, tuple[str, ...]]:
    """Return the gate's word, which rests on no run: a new cache of a weight has to pass eight counted steps."""
    current = context.current
    stated = current.hypothesis if current is not None else None
    if current is None or not current.number or stated is None:
        return GateResult(_NAME, "pass"), ()
    if current.proposal is not None and current.proposal.confirms:
        return GateResult(_NAME, "pass"), ()
    old, new = context.files()
    bucket = bucket_of(old, new, category=stated.category, claim=stated.claim, expected=stated.expected)
    if reason := _refusal(bucket, new):
        return GateResult(_NAME, "fail", f"Rule 11, {bucket.word}: {reason}"[:400]), ()
    return GateResult(_NAME, "pass", bucket.word), ()


_NAME = "training_step.transfer"


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
