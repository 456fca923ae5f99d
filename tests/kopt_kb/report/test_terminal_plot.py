"""Pictures of characters: no line is wider than the terminal, numbers stand at their ticks."""

from __future__ import annotations

import math

import pytest

from kopt_kb.cli.main import main
from kopt_kb.report.picture import DrawnRoof, Picture, Point
from kopt_kb.report.terminal_plot import terminal
from tests.kopt_kb.report.test_drawing import CROWDS, ROOFS

ROOF = DrawnRoof("P fp32 vector", 2e12, 2.56e13, "page.md:L1", "P")
DOTS = (Point("k", 1.0, 1e12, group="P"), Point("k, attainable", 1.0, 2e12, "attainable", group="P"))
PICTURE = Picture("t", (ROOF,), DOTS)


@pytest.mark.parametrize("width", [20, 40, 60, 96, 400])
@pytest.mark.parametrize("name", CROWDS)
def test_no_line_is_wider_than_the_terminal(name: str, width: int) -> None:
    """From 40 columns on, whatever the names are."""
    text = terminal(Picture("a title of many words " * 9, ROOFS, CROWDS[name]), width=width)
    assert max(map(len, text.split("\n"))) <= min(max(width, 40), 120)


def test_marks_stand_where_their_numbers_are() -> None:
    """The row of the first measurement is that of its rate's tick, the column that of its intensity's."""
    lines = terminal(PICTURE, width=60).split("\n")
    assert "1  k: 1 TFLOP/s at 1 FLOP/B" in "\n".join(lines)
    assert "*  P fp32 vector: 2 TB/s, 25.6 TFLOP/s, ridge 12.8 FLOP/B" in " ".join("\n".join(lines).split()).replace(
        "* P", "*  P"
    )
    plot = [line for line in lines if line[7:8] in {"|", "+"} and "-----" not in line]
    (row,) = [line for line in plot if "1" in line[8:]]
    assert row.startswith("     1T+")
    numbers = next(line for line in lines if line.split()[:2] == ["0.1", "1"])
    assert row.index("1", 8) == numbers.index(" 1 ") + 1
    (attained,) = [line for line in plot if "o" in line]
    bottom, top = PICTURE.rates
    assert plot.index(row) - plot.index(attained) == pytest.approx(21 * math.log(2) / math.log(top / bottom), abs=1)


def test_the_command_asks_the_terminal_for_its_width(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """60 columns are respected, and 96 are used."""
    words = ["roofline", "--platform", "H20", "--op", "rms_norm", "--shape", "8192x4096", "--dtype", "bf16", "--plot"]
    for columns in (60, 96):
        monkeypatch.setenv("COLUMNS", str(columns))
        assert main(words) == 0
        plot = capsys.readouterr().out.split("Roofline: ")[1].split("\n")
        assert columns - 12 < max(map(len, plot)) <= columns


def test_a_hostile_name_moves_no_cursor() -> None:
    """Escape sequences of a name are shown."""
    text = terminal(Picture("\x1b[2J", (ROOF,), (Point("\u202e\x07", 1.0, 1e12),)), width=60)
    assert "\\x1b[2J" in text
    assert "\\u202e\\x07" in text
