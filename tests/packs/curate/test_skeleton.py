"""A new page asks for everything that is required, says nothing, and is named by the check until it is filled."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.packs.curate.required import REQUIRED, answered
from kopt_kb.packs.curate.skeleton import new_page
from kopt_kb.wiki.check import INDEX, check_wiki, render_index
from kopt_kb.wiki.page import read_page
from kopt_kb.wiki.vocabulary import METRICS
from kopt_kb.wiki.wiki import Wiki


def _checked(root: Path) -> set[str]:
    (root / INDEX).write_text(render_index(Wiki(root, use_cache=False)))
    return {fault.code for fault in check_wiki(Wiki(root, use_cache=False)).faults if "h999" in fault.path}


@pytest.mark.parametrize(("target", "vendor"), [("sm_00", "NVIDIA"), ("sm_101", "NVIDIA"), ("gfx942", "AMD")])
def test_every_need_is_a_row_of_one_of_the_two_pages(target: str, vendor: str, wiki_root: Path) -> None:
    """As UNKNOWN and without a value; the readers find no fault but that it is to be filled."""
    written = new_page(wiki_root, "H999", target)
    pages = [
        read_page(path.read_bytes(), path.name, kind=path.parts[-2 if path.parent.name == "targets" else -3])
        for path in written
    ]
    there = Wiki(wiki_root, use_cache=False).page(f"targets/{target}.md")
    assert there is not None
    rows = [row for page in pages for row in page.rows]
    assert all(answered(need, [*rows, *there.rows]) for need in REQUIRED[vendor])
    assert {row.kind for row in rows} == {"unknown"}
    assert {fault.code for page in pages for fault in page.faults} == {"WK210", "WK109"}
    assert all(tuple(METRICS[row.metric].axes) == tuple(axis for axis, _ in row.axes) for row in rows)


def test_what_the_target_page_answers_is_not_asked_again(wiki_root: Path) -> None:
    """It would be a fault to repeat it."""
    (path,) = new_page(wiki_root, "H999", "sm_00")
    assert "| warp_size |" not in path.read_text()
    assert "arch: Testarch" in path.read_text()
    assert _checked(wiki_root) == {"WK109", "WK210"}


def test_a_filled_page_is_clean(wiki_root: Path) -> None:
    """The check names what is left, and nothing once all is written."""
    (path,) = new_page(wiki_root, "H999", "sm_00")
    text = (
        path.read_text().replace("reason: TBD", "reason: the sheet is silent").replace("sku: TBD (H999)", "sku: H 999")
    )
    row = next(line for line in text.splitlines() if line.startswith("| memory_capacity |"))
    sheet = '[^sheet]: title="Sheet"; publisher="NVIDIA"; url="https://example.org"; revision="1"; read="2026-11-21"'
    filled = '| memory_capacity | 48 | GB | - | vendor | [^sheet] memory row quote="48 GB" | |'
    lines = [filled if line == row else line for line in text.splitlines() if not line.startswith("[^sheet]")]
    path.write_text("\n".join([*lines, sheet, ""]))
    assert _checked(wiki_root) == set()
    path.write_text("\n".join([*lines, sheet.replace('title="Sheet"', 'title="TBD"'), ""]))
    assert _checked(wiki_root) == {"WK210"}


def test_nothing_is_overwritten(wiki_root: Path, product: Path) -> None:
    """A page that is there stays as it is."""
    before = product.read_text()
    with pytest.raises(BadInput, match="KB113"):
        new_page(wiki_root, "T10", "sm_00")
    assert product.read_text() == before


@pytest.mark.parametrize(
    ("name", "target", "code"), [("h999", "sm_00", "KB027"), ("../H", "sm_00", "KB027"), ("H999", "hopper", "KB106")]
)
def test_names_that_no_page_can_have(name: str, target: str, code: str, wiki_root: Path) -> None:
    """Nothing is written."""
    with pytest.raises(BadInput, match=code):
        new_page(wiki_root, name, target)
    assert len(list(wiki_root.rglob("*.md"))) == 3


def test_the_installed_wiki_is_read_only(wiki_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the copy."""
    monkeypatch.setattr("kopt_kb.packs.curate.skeleton.installed_root", wiki_root.resolve)
    with pytest.raises(BadInput, match="kb wiki copy DIR"):
        new_page(wiki_root, "H999", "sm_00")


def test_units_follow_the_dtype(wiki_root: Path) -> None:
    """Integer operations are counted in OPS, others in FLOPS."""
    (path,) = new_page(wiki_root, "H999", "sm_00")
    rows = [line.split(" | ") for line in path.read_text().splitlines() if line.startswith("| peak_compute |")]
    assert {row[2].endswith("FLOPS") for row in rows if "int8" in row[3]} == {False}
    assert {row[2].endswith("FLOPS") for row in rows if "int8" not in row[3]} == {True}
