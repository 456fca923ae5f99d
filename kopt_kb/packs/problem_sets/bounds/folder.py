"""A folder of problems to tables of bounds on a product."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from kopt_kb.base.errors import BadInput
from kopt_kb.packs.problem_sets.bounds.bound import BoundTable, table_of
from kopt_kb.packs.problem_sets.bounds.forms import FORMS
from kopt_kb.packs.problem_sets.bounds.remembered import facts_of, torch_version
from kopt_kb.packs.problem_sets.sources import is_class_file
from kopt_kb.wiki.registry import Platform

__all__ = ["bounds_of"]


def bounds_of(
    folder: Path, platform: Platform, tables: Sequence[Path], names: Sequence[str], say: Callable[[str], None]
) -> BoundTable:
    """Return the bounds of the problems below a folder, and write them.

    Args:
        folder: With problems that have a `Model`.
        platform: The product.
        tables: Files to write, their form by their suffix.
        names: Parts of paths; a problem without any of them is left out; empty: all are taken.
        say: Takes a line while problems are counted.

    Raises:
        BadInput: A table of an unknown form, or no problem.
        MissingTool: torch is not installed.
    """
    for one in tables:
        if one.suffix not in FORMS:
            raise BadInput(f"no form {one.suffix!r}", where=str(one), fix=f"end it in {', '.join(FORMS)}", code="KB103")
        if not one.parent.is_dir():
            raise BadInput("there is no such folder", where=str(one.parent), fix="make it", code="KB110")
    files = [one for one in sorted(folder.rglob("*.py")) if _is_taken(one, names)]
    if not files:
        fix = "a problem has Model, get_inputs and get_init_inputs (docs/problems.md)"
        raise BadInput("holds no problem with a Model", where=str(folder), fix=fix, code="KB116")
    table = table_of(facts_of(files, say), folder, platform, torch_version())
    for one in tables:
        one.write_text(FORMS[one.suffix](table), encoding="utf-8")
    return table


def _is_taken(file: Path, names: Sequence[str]) -> bool:
    if names and not any(part in str(file) for part in names):
        return False
    try:
        return file.is_file() and is_class_file(file)
    except BadInput:  # too large, or no text
        return False
