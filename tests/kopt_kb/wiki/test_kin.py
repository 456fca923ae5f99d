"""One target that differs from all others of its vendor, one product from all of its kin, says why."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.wiki.kin import odd_products, odd_targets
from kopt_kb.wiki.wiki import Wiki


def wiki_of(root: Path, sizes: list[str], note: str = "") -> Wiki:
    """The invented target again and again, each with a warp size of its own; the note is of the first."""
    text = (root / "targets/sm_00.md").read_text()
    for number, size in enumerate(sizes):
        row = f'| warp_size | {size} | count | - | vendor | [^guide] table 1 row warp quote="{size}" | {{}} |'
        old = '| warp_size | 32 | count | - | vendor | [^guide] table 1 row warp quote="32" | |'
        page = text.replace("sm_00", f"sm_{number}0").replace(old, row.format(note if number == 0 else ""))
        (root / f"targets/sm_{number}0.md").write_text(page)
    return Wiki(root, use_cache=False)


@pytest.mark.parametrize(
    ("sizes", "odd"),
    [
        (["64", "32", "32", "32", "32", "32"], ["targets/sm_00.md"]),
        (["32", "32", "32", "32", "32", "32"], []),
        (["64", "64", "32", "32", "32", "32", "32"], []),
        (["64", "32", "32", "32", "32"], ["targets/sm_00.md"]),
        (["64", "32", "32", "32"], ["targets/sm_00.md"]),
        (["64", "32", "32"], []),
        (["64", "16", "32", "32", "32", "32"], ["targets/sm_00.md", "targets/sm_10.md"]),
    ],
)
def test_the_odd_one_is_named(wiki_root: Path, sizes: list[str], odd: list[str]) -> None:
    """One against three, two alone each; two alike are a generation, and of three targets nothing is said."""
    assert [fault.path for fault in odd_targets(wiki_of(wiki_root, sizes))] == odd


@pytest.mark.parametrize(("first", "codes"), [("64", []), ("32", ["WK303"])])
def test_a_real_difference_says_why_and_no_other_does(wiki_root: Path, first: str, codes: list[str]) -> None:
    """The exception is for the odd one only."""
    wiki = wiki_of(wiki_root, [first, *["32"] * 5], f"exception KIN: {first}, waves of its own")
    assert [fault.code for fault in odd_targets(wiki)] == codes


def family_of(root: Path, watts: list[str], note: str = "") -> Wiki:
    """The invented product again and again, each with a power of its own; the note is of the first."""
    page = root / "hardware/nvidia/t10.md"
    text = page.read_text()
    front, _, body = text.partition("\n---\n")
    for number, power in enumerate(watts):
        row = f'| board_power | {power} | W | kind=tdp | vendor | [^sheet] table 1 quote="{power} W" | '
        named = front.replace("T10", f"X{number}").replace("Test 10", f"Other {number}")
        tables = body.replace("| memory_type |", f"{row}{note if number == 0 else ''} |\n| memory_type |")
        (page.parent / f"x{number}.md").write_text(f"{named}\n---\n{tables}")
    page.unlink()
    return Wiki(root, use_cache=False)


@pytest.mark.parametrize(
    ("watts", "odd"),
    [
        (["300", "300", "300"], []),
        (["510", "300", "300"], []),
        (["515", "300", "300"], ["hardware/nvidia/x0.md"]),
        (["900", "300", "310"], ["hardware/nvidia/x0.md"]),
        (["900", "300"], []),
        (["510", "300", "180"], []),
    ],
)
def test_a_product_far_from_its_kin_is_named(wiki_root: Path, watts: list[str], odd: list[str]) -> None:
    """One near relative is enough; of two products nothing is said."""
    assert sorted({fault.path for fault in odd_products(family_of(wiki_root, watts))}) == odd


@pytest.mark.parametrize(("first", "codes"), [("900", []), ("300", ["WK303"])])
def test_a_new_product_says_why(wiki_root: Path, first: str, codes: list[str]) -> None:
    """The exception is for the odd one only, and none is kept for others."""
    wiki = family_of(wiki_root, [first, "300", "300"], f"exception KIN: {first}, a new board")
    assert [fault.code for fault in odd_products(wiki)] == codes


@pytest.mark.parametrize(
    ("count", "odd"), [("36", []), ("37", ["hardware/nvidia/x0.md"]), ("9", []), ("8", ["hardware/nvidia/x0.md"])]
)
def test_no_part_is_beyond_twice_all_others(wiki_root: Path, count: str, odd: list[str]) -> None:
    """Four products of 18 links and one that has twice, a little more, half, a little less of it."""
    page = wiki_root / "hardware/nvidia/t10.md"
    text = page.read_text()
    for number in range(5):
        links = count if number == 0 else "18"
        row = f'| link_count | {links} | count | link=nvlink4 | vendor | [^sheet] table 1 quote="{links} links" | |'
        named = text.replace("T10", f"X{number}").replace("Test 10", f"Other {number}")
        (page.parent / f"x{number}.md").write_text(named.replace("| memory_type |", f"{row}\n| memory_type |"))
    page.unlink()
    far = [fault for fault in odd_products(Wiki(wiki_root, use_cache=False)) if "beyond" in fault.message]
    assert sorted({fault.path for fault in far}) == odd


@pytest.mark.parametrize(
    ("counts", "odd"),
    [
        (["144", "144", "132"], ["hardware/nvidia/x2.md"]),
        (["144", "144", "144"], []),
        (["144", "132"], ["hardware/nvidia/x0.md", "hardware/nvidia/x1.md"]),
        (["144"], []),
    ],
)
def test_products_of_a_chip_share_its_full_numbers(wiki_root: Path, counts: list[str], odd: list[str]) -> None:
    """A full chip that no other product of the target has; of two that differ, either may be wrong."""
    page = wiki_root / "hardware/nvidia/t10.md"
    text = page.read_text()
    for number, full in enumerate(counts):
        row = f'| sm_count | {full} | count | config=full | vendor | [^sheet] table 2 quote="{full} SMs" | |'
        named = text.replace("T10", f"X{number}").replace("Test 10", f"Other {number}")
        (page.parent / f"x{number}.md").write_text(named.replace("| memory_type |", f"{row}\n| memory_type |"))
    page.unlink()
    far = [fault for fault in odd_products(Wiki(wiki_root, use_cache=False)) if "says so" in fault.message]
    assert sorted({fault.path for fault in far}) == odd
