"""The check of a whole wiki: shipped and invented."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from kopt_kb.wiki.check import check_page, check_wiki, render_index, wiki_of
from kopt_kb.wiki.places import default_root
from kopt_kb.wiki.wiki import Wiki, WikiNotFound


@pytest.mark.core
def test_the_shipped_wiki_is_clean() -> None:
    """No fault on any page, and every rule was at least applied."""
    report = check_wiki(Wiki(default_root(), use_cache=False))
    assert [str(fault) for fault in report.faults] == []
    assert report.outcomes["pass"] > 100
    assert report.outcomes["fail"] == 0


def test_no_vendors_own_measurement_stands_as_a_third_partys() -> None:
    """Grade measured on a product's page is the vendor's; AMD's 2003.45 GB/s of an MI308X stood so in `kb lookup`."""
    for page in sorted((default_root() / "hardware").glob("*/*.md")):
        _, _, rest = page.read_text().partition("\n## Measured (third party)\n")
        assert "| measured |" not in rest.partition("\n## ")[0], page


def test_not_checkable_is_counted_apart(wiki_root: Path, product: Path) -> None:
    """It is never a pass."""
    kept = [line for line in product.read_text().split("\n") if not line.startswith("| memory_data_rate")]
    product.write_text("\n".join(kept))
    report = check_wiki(Wiki(wiki_root, use_cache=False))
    assert report.outcomes["not-checkable"] >= 1


def test_missing_index_and_unlisted_pages(wiki_root: Path) -> None:
    """The index is generated, and has to be the generated one."""
    wiki = Wiki(wiki_root, use_cache=False)
    assert "WK402" in {fault.code for fault in check_wiki(wiki).faults}
    (wiki_root / "README.md").write_text(render_index(wiki))
    assert "WK402" not in {fault.code for fault in check_wiki(Wiki(wiki_root, use_cache=False)).faults}
    page = wiki_root / "hardware" / "nvidia" / "t11.md"
    page.write_text(
        (wiki_root / "hardware" / "nvidia" / "t10_pro.md")
        .read_text()
        .replace("T10_PRO", "T11")
        .replace("Test 10 Pro", "Test 11")
    )
    assert "WK402" in {fault.code for fault in check_wiki(Wiki(wiki_root, use_cache=False)).faults}


def test_a_file_name_that_does_not_fit_and_a_page_without_name(wiki_root: Path, product: Path) -> None:
    """Both would hide a product."""
    product.rename(product.with_name("other.md"))
    (product.with_name("anon.md")).write_text("---\nvendor: x\n---\n# x\n")
    messages = " ".join(fault.message for fault in check_wiki(Wiki(wiki_root, use_cache=False)).faults)
    assert "does not fit the file's name" in messages
    assert "names no platform" in messages


def test_json_counts_rows_by_grade(wiki_root: Path) -> None:
    """UNKNOWN rows under a dash."""
    body = check_wiki(Wiki(wiki_root, use_cache=False)).to_json()
    assert body["rows"]["-"] == 2
    assert body["clean"] is False
    assert {"code", "file", "line", "message", "fix"} <= set(body["faults"][0])


def test_pci_ids_stand_in_the_front_matter_and_in_cited_rows(wiki_root: Path, product: Path) -> None:
    """An id in one place only is a fault: a device would be found without a source, or not at all."""
    product.write_text(product.read_text().replace("platform: T10\n", 'platform: T10\npci: ["10de:0001"]\n', 1))
    wiki = Wiki(wiki_root, use_cache=False)
    assert wiki.names.resolve("10de:0001").platform == "T10"
    messages = [fault.message for fault in check_wiki(wiki).faults]
    assert "10de:0001 is in the front matter only" in messages


def test_files_that_nothing_reads_are_named(wiki_root: Path) -> None:
    """A folder that is none of the contract's, and a table among the pages; hidden files are left alone."""
    (wiki_root / "notes").mkdir()
    (wiki_root / "notes/todo.md").write_text("x")
    (wiki_root / "hardware/nvidia/t10.csv").write_text("x")
    (wiki_root / "hardware/nvidia/.t10.md.swp").write_text("x")
    faults = check_wiki(Wiki(wiki_root, use_cache=False)).faults
    strays = {fault.path: fault.message for fault in faults if fault.code == "WK404"}
    assert strays["notes/todo.md"] == "the file stands in no folder of the contract"
    assert strays["hardware/nvidia/t10.csv"] == "the file is not a Markdown page"
    assert set(strays) == {"notes/todo.md", "hardware/nvidia/t10.csv"}


def test_a_page_by_itself(wiki_root: Path, product: Path) -> None:
    """Its faults, rows and rules; not those of its sister, nor the index."""
    sister = product.with_name("t10_pro.md")
    sister.write_text(sister.read_text().replace("| 4096 | bit |", "| 4095 | bit |"))
    wiki = wiki_of(product)
    assert wiki.root == wiki_root.resolve()
    report = check_page(wiki, product)
    assert report.pages == 1
    assert {fault.path for fault in report.faults} <= {"hardware/nvidia/t10.md"}
    assert not [fault for fault in report.faults if fault.code in {"WK402", "WK105"}]
    assert report.rows["vendor"] and report.checks
    wrong = check_page(wiki_of(sister), sister)
    assert [fault for fault in wrong.faults if "memory_bus_width" in fault.message or "4095" in fault.message]


def test_a_target_or_a_nameless_page_by_itself(wiki_root: Path, product: Path) -> None:
    """A target page is read; a product page without a name of its own is a fault."""
    target = wiki_root / "targets" / "sm_00.md"
    assert check_page(wiki_of(target), target).faults == ()
    product.write_text(product.read_text().replace("platform: T10\n", ""))
    assert "WK103" in {fault.code for fault in check_page(wiki_of(product), product).faults}


def test_a_name_that_another_page_has_is_named_on_either(product: Path) -> None:
    """An alias belongs to one page."""
    sister = product.with_name("t10_pro.md")
    product.write_text(product.read_text().replace("aliases: [", "aliases: [T10 Twin, "))
    sister.write_text(sister.read_text().replace("aliases: [", "aliases: [T10 Twin, "))
    assert all(
        "WK403" in {fault.code for fault in check_page(wiki_of(page), page).faults} for page in (product, sister)
    )


def test_a_target_by_itself_is_held_against_its_products(wiki_root: Path, product: Path) -> None:
    """Operations a clock that its products' rules refuse are named on the target's page."""
    target = wiki_root / "targets" / "sm_00.md"
    assert check_page(wiki_of(target), target).checks
    target.write_text(target.read_text().replace("1024", "1000"))
    assert "PHY-OPS" in {fault.code for fault in check_page(wiki_of(target), target).faults}


def test_expired_claims_of_a_page_by_itself(tmp_path: Path) -> None:
    """The newest day of all pages is the measure, also where one page is asked for."""
    page = tmp_path / "advice" / "atomics.md"
    for folder in ("advice", "hardware", "targets"):
        shutil.copytree(default_root() / folder, tmp_path / folder)
    assert check_page(wiki_of(page), page).faults == ()
    page.write_text(page.read_text().replace('expires="2027', 'expires="2025'))
    assert [fault.code for fault in check_page(wiki_of(page), page).faults] == ["WK506"]


def test_a_page_in_no_wiki(tmp_path: Path) -> None:
    """Named."""
    (tmp_path / "a.md").write_text("# a\n")
    with pytest.raises(WikiNotFound, match="stands in no wiki"):
        wiki_of(tmp_path / "a.md")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("\narch: ", "\narch: Not ", "arch is Not "),
        ("\nvendor: NVIDIA", "\nvendor: AMD", "vendor is AMD"),
    ],
)
def test_a_product_is_of_its_target(wiki_root: Path, product: Path, old: str, new: str, said: str) -> None:
    """Another architecture or vendor than the target's: one of the two is mistaken."""
    product.write_text(product.read_text().replace(old, new, 1))
    faults = check_wiki(Wiki(wiki_root, use_cache=False)).faults
    assert [fault.code for fault in faults if fault.message.startswith(said)] == ["WK103"]


@pytest.mark.parametrize("name", ["hardware/nvidia/t10.md", "targets/sm_00.md", "pitfalls/banks.md"])
def test_a_document_read_on_a_day_to_come(knowledge_root: Path, name: str) -> None:
    """The wiki and the page alone name the line."""
    page = knowledge_root / name
    page.write_text(page.read_text().replace('read="20', 'read="29'))
    wiki = Wiki(knowledge_root, use_cache=False)
    for report in (check_wiki(wiki), check_page(wiki, page)):
        assert {(fault.code, fault.path) for fault in report.faults if "day to come" in fault.message} == {
            ("WK206", name)
        }
