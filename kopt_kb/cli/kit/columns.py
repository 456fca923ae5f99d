"""What the columns of tables are, where their head does not say it."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["COLUMNS", "legend"]

COLUMNS = {
    "OLD": "OLD, NEW: median times of the two records",
    "quads": "quads: groups of four turns that were compared",
    "spread": "spread: likely deviation (1.48 times the median absolute one), of the median",
    "of documented": "of documented: share of the roof that documents give",
    "of measured": "of measured: share of the roof as measured here",
    "achieved/target": "achieved/target: 1 meets the Stop Condition",
    "record": "record: its place in the journal",
    "trust": "trust: how the time came about",
    "rule": "rule: what of the policy decided",
    "gain": "gain: against the version accepted before",
    "FLOP/B": "FLOP/B: operations a byte moved at that level",
    "least": "least: time under the roof that binds",
    "of roof": "of roof: least over time",
    "work": "work: declared, or counted from the reference",
    "spills": "spills: bytes a thread",
    "shared": "shared: bytes a block",
    "decided": "decided: what the log made of the claim",
    "says": "says: the speed-up or time it names",
    "correct": "correct, paired, noise, roof: whether the log shows them",
    "source": "source: whether the code is there",
    "verdict": "verdict: kept, or what forbids it",
}
"""Head of a column → what it is."""


def legend(head: Iterable[str], *left_out: str) -> str:
    """Return the columns of a table that need a word, on one line."""
    return "; ".join(COLUMNS[name] for name in head if name in COLUMNS and name not in left_out)
