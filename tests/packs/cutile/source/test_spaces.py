"""Recipes that search what a file declares."""

from __future__ import annotations

from pathlib import Path

from kopt_kb.packs.cutile.source.answer import Situation
from tests.packs.cutile.source.words import words


def test_spaces_are_searched_where_a_file_declares_them(repo_root: Path) -> None:
    """Values of another architecture are left out; the packaged kernels have searches for C, E, F, G and I."""
    text = (repo_root / "kernels" / "cutile" / "matmul.py").read_text()
    found = words(text, Situation(dtype="bf16", target="sm_90", limiter="tensor"))
    assert {letter for letter, one in found.items() if one.how == "search"} == set("CEFGI")
    assert "num_ctas" not in found["C"].space and "81 configurations" in found["C"].change
    assert found["E"].space == {"latency": (1, 2, 3, 6, 10, 4)}
    wide = words(text, Situation(dtype="bf16", target="sm_100"))
    assert wide["C"].space["num_ctas"] == (1, 2, 4)
