"""A measured time judged in one call: what the command line prints, of one time or several."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kopt_kb.analysis.roofline.assess import assess
from kopt_kb.base.errors import BadInput
from kopt_kb.cli.main import main
from kopt_kb.problem.work import Work, work
from kopt_kb.quantity.units import MeasuredTime, seconds_of
from kopt_kb.wiki.registry import Registry

STREAM = Work.given(10**9, 2 * 10**9, "fp32", "vector")
"""2e9 bytes at 2 TB/s: 1 ms under the roof of the invented product, 1/0.9 ms at the target."""


def test_a_name_and_a_product_are_one(wiki_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As text or in seconds."""
    monkeypatch.setenv("KOPT_GPU_WIKI", str(wiki_root))
    named = assess("1.25ms", STREAM, "T10")
    assert named == assess(1.25e-3, STREAM, Registry.open(wiki_root).platform("T10"))
    assert (named.met, named.possible, named.times.measured[0].share) == (False, True, pytest.approx(0.8))


@pytest.mark.parametrize(
    ("times", "met", "possible"),
    [((1.05e-3,), True, True), ((1.05e-3, 1.2e-3), False, True), ((1e-6,), True, False), ((), None, True)],
)
def test_targets_and_floors(wiki_root: Path, times: tuple[float, ...], met: bool | None, possible: bool) -> None:
    """All of several times meet the target, or it is not met; below the floor no time is possible."""
    found = assess(times, STREAM, Registry.open(wiki_root).platform("T10"))
    assert (found.met, found.possible) == (met, possible)


def test_an_unknown_target_is_neither_met_nor_missed(wiki_root: Path) -> None:
    """bf16 is UNKNOWN there."""
    unknown = Work.given(10**9, 10**9, "bf16", "matrix")
    assert assess("1ms", unknown, Registry.open(wiki_root).platform("T10")).met is None


@pytest.mark.parametrize("bad", ["52", "", "-1us", 0, -1.0, float("nan"), float("inf"), True, None])
def test_what_is_no_time_is_refused(bad: MeasuredTime | None) -> None:
    """Text needs a unit, numbers are seconds above 0."""
    with pytest.raises(BadInput, match="time"):
        seconds_of(bad)
    with pytest.raises(BadInput, match="time"):
        assess(bad, STREAM, "H20")  # type: ignore[arg-type]


def test_json_is_that_of_the_command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Member by member, on the packaged wiki."""
    monkeypatch.delenv("KOPT_GPU_WIKI", raising=False)
    asked = "roofline --platform H20 --op rms_norm --shape 8192x4096 --dtype bf16 --time 52us --json"
    assert main(asked.split()) == 0
    printed = json.loads(capsys.readouterr().out)
    ours = json.loads(json.dumps(assess("52us", work("rms_norm", "8192x4096", "bf16"), "H20").to_json()))
    assert {name: printed[name] for name in ours} == ours
