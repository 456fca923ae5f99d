"""Rooflines as blocks: the numbers of the roofline, with their rows."""

from __future__ import annotations

from pathlib import Path

from kopt_kb.analysis.roofline.reach import reach
from kopt_kb.analysis.roofline.roofline import roofline
from kopt_kb.analysis.roofline.shown import roofline_blocks, roofline_title
from kopt_kb.base.markup.blocks import Cell, FactsBlock, TableBlock
from kopt_kb.problem.work import Work, work
from kopt_kb.wiki.registry import Registry


def test_a_verdict_with_times(wiki_root: Path) -> None:
    """1 GFLOP and 1 GB on T10: 2 TB/s, 0.5 ms at least; 1 ms is half of the roof."""
    t10 = Registry.open(wiki_root).platform("T10")
    found = roofline(Work.given(10**9, 10**9, "fp32", "vector"), t10)
    facts, roofs, amounts, *_ = roofline_blocks(found, reach(found, t10, (1e-3,)))
    assert isinstance(facts, FactsBlock)
    texts = {name: text.text if isinstance(text, Cell) else text for name, text in facts.rows}
    assert texts["bound"] == "memory, by the dram roof"
    assert texts["roof, documented"] == "500 us"
    assert texts["measured"].startswith("1 ms, 1 TB/s: 50 % of the documented roof, 1.8× slower than the target")
    target = dict(facts.rows)["target"]
    assert isinstance(target, Cell)
    assert any("hardware/nvidia/t10.md" in one for one in target.sources)
    assert isinstance(roofs, TableBlock)
    assert isinstance(amounts, TableBlock)
    assert [row[0] for row in roofs.rows] == ["fp32 vector", "dram"]
    assert amounts.rows[0][1] == "1 GFLOP"
    assert roofline_title(found) == "given fp32 on T10"


def test_what_nobody_knows_is_said(wiki_root: Path) -> None:
    """No number in its place."""
    t10 = Registry.open(wiki_root).platform("T10")
    facts, roofs, *_ = roofline_blocks(roofline(work("gemm", (64, 64, 64), "bf16"), t10))
    assert isinstance(facts, FactsBlock)
    assert isinstance(roofs, TableBlock)
    assert "UNKNOWN" in str(dict(facts.rows)["target"])
    assert "needs" in str(roofs.rows[0][2])
