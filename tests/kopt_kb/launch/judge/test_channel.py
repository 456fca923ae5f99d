"""A child over lines: answers, silence, noise, death."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from kopt_kb.base.errors import KoptError
from kopt_kb.launch.judge.channel import ChildEndedError, ProcessChannel
from kopt_kb.launch.record.exchange import Close, Opened

ECHO = "import sys\nfor line in sys.stdin:\n    "


@pytest.fixture
def started() -> Iterator[list[ProcessChannel]]:
    """Channels to be ended."""
    made: list[ProcessChannel] = []
    yield made
    for one in made:
        one.end()


def _channel(started: list[ProcessChannel], body: str) -> ProcessChannel:
    started.append(ProcessChannel((sys.executable, "-c", ECHO + body), "child", {"A": "1"}))
    return started[-1]


def test_a_question_and_its_answer(started: list[ProcessChannel]) -> None:
    """As types; twice."""
    channel = _channel(started, 'print(\'{"error":"e"}\', flush=True)')
    assert [channel.ask(Close("k"), Opened, 500.0) for _ in range(2)] == [Opened("e")] * 2


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("sys.exit('last words')", "ended: last words"),
        ("import time; time.sleep(6000)", "said nothing for 1 s"),
        ("print('x' * (6 << 20), flush=True)", "said more than"),
    ],
)
def test_children_without_an_answer(started: list[ProcessChannel], body: str, words: str) -> None:
    """Ended, each with what is known; asked again they have ended."""
    channel = _channel(started, body)
    with pytest.raises(ChildEndedError, match=words):
        channel.ask(Close("k"), Opened, 1.0 if "sleep" in body else 500.0)
    with pytest.raises(ChildEndedError, match="has ended"):
        channel.ask(Close("k"), Opened, 1.0)


def test_what_is_no_answer(started: list[ProcessChannel]) -> None:
    """A line of another form ends the child: nothing that follows it can be trusted to belong to a question."""
    channel = _channel(started, "print('[1]', flush=True)")
    with pytest.raises(KoptError):
        channel.ask(Close("k"), Opened, 500.0)
    with pytest.raises(ChildEndedError):
        channel.ask(Close("k"), Opened, 1.0)


def test_a_child_that_takes_nothing(started: list[ProcessChannel]) -> None:
    """More than a pipe holds, and nobody reads it."""
    started.append(ProcessChannel((sys.executable, "-c", "import time; time.sleep(60)"), "child"))
    with pytest.raises(ChildEndedError, match="took nothing"):
        started[-1].ask(Close("k" * (1 << 20)), Opened, 1.0)
