"""Pages to browse: every value with its citation, links that lead somewhere, no scripts."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.packs.curate.site import pages, write_site
from kopt_kb.wiki.places import default_root
from kopt_kb.wiki.wiki import Wiki

_VOID = {"meta", "br"}


class _Reader(HTMLParser):
    """Tags in balance, ids, links and the text of table cells by row id."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.cells: dict[str, list[str]] = {}
        self.row = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        have = dict(attrs)
        self.tags.add(tag)
        self.open += [] if tag in _VOID else [tag]
        self.ids += [have["id"] or ""] if "id" in have else []
        self.links += [have["href"] or ""] if "href" in have else []
        assert not any(name.startswith("on") for name in have)
        if tag == "tr":
            self.row = have.get("id") or ""
            self.cells[self.row] = []
        if tag == "td":
            self.cells[self.row].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "td" in self.open:
            self.cells[self.row][-1] += data


@pytest.fixture(scope="module")
def shipped() -> tuple[Wiki, dict[str, _Reader]]:
    """The shipped wiki and its site, read as a browser reads it."""
    wiki = Wiki(default_root())
    return wiki, {path: _Reader(text) for path, text in pages(wiki)}


@pytest.mark.core
def test_every_value_stands_beside_document_place_and_quote(shipped: tuple[Wiki, dict[str, _Reader]]) -> None:
    """On the page of its product, with those of its target and what was measured on it."""
    wiki, site = shipped
    for one in wiki.names.identities.values():
        sheet, page = wiki.sheet(one), site[f"products/{one.platform.lower()}.html"]
        assert sheet.rows
        for row in sheet.rows:
            metric, conditions, value, unit, grade, sources, notes = page.cells[f"{row.path}:L{row.line}"]
            assert (metric, value, unit, grade) == (row.metric, row.value, row.unit, row.grade)
            assert all(f"{axis}={text}" in conditions for axis, text in row.axes)
            assert all(text in notes for _, text in row.notes)
            for source in row.sources:
                note = sheet.footnotes[row.path][source.id]
                assert f"{note.title}, {source.locator}" in sources
                assert source.quote in sources


@pytest.mark.core
def test_links_lead_somewhere_and_nothing_runs(shipped: tuple[Wiki, dict[str, _Reader]]) -> None:
    """Pages and marks of this site exist; documents are addresses of the web; ids stand once."""
    _, site = shipped
    for path, page in site.items():
        assert page.open == []
        assert not page.tags & {"script", "link", "img", "iframe"}
        assert len(page.ids) == len(set(page.ids))
        for link in page.links:
            if link.startswith("#"):
                assert link[1:] in page.ids
            elif not link.startswith(("https://", "http://")):
                assert (Path("/site") / path).parent.joinpath(link).resolve().relative_to("/site").as_posix() in site


def test_the_index_names_every_product_and_what_has_no_page(shipped: tuple[Wiki, dict[str, _Reader]]) -> None:
    """With the state of the data."""
    wiki, site = shipped
    index = site["index.html"]
    assert {link for link in index.links if link.startswith("products/")} == set(site) - {"index.html"}
    assert "MI440X" in next(text for path, text in pages(wiki) if path == "index.html")
    assert len(site) == 1 + len(wiki.names.identities)


def test_what_pages_say_is_text_and_no_markup(wiki_root: Path, product: Path) -> None:
    """A quote with angle brackets stays a quote; an address of a repository leads to its host."""
    text = product.read_text().replace("https://example.org/sheet", "maker/docs@0123456789:a b.md")
    product.write_text(text.replace('quote="100 SMs"', 'quote="<b>100 SMs</b>"'))
    site = dict(pages(Wiki(wiki_root, use_cache=False)))
    assert "&lt;b&gt;100 SMs&lt;/b&gt;" in site["products/t10.html"]
    assert "https://github.com/maker/docs/blob/0123456789/a%20b.md" in site["products/t10.html"]


def test_a_folder_with_something_in_it_is_left_alone(wiki_root: Path, tmp_path: Path) -> None:
    """An empty one is filled."""
    wiki = Wiki(wiki_root)
    (tmp_path / "new").mkdir()
    assert write_site(wiki, tmp_path / "new")[0] == tmp_path / "new" / "index.html"
    for taken in (tmp_path / "new", tmp_path / "new" / "index.html"):
        with pytest.raises(BadInput, match="there already"):
            write_site(wiki, taken)


def test_a_place_that_can_not_be_written_is_refused(wiki_root: Path) -> None:
    """With its cause."""
    with pytest.raises(BadInput, match="can't be written"):
        write_site(Wiki(wiki_root), Path("/dev/null/site"))
