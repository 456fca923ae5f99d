"""Routes of arithmetic are rows of the wiki, each with its cost and the bits that it keeps."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from kopt_kb.wiki.arithmetic import ROUTES, arithmetic_routes
from kopt_kb.wiki.faults import WikiFaults
from kopt_kb.wiki.places import packaged_root
from kopt_kb.wiki.wiki import Wiki


def _copy(tmp_path: Path, old: str = "", new: str = "") -> Wiki:
    """The packaged page of routes in a wiki of its own, with one text replaced."""
    (tmp_path / "hardware").mkdir()
    page = tmp_path / ROUTES
    page.parent.mkdir()
    shutil.copy(packaged_root() / ROUTES, page)
    text = page.read_text()
    assert old in text
    page.write_text(text.replace(old, new, 1))
    return Wiki(tmp_path, use_cache=False)


@pytest.mark.core
def test_every_route_of_the_packaged_wiki() -> None:
    """Native, one product in narrower types, parts, slices and residues; each cites two lines."""
    found = {(one.name, one.dtype): one for one in arithmetic_routes(Wiki(packaged_root()))}
    costs = {
        ("one", "fp32"): (1, 24), ("one", "tf32"): (1, 11), ("one", "fp8"): (1, 4), ("x2", "fp16"): (2, 11),
        ("x3", "fp16"): (3, 23), ("x3", "tf32"): (3, 23), ("x3", "bf16"): (3, 17), ("x6", "bf16"): (6, 24),
        ("x9", "bf16"): (9, 24), ("slices2", "int8"): (3, 16), ("moduli10", "int8"): (10, 40), ("moduli8", "fp8"): (20, 43),
    }  # fmt: skip
    assert {name: (found[name].cost, found[name].bits.si) for name in costs} == costs
    assert found["x3", "tf32"].words == "3 products of tf32"
    assert all(f"<gpu-wiki>/{ROUTES}:L" in text for one in found.values() for text in one.citations)


def test_a_wiki_without_the_page_has_none(tmp_path: Path) -> None:
    """No default stands in."""
    (tmp_path / "hardware").mkdir()
    assert arithmetic_routes(Wiki(tmp_path, use_cache=False)) == ()


def test_a_damaged_page_loads_no_route(tmp_path: Path) -> None:
    """A formula that does not give its value."""
    with pytest.raises(WikiFaults, match="route_bits"):
        arithmetic_routes(_copy(tmp_path, "| route_bits | 17 |", "| route_bits | 18 |"))


def test_a_route_without_its_bits_is_refused(tmp_path: Path) -> None:
    """A cost alone says nothing of what is accepted."""
    with pytest.raises(WikiFaults, match="has no route_bits"):
        arithmetic_routes(
            _copy(tmp_path, "| route_bits | 17 | bit | dtype=bf16", "| route_bits | 17 | bit | dtype=fp6")
        )
