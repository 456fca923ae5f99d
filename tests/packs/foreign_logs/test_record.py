"""Numbers, rounds and decisions as logs print them."""

from __future__ import annotations

import pytest

from kopt_kb.packs.foreign_logs.record import (
    campaign_of,
    decision_in,
    number_in,
    round_in_path,
    round_number,
    tolerance,
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("**1.25x**", 1.25),
        ("3,000 us", 3000.0),
        ("-5.80%", -5.8),
        ("1e-3", 1e-3),
        ("4 of 5", None),
        ("", None),
        ("v", None),
    ],
)
def test_a_number_is_a_whole_cell(text: str, value: float | None) -> None:
    """With at most a unit behind it."""
    assert number_in(text) == value


@pytest.mark.parametrize(
    ("texts", "half"),
    [
        (("1.25", "1.2"), 0.05),
        (("3",), 0.5),
        (("1.5e3",), 50.0),
        (("1e400",), 5e299),
        (("1e-99999999999999",), 0.0),
        (("-",), 0.0),
    ],
)
def test_what_rounding_hides(texts: tuple[str, ...], half: float) -> None:
    """Half a unit of the coarsest last place."""
    assert tolerance(*texts) == pytest.approx(half)


@pytest.mark.parametrize(
    ("path", "number"),
    [("a/rounds/round-3-split/summary.md", 3), ("round_2_evaluation.json", 2), ("docs/round.md", None), ("exp012/x.csv", 12),
     ("v2.3/notes.md", None)],
)  # fmt: skip
def test_a_round_in_a_path(path: str, number: int | None) -> None:
    """The deepest part counts."""
    assert round_in_path(path) == number


@pytest.mark.parametrize(
    ("text", "number"),
    [("**R12**", 12), ("round_2", 2), ("7", 7), ("3 (retry)", 3), ("2026-01-03", None), ("fp8", None)],
)
def test_a_round_in_a_cell(text: str, number: int | None) -> None:
    """A date or a dtype is none."""
    assert round_number(text) == number


def test_campaigns_hold_their_rounds_and_logs() -> None:
    """One campaign, whichever of its folders a file lies in."""
    files = ["x/camp/rounds/round-1/s.md", "x/camp/logs/trend.md", "x/camp/manifest.yaml", "x/camp/round-2/a.md"]
    assert {campaign_of(one) for one in files} == {"x/camp"}


@pytest.mark.parametrize(
    ("said", "found"),
    [
        (["REVERT"], "rejected"),
        (["PASS", "KEEP"], "accepted"),
        (["BASELINE round"], "baseline"),
        (["PASS"], "unstated"),
    ],
)
def test_decisions(said: list[str], found: str) -> None:
    """The first text that decides."""
    assert decision_in(said) == found
