"""The ids of operations."""

from __future__ import annotations

from pathlib import Path

from kopt_kb.problem.ops import definition
from kopt_kb.wiki.op_ids import FAMILIES, OPS


def test_each_has_a_closed_form_and_each_module_an_id(repo_root: Path) -> None:
    """Once, under its own name or in its family."""
    assert len(OPS) == len(set(OPS)) and all(definition(name).id == name for name in OPS)
    modules = {path.stem for path in (repo_root / "kopt_kb" / "problem" / "ops").glob("*.py")}
    alone = set(OPS) - {one for names in FAMILIES.values() for one in names}
    assert alone | set(FAMILIES) <= modules
