"""Tips: what decided rounds taught, added to the file of earlier experience once each, and read without over-fits."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from kopt_kb.errors import BadInput
from kopt_kb.tuning.versions import gain_pct
from kopt_kb.workspace.rounds import Round
from kopt_kb.workspace.state import WorkspaceState
from kopt_kb.workspace.transfer import bucket_of_round, checked_round

__all__ = ["add_tips", "praised_overfits", "tip_of", "without_overfits"]

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


def tip_of(state: WorkspaceState, attempt: Round, blob: Callable[[str], bytes]) -> str:
    """Return what a round teaches in one line; empty for one that teaches nothing: unverified, open, a confirmation."""
    stated, decided = attempt.hypothesis, attempt.decided
    bucket = bucket_of_round(state, attempt, blob)
    if stated is None or decided is None or bucket is None or decided.decision == "unverified" or state.named is None:
        return ""
    gain = gain_pct(attempt)
    checked = checked_round(attempt, bucket, gain)
    claim = " ".join(stated.claim.split())
    name = f"({state.named.name} {attempt.name})"
    if checked.decision == "REJECT-as-overfit":
        return f"- anti-pattern, benchmark over-fit, do not retry: {claim}; {bucket.word} {name}"
    shown = f"{gain:+.2f} %" if gain is not None else "not timed"
    kept = attempt.accepted and attempt.refuted_by is None
    if kept and checked.bucket == "W1":
        shown = f"bounded by {bucket.bound_pct:g} % of a step"
    return f"- {'worked' if kept else 'did not work'}: {stated.category}: {claim}; {shown}, {decided.rule} {name}"


def add_tips(state: WorkspaceState, blob: Callable[[str], bytes]) -> int:
    """Add the tips of decided rounds to the campaign's file, folders included; return how many were new.

    Raises:
        BadInput: The file can't be read or written.
    """
    if state.named is None or not state.named.tips:
        return 0
    path = Path(state.named.tips)
    try:
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        known = set(re.findall(r"\(\S+ v\d+\)", text))
        tips = [tip_of(state, one, blob) for one in state.rounds]
        new = [tip for tip in tips if tip and tip[tip.rindex("(") :] not in known]
        if not new:
            return 0
        head = "" if text else f"# {state.named.op}, {state.named.backend}, {state.task.target}\n\n"
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(head + ("" if text.endswith("\n") or not text else "\n") + "\n".join(new) + "\n")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise BadInput(
            f"tips can't be written: {why}", where=str(path), fix="name another folder", code="KB112"
        ) from error
    return len(new)
