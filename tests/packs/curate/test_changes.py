"""The difference of two wikis: rows that were added, removed, changed; moved lines are none."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from kopt_kb.cli.main import main
from kopt_kb.packs.curate.changes import RowChange, wiki_changes
from kopt_kb.wiki.wiki import Wiki


@pytest.fixture
def old(wiki_root: Path, tmp_path: Path) -> Path:
    """The state before."""
    return Path(shutil.copytree(wiki_root, tmp_path / "old"))


def _edit(page: Path, *pairs: tuple[str, str]) -> None:
    text = page.read_text()
    for was, now in pairs:
        assert was in text
        text = text.replace(was, now)
    page.write_text(text)


def test_each_kind_of_change(old: Path, wiki_root: Path, product: Path) -> None:
    """A value, a removed row, a new key; a reason alone is a change too."""
    line = next(line for line in product.read_text().split("\n") if line.startswith("| memory_bus_width"))
    _edit(
        product,
        (f"{line}\n", ""),
        (
            '| 48 | GB | - | vendor | [^sheet] memory row quote="48GB"',
            '| 96 | GB | - | vendor | [^sheet] memory row quote="96GB"',
        ),
        ("no FP8 units", "no FP8 unit"),
    )
    found = wiki_changes(Wiki(old, use_cache=False), Wiki(wiki_root, use_cache=False))
    states = {one.key.partition("[")[0]: one.state for one in found.changes}
    assert states == {"memory_bus_width": "removed", "memory_capacity": "changed", "peak_compute": "changed"}
    capacity = next(one for one in found.changes if one.key == "memory_capacity")
    assert capacity.before[0].startswith("48 GB (vendor, L") and capacity.after[0].startswith("96 GB (vendor, L")
    assert found.old.version != found.new.version
    back = wiki_changes(Wiki(wiki_root, use_cache=False), Wiki(old, use_cache=False))
    assert {one.state for one in back.changes} == {"added", "changed"}


def test_a_change_behind_a_value_is_shown(old: Path, wiki_root: Path, product: Path) -> None:
    """Where value, grade and verdict stay, both sides show their sources and notes, which is where they differ."""
    _edit(product, ("no FP8 units", "no FP8 unit"), ('memory row quote="48GB"', 'memory table quote="48GB"'))
    found = {one.key.partition("[")[0]: one for one in _between(old, wiki_root)}
    assert all(one.before != one.after for one in found.values())
    assert ("memory row" in found["memory_capacity"].before[0]) and (
        "memory table" in found["memory_capacity"].after[0]
    )
    assert any("no FP8 units" in one for one in found["peak_compute"].before)


def _between(old: Path, new: Path) -> tuple[RowChange, ...]:
    return wiki_changes(Wiki(old, use_cache=False), Wiki(new, use_cache=False)).changes


def test_moved_lines_are_no_change(old: Path, wiki_root: Path, product: Path) -> None:
    """An empty line above a table moves every row."""
    _edit(product, ("## Memory\n", "\n\n## Memory\n"))
    assert wiki_changes(Wiki(old, use_cache=False), Wiki(wiki_root, use_cache=False)).changes == ()


def test_the_command(old: Path, wiki_root: Path, product: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit 0 without a change, 1 with one."""
    assert main(["wiki", "changes", str(old), str(wiki_root)]) == 0
    _edit(product, ("| 4096 | bit |", "| 4095 | bit |"), ('"4096-bit"', '"4095-bit"'))
    assert main(["wiki", "changes", str(old), str(wiki_root)]) == 1
    assert "changed hardware/nvidia/t10.md memory_bus_width\n  - 4096 bit (vendor, L" in capsys.readouterr().out
    assert main(["wiki", "changes", str(old), str(wiki_root), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["counts"] == {"changed": 1}
