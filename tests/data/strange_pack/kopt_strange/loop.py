"""A policy that stops for a reason of the pack and asks for a gate of the pack, and the words of both in views."""

from __future__ import annotations

from dataclasses import replace

from kopt_kb.doors.loop_part import GainTip
from kopt_kb.tuning.decision import GateResult
from kopt_kb.tuning.gates import GateContext
from kopt_kb.tuning.policy import Policy, default_policy
from kopt_kb.workspace.journal.blobs import BlobReader
from kopt_kb.workspace.rounds import Round
from kopt_kb.workspace.state import WorkspaceState

__all__ = ["dreams", "kept_tips", "log_lines", "report_lines", "rested", "tip", "tired", "unpublished"]


def dreams() -> Policy:
    """Return a policy with a gate and a stop reason of the pack."""
    usual = default_policy()
    return replace(
        usual, name="dreams", source="a test", max_rounds=9, required_gates=(*usual.required_gates, "strange.rested"),
        stop_reasons=("strange.tired", "budget", "user", "exhausted", "aborted"),
    )  # fmt: skip


def rested(context: GateContext) -> tuple[GateResult, tuple[str, ...]]:
    """Refuse the candidate of round 1."""
    number = context.current.number if context.current is not None else 0
    return GateResult("rested", "fail" if number == 1 else "pass", "tired of it" if number == 1 else ""), ()


def tired(state: WorkspaceState, policy: Policy) -> tuple[int, ...]:
    """End a campaign after three rounds, or after one where the workspace dreamt."""
    dreamt = tuple(state.pack_events("strange"))
    if policy.name != "dreams" or len(state.rounds) <= (1 if dreamt else 3):
        return ()
    return (*dreamt, state.rounds[-1].decided_seq)


def unpublished(state: WorkspaceState, _: BlobReader) -> tuple[str, ...]:
    """Refuse reports of campaigns without a candidate."""
    return ("nobody slept",) if len(state.rounds) < 2 else ()


def tip(_state: WorkspaceState, attempt: Round, _blob: BlobReader) -> GainTip | None:
    """Refuse round 1."""
    return GainTip(refused="nobody sleeps there") if attempt.number == 1 else GainTip(words="worth a nap")


def kept_tips(text: str) -> str:
    """Return a text without what the gate refuses."""
    return text.replace("- never sleep\n", "")


def report_lines(_: WorkspaceState, attempt: Round, __: BlobReader) -> list[str]:
    """Return what the summary of a round says."""
    return [f"slept through round {attempt.number}", ""]


def log_lines(state: WorkspaceState, _: BlobReader) -> list[str]:
    """Return what the log of a campaign says."""
    return [f"slept through {len(state.rounds)} rounds", ""]
