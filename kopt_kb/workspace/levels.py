"""On what a gain rests, in the words that stand beside it wherever it is said."""

from __future__ import annotations

from collections.abc import Iterable

from kopt_kb.launch.candidate.answers import LEVELS, Trust
from kopt_kb.workspace.rounds import Round
from kopt_kb.workspace.state import WorkspaceState

__all__ = ["level_words", "round_words"]

_WORDS: dict[Trust, str] = {
    "replayed": "times replayed",
    "isolated": "times of an isolated process",
    "reported": "times reported by the measured side",
    "unstated": "trust of the times unstated",
}


def level_words(state: WorkspaceState, levels: Iterable[Trust]) -> str:
    """Return on what a gain rests whose times have these levels, the lowest of them.

    A project's own benchmark says its times, whatever a record calls them; whether its results were compared is said
    of one whose file has `outputs`.
    """
    if state.simulated:
        return "simulated times"
    if state.task.project is not None:
        compared = "compared with the reference" if state.task.project.compares else "not compared"
        return f"times reported by the project, results {compared}"
    return _WORDS[min(levels, key=LEVELS.index, default="unstated")]


def round_words(state: WorkspaceState, attempt: Round) -> str:
    """Return on what the gain of a round rests: the times of its own candidate."""
    own = (record.trust for record in attempt.measured.values() if record.candidate == attempt.name)
    return level_words(state, own)
