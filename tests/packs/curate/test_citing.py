"""Footnotes are told apart by how they name what was read, quotes by whether they say of which row they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.packs.curate.citing import NAMED, count_naming, is_bare, named_by
from kopt_kb.packs.curate.sources import FOLDERS
from kopt_kb.wiki.footnotes import Footnote
from kopt_kb.wiki.places import default_root
from kopt_kb.wiki.row import Source
from kopt_kb.wiki.wiki import Wiki

FILE = "maker/docs@0123456789abcdef:sheet v2.md"


@pytest.mark.parametrize(
    ("url", "revision", "kind"),
    [
        (FILE, "v2", "repository"),
        ("https://maker.example/sheet.pdf", f"v2, read as transcribed in {FILE}", "copy"),
        ("https://maker.example/sheet.pdf", "v2, read in a public copy", "unnamed"),
        ("https://maker.example/sheet.pdf", "v2, rows read in public Transcriptions", "unnamed"),
        ("https://maker.example/sheet.pdf", "v2, a Chinese translation", "unnamed"),
        ("https://maker.example/sheet.pdf", "copyright 2026", "address"),
        ("Python package sheet 1.0", "1.0", "address"),
    ],
)
def test_a_footnote_names_what_was_read(url: str, revision: str, kind: str) -> None:
    """A file at a commit, a copy of that kind, the document's own address, or a copy without a name."""
    assert named_by(Footnote("sheet", "Sheet", "Maker", url, revision, "2026-11-22", 1)) == kind


@pytest.mark.parametrize("quote", ["125", "125 TFLOPS", "312/624", "1,248 TOPS | 2,496 TOPS", "900 GB/sec", "~39.6"])
def test_numbers_and_units_alone_are_bare(quote: str) -> None:
    """Whatever stands between them."""
    assert is_bare(Source("sheet", "Table 125, row Peak FP16", quote))


@pytest.mark.parametrize(
    "quote", ["SMs | 108", "Max Power Consumption 350W", "80GB HBM2e", "HBM3", "eight", ".TF32_TFlops = 35.6", ""]
)
def test_a_quote_with_a_word_or_without_a_number_is_not_bare(quote: str) -> None:
    """The word says of which row it is, or is the value."""
    assert not is_bare(Source("sheet", "Table 1", quote))


@pytest.mark.parametrize(
    ("locator", "quote", "bare"),
    [
        ("data set of 8192 kB", "8192 kB  7ms  0.2%  7034.2 GB/s", False),
        ("BF16, 4096x4096", "4096x4096: 495.93 TFLOPS", False),
        ("Table 32, row 8.6, column pool (KB)", "8.6 | 128 | 0, 8, 16", False),
        ("data set of 8192 kB", "7ms  0.2%  7034.2 GB/s", True),
        ("data set of 8192 kB", "8192 kB", True),
        ("Table 32, column pool (KB)", "32 | 128", True),
        ("page 8, row Peak", "8 | 128", True),
    ],
)
def test_a_number_can_be_the_label_of_a_row(locator: str, quote: str, bare: bool) -> None:
    """Where the locator names it as one, not as its table or page, and another number stands beside it."""
    assert is_bare(Source("sheet", locator, quote)) is bare


def test_a_row_counts_by_its_worst_document(wiki_root: Path, product: Path) -> None:
    """Every cited row once; rows without a document not at all."""
    before = count_naming(Wiki(wiki_root, use_cache=False), FOLDERS)
    assert before.rows["unnamed"] == 0
    assert sum(before.rows.values()) > 0
    text = product.read_text()
    assert text.count('revision="') > 1
    product.write_text(text.replace('revision="', 'revision="read in a public copy, '))
    after = count_naming(Wiki(wiki_root, use_cache=False), FOLDERS)
    assert after.rows["unnamed"] > 0
    assert sum(after.rows.values()) == sum(before.rows.values())
    assert list(after.rows) == list(NAMED)
    assert 0 < after.bare <= after.quotes == before.quotes


@pytest.mark.core
def test_unnamed_copies_and_bare_quotes_do_not_come_back() -> None:
    """What is left was searched for in vain; new rows name what they were read in."""
    found = count_naming(Wiki(default_root(), use_cache=False), FOLDERS)
    assert found.rows["unnamed"] <= LEFT_UNNAMED
    assert found.bare <= LEFT_BARE


LEFT_UNNAMED = 96
LEFT_BARE = 329
