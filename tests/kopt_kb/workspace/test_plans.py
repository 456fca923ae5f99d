"""The form of plans."""

from __future__ import annotations

import pytest

from kopt_kb.workspace.plans import SECTIONS, plan_faults

GOOD = """# Plan of v1

## Input Evidence

- profile of v0: ncu, BN-MEMORY

## Search Log

| Source | Query | Finding | Actionability |
|---|---|---|---|
| gpu-wiki | vectorized loads | advice/dram.md | high |

## Optimization Action

- category: memory_access
- change: load eight values at once

## Expected Impact

- fewer sectors

## Risks and Rollback

- rollback: kernel.py of v0
"""


def test_a_whole_plan() -> None:
    """Nothing is missing."""
    assert plan_faults(GOOD) == ()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("## Expected Impact", "## Else", "no section Expected Impact"),
        ("- fewer sectors", "", "Expected Impact is empty"),
        ("- fewer sectors", "- TBD", "is open: TBD"),
        ("| gpu-wiki | vectorized loads | advice/dram.md | high |\n", "", "Search Log is no table"),
        ("| Source | Query |", "| A | B |", "Search Log is no table"),
        ("- change: load eight values at once", "- change: a\n- change: b", "this one has 2"),
        ("- change: load", "- load", "this one has 0"),
        ("## Input Evidence", "## Risks and Rollback", "another order"),
    ],
)
def test_what_a_plan_lacks(old: str, new: str, said: str) -> None:
    """By its line."""
    found = plan_faults(GOOD.replace(old, new))
    assert any(said in one.what for one in found)
    assert all(one.line > 0 for one in found)


def test_an_empty_file_lacks_everything() -> None:
    """Each section is named."""
    assert len(plan_faults("")) == len(SECTIONS)
