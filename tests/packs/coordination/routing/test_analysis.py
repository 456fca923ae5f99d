"""Analyses as blocks and as documents."""

from __future__ import annotations

import json

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.packs.coordination.routing.analysis import ranked_kernels, read_analysis

BLOCK = """Primary bottleneck: memory-bound
Evidence: Memory bandwidth at 89% of peak, compute at 35%
Recommendations:
1. [High] Enable FlashAttention for self-attention layers
2. [Medium] Apply memory pooling for attention buffers
3. [Low] Consider gradient checkpointing for memory reduction
"""


def _kernel(name: str, share: float, of_roof: float | None, *advice: str) -> dict[str, object]:
    said = [{"text": one, "page": "advice/x.md"} for one in advice]
    verdict = {"class": "memory-bound", "limiter": "dram", "advice": said, "evidence": [{"metric": "dram_sol_pct"}]}
    return {"name": name, "function": name, "time_share": share, "verdict": verdict, "gap": {"of_roof_pct": of_roof}}


def test_the_block_of_the_playbook() -> None:
    """Bottleneck, evidence, and three recommendations with their impact."""
    found = read_analysis(BLOCK, "x")
    assert (found.bottleneck, found.evidence[:6]) == ("memory-bound", "Memory")
    assert [(one.number, one.impact) for one in found.recommendations] == [(1, "High"), (2, "Medium"), (3, "Low")]


def test_a_document_of_verdicts() -> None:
    """The kernel from which the whole gains most is the one that is taken, not the one that takes longest."""
    document = {"kernels": [_kernel("long", 0.6, 95.0, "a"), _kernel("slow", 0.3, 20.0, "b", "c", "d", "e")]}
    found = read_analysis(json.dumps(document), "x")
    assert (found.kernel, found.bottleneck) == ("slow", "memory-bound")
    assert [one.impact for one in found.recommendations] == ["High", "Medium", "Low", "Low"]
    ranked = ranked_kernels(json.dumps(document), "x")
    assert [(one.name, round(one.gain, 3)) for one in ranked] == [("slow", 0.24), ("long", 0.03)]
    assert ranked_kernels(json.dumps({"kernels": [_kernel("k", 0.5, None)]}), "x")[0].headroom == 1


@pytest.mark.parametrize(
    "text",
    [
        "", "Primary bottleneck: x\n", "{", "{}", '{"kernels": []}', "Recommendations:\n1. do it\n",
        "Recommendations:\n1. [High] a\n1. [Low] b\n", '{"kernels": [{"verdict": {}}]}',
    ],
)  # fmt: skip
def test_what_recommends_nothing(text: str) -> None:
    """Is refused; a recommendation without an impact, by its line."""
    with pytest.raises(BadInput):
        read_analysis(text, "x")


def test_a_block_in_markdown() -> None:
    """Bold words, headings and bullets are the same block."""
    text = "## Primary bottleneck: memory-bound\n**Evidence**: DRAM at 89 %\n**Recommendations**:\n- 1. **[High]** Fuse it\n"
    found = read_analysis(text, "block.md")
    assert (found.bottleneck, found.evidence) == ("memory-bound", "DRAM at 89 %")
    assert [(one.impact, one.text) for one in found.recommendations] == [("High", "Fuse it")]
