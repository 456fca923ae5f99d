"""Every rule is found where it is broken, in the versions that have it, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.packs.cutile.source.findings import TileTarget
from kopt_kb.packs.cutile.source.rules import NOT_DECIDED, rule_findings
from kopt_kb.packs.cutile.source.source import read_cutile

ROOT = Path(__file__).resolve().parents[4]
BAD = (ROOT / "tests" / "data" / "bad_tiles.py").read_text()
OLD = TileTarget("sm_80", cuda_tile=(1, 4), tileiras=(13, 2))


def _found(text: str, target: TileTarget) -> set[tuple[str, int]]:
    return {(one.rule, one.line) for one in rule_findings(read_cutile(text), target)}


def _line(words: str) -> int:
    return next(number for number, line in enumerate(BAD.splitlines(), 1) if words in line)


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("rule 2", "i * TILE"),
        ("rule 3", "ct.add"),
        ("rule 4", "ct.mma"),
        ("rule 5", "ct.launch"),
        ("rule 7", "t.to("),
        ("rule 8", "sub(x)"),
        ("rule 9", "if i > 0"),
        ("rule 10", "        break"),
        ("rule 11", "ct.launch"),
        ("rule 12", "ct.arange(3, 4"),
        ("rule 12", "start=1"),
        ("rule 16", "MODE"),
        ("rule 16", "ct.launch"),
        ("rule 17", "x.shape[0]"),
        ("rule 18", "def bad"),
        ("zero fill", "ct.load"),
    ],
)
def test_each_rule_names_its_line(rule: str, words: str) -> None:
    """In a file that breaks them all."""
    assert (rule, _line(words)) in _found(BAD, OLD)


def test_what_newer_versions_know_is_no_finding() -> None:
    """break and start= compile today; a target with TMA fills tiles."""
    found = {rule for rule, _ in _found(BAD, TileTarget("sm_90"))}
    assert not {"rule 10", "zero fill"} & found
    assert ("rule 12", _line("start=1")) not in _found(BAD, TileTarget("sm_90"))


@pytest.mark.parametrize("name", ["matmul", "rms_norm", "attention"])
def test_packaged_kernels_break_none(name: str) -> None:
    """On a target with TMA and on one without."""
    text = (ROOT / "kernels" / "cutile" / f"{name}.py").read_text()
    assert not {rule for rule, _ in _found(text, TileTarget("sm_90"))}


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("if ct.bid(0) > 0:\n        u = 1\n    ct.store(x, index=(u,), tile=u)", True),
        ("if FLAG:\n        u = 1\n    ct.store(x, index=(u,), tile=u)", False),
        (
            "i = ct.bid(0)\n    if i > 0:\n        u = 1\n    for u in range(3):\n        ct.store(x, index=(u,), tile=u)",
            False,
        ),
        (
            "i = ct.bid(0)\n    if i > 0:\n        u = 1\n    else:\n        u = 2\n    ct.store(x, index=(u,), tile=u)",
            False,
        ),
        ("i = ct.bid(0)\n    if i > 0:\n        u = 1\n    u += 1\n    ct.store(x, index=(i,), tile=u)", True),
    ],
)
def test_names_of_one_branch(body: str, found: bool) -> None:
    """A condition that is known when compiling leaves one branch; what is defined again is no fault."""
    text = f"import cuda.tile as ct\n@ct.kernel\ndef one(x, FLAG: ct.Constant[bool]):\n    {body}\n"
    assert any(rule == "rule 9" for rule, _ in _found(text, TileTarget())) is found


def test_all_eighteen_are_decided_or_named() -> None:
    """Rule 1 is the import, without which a file is none of cuTile."""
    decided = {2, 3, 4, 5, 7, 8, 9, 10, 11, 12, 16, 17, 18}
    assert decided | set(NOT_DECIDED) | {1} == set(range(1, 19))
