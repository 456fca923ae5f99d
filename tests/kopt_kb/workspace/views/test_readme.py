"""Rendering depends on the state alone, and gives the same bytes from a journal read again."""

from __future__ import annotations

import re

from kopt_kb.workspace.views.blocks import parse_blocks
from kopt_kb.workspace.views.readme import BLOCKS, render_blocks
from kopt_kb.workspace.workspace import Workspace


def test_every_block_stands_as_rendered(workspace: Workspace) -> None:
    """What init wrote is what the journal, read from disk, renders."""
    found = {
        block.name: block.body.decode() for block in parse_blocks(workspace.layout.readme.read_bytes(), "README.md")
    }
    assert set(found) == set(BLOCKS)
    for name, body in render_blocks(workspace.state()).items():
        assert found[name].rstrip("\n") == body.rstrip("\n"), name


def test_a_reader_can_recompute_the_target(workspace: Workspace) -> None:
    """Counts, roofs, factor and target stand on the page: 134225920 B, 2 TB/s, 0.9 x 2 = 1.8, 74.57 us."""
    text = workspace.layout.readme.read_text()
    assert "arithmetic intensity = 134225920 / 134225920 = 1 FLOP/B" in text
    assert "dram 2 TB/s (documented, vendor)" in text
    assert "memory-bound target >= 1.8 TB/s = 0.9 x documented dram" in text
    assert "| 8192x4096 | bandwidth | >= 1.8 TB/s | 0.9 | memory_bandwidth | vendor | <= 0.07457 ms |" in text


def test_isa_targets_have_numbers(workspace: Workspace) -> None:
    """No goal without a condition."""
    body = render_blocks(workspace.state())["isa-targets"]
    lines = body.splitlines()
    assert len(lines) >= 5
    assert all(re.match(r"- \S+ (>=|<=|=|==|>|<|≥|≤) [0-9.]+: \S", line) for line in lines)
