"""Every door: a frozen dataclass of names and functions whose attributes are said, imported at no cost."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from kopt_kb.doors.pack import Pack

DOORS = {
    "arguments": "Arguments",
    "audit_form": "AuditForm",
    "command": "Command",
    "export": "Export",
    "language": "Language",
    "loop_part": "LoopPart",
    "pack": "Pack",
    "problem_source": "ProblemSource",
    "proposer_source": "ProposerSource",
    "table_form": "TableForm",
    "view": "View",
    "worker": "Worker",
}
"""Module → its door."""


def _door(module: str) -> type:
    found: type = getattr(importlib.import_module(f"kopt_kb.doors.{module}"), DOORS[module])
    return found


@pytest.mark.parametrize("module", DOORS)
def test_a_door_is_plain_data(module: str) -> None:
    """Frozen, without methods that do anything, each attribute said in its docstring."""
    door = _door(module)
    names = [one.name for one in dataclasses.fields(door)]
    assert door.__dataclass_params__.frozen  # type: ignore[attr-defined]
    said = door.__doc__ or ""
    assert not [name for name in names if f"{name}:" not in said]
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(object.__new__(door), names[0], "x")


@pytest.mark.parametrize("module", DOORS)
def test_a_door_imports_doors_and_errors_alone(module: str, repo_root: Path) -> None:
    """What it speaks of is imported for its types only, so that reading the table of packs costs nothing."""
    tree = ast.parse((repo_root / "kopt_kb" / "doors" / f"{module}.py").read_text())
    taken = [node.module or "" for node in tree.body if isinstance(node, ast.ImportFrom)]
    assert not [one for one in taken if one.startswith("kopt_kb.") and not one.startswith(("kopt_kb.doors.", BASE))]


BASE = ("kopt_kb.base.errors", "kopt_kb.base.")


def test_every_door_is_a_field_of_a_pack_or_of_a_loop_part() -> None:
    """Nothing stands in doors/ that no pack can bring."""
    fields = {one.name: str(one.type) for one in (*dataclasses.fields(Pack), *dataclasses.fields(_door("loop_part")))}
    types = " ".join(fields.values())
    assert not [door for door in DOORS.values() if door != "Pack" and f"tuple[{door}, ...]" not in types]


@pytest.mark.packs
def test_reading_the_table_imports_doors_and_packs_alone() -> None:
    """No room of the core, and nothing heavy."""
    code = (
        "import sys\nfrom kopt_kb.doors.table import packs\nassert len(packs().usable) > 10\n"
        "print(*sorted(one for one in sys.modules if one.startswith('kopt_kb.')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    packs = [one for one in done.stdout.split() if one.startswith("kopt_kb.packs")]
    assert all(one.count(".") == 2 or one.endswith(".pack") or one == "kopt_kb.packs" for one in packs)
    rest = [one for one in done.stdout.split() if not one.startswith(("kopt_kb.packs", "kopt_kb.doors", *BASE))]
    assert not set(rest) - {"kopt_kb.base", "kopt_kb.base.error_codes"}
