"""Claims about the words beside a gain: every one says on what its times rest, a project's whether results were compared."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kopt_kb.launch.candidate.answers import Trust
from kopt_kb.workspace.levels import level_words
from kopt_kb.workspace.route import RecordedProject
from kopt_kb.workspace.workspace import Workspace


@pytest.mark.parametrize(
    ("levels", "words"),
    [
        ({"replayed"}, "times replayed"),
        ({"replayed", "isolated"}, "times of an isolated process"),
        ({"replayed", "reported"}, "times reported by the measured side"),
        (set(), "trust of the times unstated"),
    ],
)
def test_the_lowest_level_counts(levels: set[Trust], words: str, workspace: Workspace) -> None:
    """Of a kernel file."""
    assert level_words(workspace.state(), levels) == words


def test_a_project_reports(workspace: Workspace) -> None:
    """Whatever its records are called; journals of before did not say whether anything was compared."""
    state = workspace.state()

    def of(*compares: bool) -> str:
        project = RecordedProject("project.toml", "/p", "0" * 64, *compares)
        return level_words(replace(state, task=replace(state.task, project=project)), {"replayed"})

    assert of() == of(False) == "times reported by the project, results not compared"
    assert of(True) == "times reported by the project, results compared with the reference"
