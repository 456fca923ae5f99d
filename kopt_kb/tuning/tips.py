"""Tips: what decided rounds taught, added to the file of earlier experience once each, and what is read of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from kopt_kb.base.errors import BadInput
from kopt_kb.doors.loop_part import GainTip
from kopt_kb.tuning.versions import gain_pct
from kopt_kb.workspace.gains import gain_checks
from kopt_kb.workspace.levels import round_words
from kopt_kb.workspace.rounds import Round
from kopt_kb.workspace.state import WorkspaceState

__all__ = ["add_tips", "kept_tips", "tip_of"]


def kept_tips(state: WorkspaceState, text: str) -> str:
    """Return tips without the lines that a gate of the policy would refuse."""
    for check in gain_checks(state):
        text = check.kept_tips(text)
    return text


def tip_of(state: WorkspaceState, attempt: Round, blob: Callable[[str], bytes]) -> str:
    """Return what a round teaches in one line; empty for one that teaches nothing: unverified, open, a confirmation."""
    stated, decided, named = attempt.hypothesis, attempt.decided, state.named
    confirms = attempt.proposal is not None and bool(attempt.proposal.confirms)
    if stated is None or decided is None or attempt.is_baseline or confirms or attempt.name not in attempt.submitted:
        return ""
    if decided.decision == "unverified" or named is None:
        return ""
    told = next(
        (tip for check in gain_checks(state) if (tip := check.tip(state, attempt, blob)) is not None), GainTip()
    )
    claim = " ".join(stated.claim.split())
    name = f"({named.name} {attempt.name})"
    if told.refused:
        return f"- anti-pattern, do not retry: {claim}; {told.refused} {name}"
    gain = gain_pct(attempt)
    shown = told.words or (f"{gain:+.2f} %" if gain is not None else "not timed")
    shown += f" ({round_words(state, attempt)})" if gain is not None else ""
    kept = attempt.accepted and attempt.refuted_by is None
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
