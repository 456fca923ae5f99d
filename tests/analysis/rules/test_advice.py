"""Advice pages."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.analysis.rules.advice import AdviceFault, load_advice
from kopt_kb.analysis.rules.table import LIMITERS


@pytest.mark.parametrize("limiter", LIMITERS)
def test_each_limiter_has_a_page_with_steps(limiter: str) -> None:
    """Two steps at least, on the page of that name."""
    advice = load_advice(limiter)
    assert advice.page == f"advice/{limiter}.md"
    assert len(advice.steps) >= 2


def test_faults(tmp_path: Path) -> None:
    """No such limiter, no page, no step."""
    with pytest.raises(AdviceFault, match="no limiter"):
        load_advice("wizardry")
    with pytest.raises(AdviceFault, match="can't be read"):
        load_advice("dram", tmp_path)
    (tmp_path / "advice").mkdir()
    (tmp_path / "advice" / "dram.md").write_text("# DRAM\n\n## What to do\n\nnothing\n")
    with pytest.raises(AdviceFault, match="no numbered step"):
        load_advice("dram", tmp_path)
