"""Claims about the cache: whatever stands in an entry, a lookup says what the pages say, and never fails."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from functools import cache as once
from pathlib import Path
from typing import Any

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.wiki import cache
from kopt_kb.wiki.indexed import says_what_its_line_says
from kopt_kb.wiki.places import packaged_root
from kopt_kb.wiki.registry import Registry
from kopt_kb.wiki.sheet import Sheet
from kopt_kb.wiki.wiki import Wiki

PRODUCTS = ("H20", "MI300X")
_PAGES = ("front", "path", "title", "rows", "footnotes")
"""What a page shows; faults and outcomes of rules are not in it."""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of the test's own."""
    monkeypatch.setenv("KOPT_CACHE", str(tmp_path / "c"))
    return tmp_path / "c"


def _shown(registry: Registry, name: str) -> dict[str, Any]:
    stored: dict[str, Any] = json.loads(json.dumps(registry.platform(name).sheet.to_cache()))
    return {part: stored[part] for part in _PAGES}


def _leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, part in parts:
        yield from _leaves(part, (*path, name))
    if not parts:
        yield path


@pytest.fixture
def compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the pages say is worked out once: they don't change, and that it is asked for is what is tested."""
    compile_pages = once(Wiki(packaged_root(), use_cache=False)._compile)
    monkeypatch.setattr(Wiki, "_compile", lambda _, *paths: compile_pages(*paths))


def _changed(document: Any, path: tuple[Any, ...], dice: random.Random) -> Any:
    made = inside = copy.copy(document)
    for step in path[:-1]:
        inside[step] = inside = copy.copy(inside[step])
    old = inside[path[-1]]
    if dice.random() < 0.2 and isinstance(inside, list):
        del inside[path[-1]]
    elif isinstance(old, int):
        inside[path[-1]] = old + dice.choice([-1, 1, 100000])
    else:
        inside[path[-1]] = dice.choice([f"{old}0", "", None, 7, ["x"], {"a": "b"}, "9999", f"1{old}"])
    return made


@pytest.mark.usefixtures("compiled_once")
@pytest.mark.parametrize("name", PRODUCTS)
def test_no_forged_entry_changes_what_is_looked_up(name: str, folder: Path) -> None:
    """250 entries, each with one leaf changed or taken away and sealed as if it were right."""
    truth = _shown(Registry.open(use_cache=False), name)
    Registry.open().platform(name).sheet.rows  # noqa: B018 - fills the cache
    (entry,) = [one for one in folder.glob("*.json") if not one.name.startswith("names-")]
    stored = cache.load(entry.stem)
    leaves = [path for path in _leaves(stored) if path and path[0] in _PAGES]
    dice = random.Random(11)
    for path in dice.sample(leaves, 250):
        forged = _changed(stored, path, dice)
        if forged == stored:
            continue
        cache.store(entry.stem, forged)
        assert _shown(Registry.open(), name) == truth, path


@pytest.mark.usefixtures("compiled_once")
@pytest.mark.parametrize("name", PRODUCTS)
def test_a_row_left_out_is_noticed(name: str, folder: Path) -> None:
    """The page has it."""
    truth = _shown(Registry.open(use_cache=False), name)
    Registry.open().platform(name).sheet.rows  # noqa: B018
    (entry,) = [one for one in folder.glob("*.json") if not one.name.startswith("names-")]
    stored: Any = cache.load(entry.stem)
    for number in range(0, len(stored["rows"]), 17):
        cache.store(entry.stem, {**stored, "rows": [*stored["rows"][:number], *stored["rows"][number + 1 :]]})
        assert _shown(Registry.open(), name) == truth


def test_names_that_no_page_has_are_not_believed(folder: Path) -> None:
    """A product can't be led to another's page, nor answer to another name."""
    registry = Registry.open()
    assert registry.platform("H20").identity.platform == "H20"
    (entry,) = folder.glob("names-*.json")
    stored: Any = cache.load(entry.stem)
    places = {path: number for number, (path, _) in enumerate(stored)}
    h20, h100 = (places[f"hardware/nvidia/{one}.md"] for one in ("h20", "h100_sxm"))
    swapped = copy.deepcopy(stored)
    swapped[h20][1], swapped[h100][1] = swapped[h100][1], swapped[h20][1]
    renamed = copy.deepcopy(stored)
    renamed[h20][1]["aliases"] = ["H100"]
    for forged in (swapped, renamed, [], {}, [["x"]], 7, [[path, None] for path, _ in stored], stored[:-1]):
        cache.store(entry.stem, forged)
        found = Registry.open()
        with pytest.raises(BadInput):
            found.platform("no such part")
        assert found.platform("NVIDIA H100 PCIe").identity.platform == "H100_PCIE"
        assert Registry.open().platform("H20").identity.platform == "H20"
        assert found.platform("H20").identity.path == "hardware/nvidia/h20.md"
        assert found.platform("NVIDIA H20").identity.platform == "H20"


@pytest.mark.parametrize("seed", range(40))
def test_damage_is_no_error(seed: int, folder: Path) -> None:
    """Bytes flipped, cut, doubled; a folder, a link and a pipe in a file's place."""
    import os

    truth = _shown(Registry.open(use_cache=False), "H20")
    Registry.open().platform("H20").sheet.rows  # noqa: B018
    dice = random.Random(seed)
    for entry in list(folder.iterdir()):
        data = bytearray(entry.read_bytes())
        kind = dice.randrange(6)
        if kind == 0:
            data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
        elif kind == 1:
            del data[dice.randrange(len(data)) :]
        elif kind == 2:
            data = data + data
        entry.unlink()
        if kind == 3:
            entry.mkdir()
        elif kind == 4:
            os.mkfifo(entry)
        elif kind == 5:
            entry.symlink_to("/dev/zero")
        else:
            entry.write_bytes(bytes(data))
    assert _shown(Registry.open(), "H20") == truth


def test_every_row_of_the_packaged_wiki_is_what_its_line_says() -> None:
    """Stored or compiled, on every product."""
    wiki = Wiki(packaged_root(), use_cache=False)
    registry = Registry.open(use_cache=False)
    seen = 0
    for name in registry.platforms():
        sheet: Sheet = registry.platform(name).sheet
        for row in sheet.rows:
            content = wiki.read(row.path)
            assert content is not None
            assert says_what_its_line_says(row, content.decode().split("\n")[row.line - 1]), row
            seen += 1
    assert seen > 5000
