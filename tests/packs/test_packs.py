"""The table of each pack: named as its folder, declared in the distribution, reading doors alone."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

import pytest

from kopt_kb.doors.table import packs

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = sorted(path.parent.name for path in (ROOT / "kopt_kb" / "packs").glob("*/pack.py"))


def test_every_folder_is_declared_and_usable() -> None:
    """An entry point for each folder and none besides; none is broken."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    declared = project["entry-points"]["kopt_kb.packs"]
    assert declared == {name: f"kopt_kb.packs.{name}.pack:PACK" for name in FOLDERS}
    found = packs()
    assert not found.faults
    assert set(FOLDERS) <= found.usable.keys()


@pytest.mark.parametrize("name", FOLDERS)
def test_a_table_reads_doors_alone(name: str) -> None:
    """Functions are named, not imported."""
    tree = ast.parse((ROOT / "kopt_kb" / "packs" / name / "pack.py").read_text())
    taken = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert not [one for one in taken if one.startswith("kopt_kb") and not one.startswith("kopt_kb.doors.")]


@pytest.mark.parametrize("name", FOLDERS)
def test_a_pack_says_what_it_is_and_brings_something(name: str) -> None:
    """One line for `kb doctor`, words in lower case, extras that the distribution has."""
    pack = packs().usable[name]
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert pack.name == name
    assert 10 <= len(pack.what) <= 90
    assert all(word == word.lower() and word.strip() == word for word in pack.words)
    assert pack.extras.keys() <= extras.keys()
    doors = [one for one in type(pack).__dataclass_fields__ if one not in {"name", "what", "words", "extras"}]
    assert any(getattr(pack, door) for door in doors)
