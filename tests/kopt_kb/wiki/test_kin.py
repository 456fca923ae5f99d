"""One target that differs from all others of its vendor says why."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.wiki.kin import odd_targets
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
        (["64", "32", "32", "32", "32"], []),
    ],
)
def test_the_odd_one_is_named(wiki_root: Path, sizes: list[str], odd: list[str]) -> None:
    """One against five; two are a generation, and one against four is no majority to speak of."""
    assert [fault.path for fault in odd_targets(wiki_of(wiki_root, sizes))] == odd


@pytest.mark.parametrize(("first", "codes"), [("64", []), ("32", ["WK303"])])
def test_a_real_difference_says_why_and_no_other_does(wiki_root: Path, first: str, codes: list[str]) -> None:
    """The exception is for the odd one only."""
    wiki = wiki_of(wiki_root, [first, *["32"] * 5], "exception KIN: waves of its own")
    assert [fault.code for fault in odd_targets(wiki)] == codes
