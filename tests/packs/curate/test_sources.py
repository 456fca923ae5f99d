"""Quotes are found again in clones of the cited repositories, and a changed row is named."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from kopt_kb.cli.main import main
from kopt_kb.packs.curate.sources import RECORD, Documents, changed_rows, read_again, read_record, render_record
from kopt_kb.wiki.check import check_wiki
from kopt_kb.wiki.wiki import Wiki

SHEET = "# Sheet\n\n| **SMs** | 100   SMs |\n| Clock | 1,000 MHz |\n"


def git(folder: Path, *words: str) -> str:
    """Run git in a folder."""
    name = ("-c", "user.name=a", "-c", "user.email=a@b")
    done = subprocess.run(["git", "-C", str(folder), *name, *words], check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def clones(tmp_path: Path, product: Path) -> Path:
    """A clone of maker/docs with the sheet of the invented product, which the page cites at its commit."""
    folder = tmp_path / "clones" / "maker" / "docs"
    folder.mkdir(parents=True)
    git(folder, "init", "-q")
    (folder / "sheet.md").write_text(SHEET)
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "sheet")
    address = f"maker/docs@{git(folder, 'rev-parse', 'HEAD')}:sheet.md"
    product.write_text(product.read_text().replace("https://example.org/sheet", address))
    return tmp_path / "clones"


def bases(root: Path, clones: Path | None) -> dict[str, str]:
    """Basis of each row of the product's page."""
    readings = read_again(Wiki(root, use_cache=False), Documents(clones))
    return {one.key: one.basis for one in readings if one.path == "hardware/nvidia/t10.md"}


def test_a_quote_is_found_whatever_its_white_space_and_emphasis(wiki_root: Path, clones: Path) -> None:
    """What the file does not print is missing, what has no clone is typed, the rest needs no document."""
    found = bases(wiki_root, clones)
    assert found["sm_count"] == "document"
    assert found["sm_clock[class=boost;ops=all]"] == "document"
    assert found["memory_bus_width"] == "missing"
    assert found["peak_compute[dtype=fp32;engine=vector;sparsity=dense;acc=fp32;clock=boost]"] == "derived"
    assert found["peak_compute[dtype=bf16;engine=matrix;sparsity=dense;acc=unstated;clock=unstated]"] == "unknown"
    assert set(bases(wiki_root, None).values()) == {"typed", "derived", "unknown"}


def test_two_documents_of_which_one_has_no_clone_are_in_part(wiki_root: Path, clones: Path, product: Path) -> None:
    """Both would have to be found."""
    row = '[^sheet] table 1 quote="100 SMs"'
    product.write_text(product.read_text().replace(row, f'{row}; [^blog] table quote="100 SMs"'))
    assert bases(wiki_root, clones)["sm_count"] == "in-part"


@pytest.mark.parametrize(
    "url", ["maker/docs@0000000000:sheet.md", "maker/other@0123456:a.md", "https://x", "m/d@1:a.pdf"]
)
def test_what_can_not_be_read_is_no_document(clones: Path, url: str) -> None:
    """Another commit, another repository, a web page, no text."""
    assert Documents(clones).text(url) is None


def test_a_record_is_read_back_and_names_what_changed(wiki_root: Path, clones: Path, product: Path) -> None:
    """Value, quote, locator and formula count; white space and order do not. Without a record nothing is said."""
    wiki = Wiki(wiki_root, use_cache=False)
    assert list(changed_rows(wiki)) == []
    readings = list(read_again(wiki, Documents(clones)))
    (wiki_root / RECORD).write_text(render_record(readings))
    again = Wiki(wiki_root, use_cache=False)
    assert set(read_record(again)) == {(one.path, one.mark) for one in readings}
    assert list(changed_rows(again)) == []
    assert bases(wiki_root, None)["sm_count"] == "document"
    text = product.read_text().replace("## Memory", "Some words.\n\n## Memory")
    product.write_text(text.replace("4096", "5120").replace("* 2 * sm_clock", "* sm_clock * 2"))
    report = check_wiki(Wiki(wiki_root, use_cache=False))
    changed = [fault.key for fault in report.faults if fault.code == "WK405"]
    assert changed == ["peak_compute[dtype=fp32;engine=vector;sparsity=dense;acc=fp32;clock=boost]", "memory_bus_width"]


def test_the_command_prints_what_rows_rest_on_and_writes_the_record(
    wiki_root: Path, clones: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A missing quote exits 1 and is named with its line."""
    assert main(["wiki", "sources", str(wiki_root), "--documents", str(clones), "--accept"]) == 1
    out = capsys.readouterr().out
    assert "a quote of memory_capacity is not in its document" in out
    assert (wiki_root / RECORD).read_text().startswith("# Sources read again")
    assert main(["wiki", "sources", str(wiki_root), "--json"]) == 1
    assert '"document": 2' in capsys.readouterr().out


def test_what_was_found_in_a_document_changes_only_with_it(wiki_root: Path, clones: Path, product: Path) -> None:
    """Refused without the document, by the check and after a record that was written without it; right with it."""
    (wiki_root / RECORD).write_text(
        render_record(list(read_again(Wiki(wiki_root, use_cache=False), Documents(clones))))
    )
    good = product.read_text()
    product.write_text(good.replace('| sm_count | 100 | count | - | vendor | [^sheet] table 1 quote="100 SMs" |', '| sm_count | 90 | count | - | vendor | [^sheet] table 1 quote="90 SMs" |'))  # fmt: skip
    assert product.read_text() != good

    def refused() -> list[str | None]:
        return [one.key for one in changed_rows(Wiki(wiki_root, use_cache=False)) if one.code == "WK408"]

    assert refused() == ["sm_count"]
    (wiki_root / RECORD).write_text(render_record(list(read_again(Wiki(wiki_root, use_cache=False), Documents(None)))))
    assert refused() == ["sm_count"]
    assert bases(wiki_root, clones)["sm_count"] == "missing"
    product.write_text(good)
    (wiki_root / RECORD).write_text(
        render_record(list(read_again(Wiki(wiki_root, use_cache=False), Documents(clones))))
    )
    assert refused() == []
    assert bases(wiki_root, None)["sm_count"] == "document"


@pytest.mark.core
def test_every_shipped_row_is_in_the_record() -> None:
    """And no quote that could be searched was missing."""
    from kopt_kb.wiki.places import default_root

    wiki = Wiki(default_root(), use_cache=False)
    record = read_record(wiki)
    assert list(changed_rows(wiki)) == []
    assert "missing" not in record.values()
    assert sum(basis == "document" for basis in record.values()) > 300


def test_a_new_row_beside_the_one_that_was_found_is_no_change(wiki_root: Path, clones: Path, product: Path) -> None:
    """The page still has what the document says; the second source of the key is read on its own."""
    (wiki_root / RECORD).write_text(
        render_record(list(read_again(Wiki(wiki_root, use_cache=False), Documents(clones))))
    )
    text = product.read_text()
    row = next(line for line in text.splitlines() if line.startswith("| sm_count"))
    product.write_text(text.replace(row, row + "\n" + row.replace("table 1", "table 2")))
    readings = read_again(Wiki(wiki_root, use_cache=False), Documents(None))
    found = [one.basis for one in readings if (one.path, one.key) == ("hardware/nvidia/t10.md", "sm_count")]
    assert found == ["document", "typed"]


def test_a_folder_of_clones_that_is_not_there_is_refused(
    wiki_root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rather than that every row rests on what was typed."""
    assert main(["wiki", "sources", str(wiki_root), "--documents", str(tmp_path / "none")]) == 2
    assert "no such folder" in capsys.readouterr().err
