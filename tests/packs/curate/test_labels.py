"""Labels are proposed for bare quotes from the opened document, and a quote with a gap is found piece by piece."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kopt_kb.cli.main import main
from kopt_kb.packs.curate.labels import propose_labels
from kopt_kb.packs.curate.sources import GAP_CHARACTERS, Documents, read_again
from kopt_kb.wiki.wiki import Wiki
from tests.packs.curate.test_sources import clones, git

__all__ = ["clones"]

PAGE = "hardware/nvidia/t10.md"


def write(clones: Path, product: Path, sheet: str, source: str) -> None:
    """Commit the sheet and let the row of the SM count cite it so."""
    folder = clones / "maker" / "docs"
    before = git(folder, "rev-parse", "HEAD")
    (folder / "sheet.md").write_text(sheet)
    git(folder, "commit", "-qam", "sheet")
    text = product.read_text().replace(before, git(folder, "rev-parse", "HEAD"))
    product.write_text(text.replace('[^sheet] table 1 quote="100 SMs"', f"[^sheet] {source}"))


def proposals(root: Path, clones: Path) -> dict[str, str]:
    """Proposal by key of the product's page."""
    found = propose_labels(Wiki(root, use_cache=False), Documents(clones))
    return {one.key: one.proposal for one in found if one.path == PAGE}


def basis(root: Path, clones: Path) -> str:
    """What the row of the SM count rests on."""
    readings = read_again(Wiki(root, use_cache=False), Documents(clones))
    return next(one.basis for one in readings if (one.path, one.key) == (PAGE, "sm_count"))


@pytest.mark.parametrize(
    ("sheet", "locator", "proposal"),
    [
        ("| SM Count | 100 |\n", "table 1, row SM Count", "SM Count | 100"),
        ("- SM Count\n- 90\n- 100\n", "column T10, row SM Count", "SM Count - 90 - 100"),
        ("- SM Count\n" + "- one\n" * 20 + "- 100\n", "row SM Count", "SM Count … 100"),
    ],
)
def test_the_label_of_the_locator_is_proposed(
    wiki_root: Path, clones: Path, product: Path, sheet: str, locator: str, proposal: str
) -> None:
    """In one piece where that is short, else with a gap; the proposal is found in the document and is not bare."""
    write(clones, product, sheet, f'{locator} quote="100"')
    assert proposals(wiki_root, clones)["sm_count"] == proposal
    quoted = proposal.replace("|", r"\|")
    product.write_text(product.read_text().replace(f'{locator} quote="100"', f'{locator} quote="{quoted}"'))
    assert basis(wiki_root, clones) == "document"
    assert "sm_count" not in proposals(wiki_root, clones)


@pytest.mark.parametrize(
    ("sheet", "locator"),
    [
        ("| 100 | SM Count |\n", "row SM Count"),
        ("| SM Count |\n" + "- none\n" * 60 + "| 100 |\n", "row SM Count"),
        ("| SM Counter | 100 |\n", "row SM Count"),
        ("| SM Count | 1000 |\n", "row SM Count"),
        ("| SM Count | 100 |\n", "table 1"),
        ("| SM Count, all that are enabled in this part of the series | 100 |\n", "row 8"),
    ],
)
def test_nothing_is_proposed_without_the_label_before_the_number(
    wiki_root: Path, clones: Path, product: Path, sheet: str, locator: str
) -> None:
    """Behind it, far from it, as part of a word, or when the locator names none."""
    write(clones, product, sheet, f'{locator} quote="100"')
    assert "sm_count" not in proposals(wiki_root, clones)


@pytest.mark.parametrize(
    ("sheet", "quote", "found"),
    [
        ("SM Count - 90 - 100", "SM Count … 100", "document"),
        ("SM Count … 100", "SM Count … 100", "document"),
        ("100 - SM Count", "SM Count … 100", "missing"),
        ("SM Count - 1000", "SM Count … 100", "missing"),
        ("SM Count" + " -" * GAP_CHARACTERS + " 100", "SM Count … 100", "missing"),
        ("SM Count - 90 - 100", "… 100", "missing"),
    ],
)
def test_the_pieces_of_a_quote_stand_in_order_and_near(
    wiki_root: Path, clones: Path, product: Path, sheet: str, quote: str, found: str
) -> None:
    """As whole words."""
    write(clones, product, sheet, f'row SM Count quote="{quote}"')
    assert basis(wiki_root, clones) == found


def test_the_command_prints_proposals_and_writes_nothing(
    wiki_root: Path, clones: Path, product: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It needs documents, and is no moment to accept."""
    write(clones, product, "| SM Count | 100 |\n", 'row SM Count quote="100"')
    before = product.read_text()
    command = ["wiki", "sources", str(wiki_root), "--labels"]
    assert main([*command, "--documents", str(clones)]) == 0
    assert "sm_count: '100' could be 'SM Count | 100'" in capsys.readouterr().out
    assert main([*command, "--documents", str(clones), "--json"]) == 0
    assert [one["key"] for one in json.loads(capsys.readouterr().out)["proposals"]] == ["sm_count"]
    assert product.read_text() == before
    assert main(command) == 2
    assert main([*command, "--documents", str(clones), "--accept"]) == 2
    assert "leave out --accept" in capsys.readouterr().err
