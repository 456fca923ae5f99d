"""What a launcher's run is asked and answers."""

from __future__ import annotations

import pytest

from kopt_kb.base.wire import plain
from kopt_kb.launch.candidate.answers import read_answer
from kopt_kb.launch.candidate.launcher_run import (
    DID_ONCE,
    LauncherContent,
    LauncherRun,
    LauncherTime,
    LauncherWord,
    launcher_says,
)


def test_an_answer_is_read_as_it_was_written() -> None:
    """With contents, launches and times."""
    content, time = LauncherContent("4x8", "random", 7, is_new=True), LauncherTime(2e-5, 1e-5, 3e-5, 1e-5, 2e-5)
    found = LauncherRun("confirmed", device="d", contents=(content,), launches={"4x8": 1}, times={"4x8": time})
    assert read_answer("launcher", plain(found)) == found


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("confirmed", f"launcher: confirmed: it {DID_ONCE}"),
        ("simulated", "launcher: simulated: its results alone, on Triton's interpreter"),
        ("no", "launcher: no"),
        ("", "launcher: no, recorded before"),
    ],
)
def test_reports_say_no_more_than_was_seen(word: LauncherWord, said: str) -> None:
    """A campaign that was recorded before anybody asked has no launcher that was seen."""
    assert launcher_says(word) == said
