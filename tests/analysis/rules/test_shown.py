"""Verdicts as blocks."""

from __future__ import annotations

from pathlib import Path

from kopt_kb.analysis.readers import read_profiles
from kopt_kb.analysis.rules.classify import classify
from kopt_kb.analysis.rules.shown import verdict_blocks
from kopt_kb.base.markup.blocks import Bullets, Cell, FactsBlock, TableBlock
from kopt_kb.wiki.registry import Registry

LIBRARY = Path(__file__).resolve().parents[2] / "data" / "zoo" / "library.csv"


def test_a_verdict_has_proof_roofs_and_steps() -> None:
    """All words of the verdict, with the rows of its roofs."""
    profile = next(iter(read_profiles(LIBRARY)))
    verdict = classify(profile, Registry.open().platform("H200_SXM"))
    facts, roofs, head, steps = verdict_blocks(verdict)
    assert head == Cell("What to try", tone="quiet")
    assert isinstance(facts, FactsBlock)
    assert isinstance(roofs, TableBlock)
    assert isinstance(steps, Bullets)
    assert dict(facts.rows)["limiter"] == verdict.limiter
    assert dict(facts.rows)["evidence"] == verdict.proof
    assert any("h200_sxm.md" in source for row in roofs.rows for source in getattr(row[1], "sources", ()))
    assert len(steps.items) == len(verdict.advice.steps) + len(verdict.recording)
    short = verdict_blocks(verdict, 20)[0]
    assert isinstance(short, FactsBlock)
    assert len(str(dict(short.rows)["evidence"])) <= 20
