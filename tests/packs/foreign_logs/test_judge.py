"""What counts as evidence, and what does only in part."""

from __future__ import annotations

import pytest

from kopt_kb.packs.foreign_logs.judge import Aspect, JudgedClaim, Surroundings, judged
from kopt_kb.packs.foreign_logs.record import Field, ForeignRecord
from kopt_kb.packs.foreign_logs.tree import ForeignTree

TREE = ForeignTree("x", names=frozenset({"kernels/v3.py"}))


def _claim(*lines: str, **fields: str) -> JudgedClaim:
    roles = {"check": "Check", "std": "spread", "commit": "source"}
    made = tuple(Field(role.replace("_", " "), roles.get(role, role), text, 7) for role, text in fields.items())
    record = ForeignRecord("log.md", 1, "round notes", "round 1", 1, "", "accepted", made, tuple(enumerate(lines, 1)))
    return judged(record, Surroundings(TREE))


@pytest.mark.parametrize(
    ("line", "state"),
    [("n_pass: 20/20", "present"), ("all shapes passed", "present"), ("allclose holds", "present"), ("correctness: FAIL", "failed"),
     ("it is faster", "missing")],
)  # fmt: skip
def test_correctness_in_words(line: str, state: str) -> None:
    """With the line it stands on."""
    found = _claim("# R1", line).correctness
    assert (found.state, found.where) == (state, "log.md:2" if state != "missing" else "")


@pytest.mark.parametrize(
    ("cell", "state"),
    [
        ("PASS", "present"),
        ("true", "present"),
        ("False", "failed"),
        ("26/30", "failed"),
        ("30/30", "present"),
        ("nan", "missing"),
    ],
)
def test_correctness_in_a_cell(cell: str, state: str) -> None:
    """A count that is not whole speaks against; nan compared nothing."""
    assert _claim(check=cell).correctness.state == state


@pytest.mark.parametrize(
    ("line", "state"),
    [("ABBA quads", "present"), ("timed back-to-back", "present"), ("1.04 → 1.05", "partial"), ("fast", "missing")],
)
def test_paired_timing(line: str, state: str) -> None:
    """Two numbers alone are not said to be of one run."""
    assert _claim(line).timing.state == state


@pytest.mark.parametrize(
    ("line", "state"),
    [("2.0 ms ± 0.1", "present"), ("noise floor 0.4 %", "present"), ("median of 3", "partial"), ("2.0 ms", "missing")],
)
def test_noise(line: str, state: str) -> None:
    """Repeats without a spread are half of it."""
    assert _claim(line).noise.state == state


def test_a_spread_of_zero_is_none() -> None:
    """Something was printed, nothing was measured twice."""
    assert (_claim(spread="0.0").noise.state, _claim(spread="0.02").noise.state) == ("partial", "present")


@pytest.mark.parametrize(
    ("line", "state"),
    [
        ("62 % of peak, see https://example.org/sheet", "present"),
        ("62% of peak", "partial"),
        ("target: 500 TFLOPS", "partial"),
        ("quick", "missing"),
    ],
)
def test_roof(line: str, state: str) -> None:
    """A roof without a source is half of it."""
    assert _claim(line).roof.state == state


def test_a_declared_target_counts_in_part() -> None:
    """It stands in the campaign's manifest."""
    record = ForeignRecord("log.md", 1, "round notes", "round 1", 1, "", "accepted")
    around = Surroundings(TREE, target=Aspect("partial", "0.95", "manifest.yaml:3"))
    assert judged(record, around).roof.where == "manifest.yaml:3"


def test_snapshot() -> None:
    """A commit that is not here, a file that is, code itself, a file beside the round."""
    assert _claim("Commit `1b7646a6`").snapshot.state == "partial"
    assert _claim(source="kernels/v3.py").snapshot.state == "present"
    assert _claim(source="kernels/v4.py").snapshot.state == "partial"
    assert _claim(source="def f():\n" + "  x\n" * 100).snapshot.state == "present"
    assert _claim("deadline, 20260521, decade").snapshot.state == "missing"
    record = ForeignRecord("r/round-1/s.md", 1, "round notes", "round 1", 1, "", "accepted")
    assert judged(record, Surroundings(TREE, beside=("r/round-1/k.cu",))).snapshot.where == "r/round-1/k.cu"
