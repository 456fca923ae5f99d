"""Parts that a document names and no page describes: a lookup says so and names the document."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.wiki.announced import LIST, NoPage, announced, list_faults
from kopt_kb.wiki.check import render_index
from kopt_kb.wiki.names import AmbiguousPlatform, UnknownPlatform
from kopt_kb.wiki.registry import Registry
from kopt_kb.wiki.wiki import Wiki

HEAD = "# Announced\n\n| Names | Vendor | What is known | Source |\n|---|---|---|---|\n"
ROW = "| Q900 Ultra, NVIDIA Q900 | NVIDIA | in a list, PCI id 1234 | A list, https://example.com/list, read 2026-11-22 |\n"


def listed(tmp_path: Path, text: str) -> Wiki:
    """A wiki that has only the list."""
    (tmp_path / "hardware").mkdir(parents=True, exist_ok=True)
    (tmp_path / LIST).write_text(HEAD + text, encoding="utf-8")
    return Wiki(tmp_path)


@pytest.mark.parametrize("name", ["Q900 Ultra", "q900-ultra", "nvidia q900", "Q900"])
def test_a_listed_name_is_found(tmp_path: Path, name: str) -> None:
    """Case, blanks and vendor do not matter, as with pages."""
    part = announced(listed(tmp_path, ROW), name)
    assert part is not None
    error = part.error(name)
    assert (error.code, error.where) == ("KB127", f"<gpu-wiki>/{LIST}:L5")
    assert "has no page here: NVIDIA Q900 Ultra, in a list" in error.what
    assert "https://example.com/list" in (error.fix or "")


@pytest.mark.parametrize("name", ["Q90", "Q900 Ultr", "Ultra", "NVIDIA", "Names", "---", ""])
def test_other_names_are_not(tmp_path: Path, name: str) -> None:
    """Whole names only; neither headings nor parts of a name."""
    assert announced(listed(tmp_path, ROW), name) is None
    assert announced(listed(tmp_path / "none", ""), name) is None


@pytest.mark.parametrize(
    "row", ["| Q900 | NVIDIA | in a list | |\n", "| Q900 | NVIDIA | in a list |\n", "| Q900 | N | in | A\n"]
)
def test_an_incomplete_row_is_a_fault(tmp_path: Path, row: str) -> None:
    """A part without a document is hearsay."""
    assert [fault.code for fault in list_faults(listed(tmp_path, row))] == ["WK407"]
    assert list_faults(listed(tmp_path, ROW)) == []


def test_the_shipped_list_says_so() -> None:
    """Listed parts raise KB127, also where a page's name begins alike; others stay unknown or ambiguous."""
    registry = Registry.open()
    for name in ("MI440X", "H800 NVL", "RTX PRO 2000", "GeForce RTX 4090 D"):
        with pytest.raises(NoPage):
            registry.platform(name)
    with pytest.raises(UnknownPlatform):
        registry.platform("MI431X")
    with pytest.raises(AmbiguousPlatform):
        registry.platform("H100")


def test_the_index_names_the_lists(tmp_path: Path) -> None:
    """A reader finds the list from the index; a wiki without lists has no such section."""
    assert "## Lists\n\n- [ANNOUNCED.md](ANNOUNCED.md): parts without a page" in render_index(listed(tmp_path, ROW))
    (tmp_path / LIST).unlink()
    assert "## Lists" not in render_index(Wiki(tmp_path))
