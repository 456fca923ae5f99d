"""Width and colour are a terminal's; what is piped is neither folded nor painted."""

from __future__ import annotations

import io
import os
import pty
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from kopt_kb.cli.kit import terminal
from kopt_kb.cli.kit.output import print_table, table

ROWS = [
    ("name", "state", "text"),
    ("a", "UNKNOWN", "the quick brown fox jumps over the lazy dog"),
    ("b", "ok", "x" * 50),
]


@contextmanager
def tty(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A real pseudo terminal of 40 columns as stdout."""
    import fcntl
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 40, 0, 0))
    with os.fdopen(theirs, "w") as stream:
        monkeypatch.setattr("sys.stdout", stream)
        monkeypatch.setattr("sys.stderr", stream)
        for name in ("NO_COLOR", "COLUMNS"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("TERM", "xterm")
        yield ours
        stream.flush()
        monkeypatch.undo()
    os.close(ours)


def test_a_pipe_gets_all_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """One line a row, no escape."""
    monkeypatch.setattr("sys.stdout", io.StringIO())
    monkeypatch.delenv("COLUMNS", raising=False)
    assert (terminal.width(), terminal.has_colour()) == (None, False)
    text = table(ROWS)
    assert len(text.split("\n")) == 3 and "\x1b" not in text


def test_a_terminal_folds_and_paints(monkeypatch: pytest.MonkeyPatch) -> None:
    """No line is longer than the terminal; NO_COLOR, a dumb terminal and COLUMNS are obeyed."""
    with tty(monkeypatch):
        assert (terminal.width(), terminal.has_colour()) == (40, True)
        text = table(ROWS)
    assert "\x1b[33mUNKNOWN\x1b[0m" in text and "\x1b[32mok" in text
    with tty(monkeypatch):
        monkeypatch.setenv("NO_COLOR", "1")
        plain = table(ROWS, indent=2, right=(1,))
    assert "\x1b" not in plain and max(map(len, plain.split("\n"))) <= 40
    assert "x" * 17 in plain and "lazy" in plain
    with tty(monkeypatch):
        monkeypatch.setenv("TERM", "dumb")
        assert not terminal.has_colour()
        monkeypatch.setenv("COLUMNS", "60")
        assert terminal.width() == 60


@pytest.mark.parametrize(("asked", "width"), [("", None), ("wide", None), ("-3", None), ("9" * 30, None), ("0", 1)])
def test_hostile_widths(asked: str, width: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Words that are no width are none; a table of one column never ends in a loop."""
    with monkeypatch.context() as only_here:  # pytest prints its own lines before a fixture is undone
        only_here.setattr("sys.stdout", io.StringIO())
        only_here.setenv("COLUMNS", asked)
        assert terminal.width() == width
        assert table(ROWS)


@pytest.mark.parametrize(
    ("text", "limit", "lines"),
    [("", 3, [""]), ("abc", 3, ["abc"]), ("a b c", 3, ["a b", "c"]), ("<wiki>/hardware/h20.md", 12, ["<wiki>/", "hardware/", "h20.md"]), ("xxxxxx", 4, ["xxxx", "xx"])],
)  # fmt: skip
def test_folding(text: str, limit: int, lines: list[str]) -> None:
    """Between words, else after a separator, else anywhere; nothing is lost."""
    assert terminal.fold(text, limit) == lines
    assert "".join("".join(lines).split()) == "".join(text.split())


def test_columns_give_way_evenly() -> None:
    """The widest first; none below eight."""
    assert terminal.narrowed([10, 40, 30], 60) == [10, 25, 25]
    assert terminal.narrowed([100, 100], 5) == [8, 8]
    assert terminal.narrowed([3, 4], 100) == [3, 4]


def test_other_forms_are_whole(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """CSV and Markdown are data: no folding whatever the width is."""
    monkeypatch.setenv("COLUMNS", "20")
    print_table(("a", "b"), [("x, y", "1|2"), ("z" * 60, "")], "csv")
    print_table(("a", "b"), [("x, y", "1|2"), ("z" * 60, "")], "markdown")
    out = capsys.readouterr().out
    assert '"x, y",1|2\n' in out and "z" * 60 + ",\n" in out
    assert "| a | b |\n|---|---|\n| x, y | 1\\|2 |\n" in out


def test_what_takes_long_is_announced_to_a_person(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """On a terminal; a pipe stays empty."""
    terminal.announce("compiling")
    assert capsys.readouterr().err == ""
    with tty(monkeypatch) as ours:
        terminal.announce("compiling")
        assert os.read(ours, 100) == b"kb: compiling\r\n"


def test_lines_that_are_too_long_go_on_below_their_text() -> None:
    """A label keeps its column, a plain line goes on two letters further in; colours take no room."""
    assert terminal.told("bound  by the dram roof of it", 20) == "bound  by the dram\n       roof of it"
    assert terminal.told("  a sentence that is long", 16) == "  a sentence\n    that is long"
    painted = "\x1b[32maccept\x1b[0m  1.2"
    assert terminal.told(painted, 11) == painted
    assert terminal.told("any length", None) == "any length"
