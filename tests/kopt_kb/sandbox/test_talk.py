"""Claims about conversations with children: in time, within a size, and an end that is noticed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

import pytest

from kopt_kb.sandbox.process import environment
from kopt_kb.sandbox.talk import Silent, Talk

pytestmark = pytest.mark.core

Start = Callable[[str], Talk]
WAIT_S = 500.0
"""Longest wait for something that is bound to come; a machine may be busy."""


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts Python text as a child; all are ended."""
    begun: list[Talk] = []

    def run(text: str) -> Talk:
        begun.append(Talk([sys.executable, "-u", "-c", f"import sys, time\n{text}"], env=environment()))
        return begun[-1]

    yield run
    for one in begun:
        one.end()


def test_lines_and_bytes_in_order(start: Start) -> None:
    """A line, then bytes that hold line ends, then a line; more than a pipe holds goes both ways."""
    talk = start("for line in sys.stdin: sys.stdout.write(f'{len(line)}\\n' + line + 'end\\n')")
    asked = b"x" * (1 << 18)
    talk.say(asked + b"\n", WAIT_S)
    assert talk.line(100, WAIT_S) == str(len(asked) + 1).encode()
    assert talk.exactly(len(asked) + 1, WAIT_S) == asked + b"\n"
    assert talk.line(100, WAIT_S) == b"end"
    assert talk.end() == -9


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("time.sleep(6000)", "said nothing for 0.3 s"),
        ("sys.stdout.write('half'); time.sleep(6000)", "said nothing for 0.3 s"),
        ("sys.stdout.write('x' * 5000); time.sleep(6000)", "said more than 100 bytes"),
        ("", "is gone"),
    ],
)
def test_silence(start: Start, text: str, words: str) -> None:
    """No line in time, half of one, too long a one, a child that ended."""
    talk = start(text)
    with pytest.raises(Silent, match=words) as caught:
        talk.line(100, WAIT_S if words != "said nothing for 0.3 s" else 0.3)
    assert caught.value.gone == (words == "is gone")


def test_a_child_that_does_not_listen(start: Start) -> None:
    """What a pipe does not take in time is an error, and no hang; a child that is gone is named."""
    with pytest.raises(Silent, match=r"took nothing for 0\.3 s"):
        start("time.sleep(6000)").say(b"x" * (1 << 20), 0.3)
    gone = start("")
    with pytest.raises(Silent, match="is gone"):
        gone.line(100, WAIT_S)
    with pytest.raises(Silent, match="is gone"):
        gone.say(b"x" * (1 << 20), WAIT_S)
