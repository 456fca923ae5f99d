"""The wiki as pages to browse: plain HTML without scripts, one page a product, every value beside its citation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from itertools import groupby
from pathlib import Path
from urllib.parse import quote

from kopt_kb.base.errors import BadInput
from kopt_kb.packs.curate.citing import ADDRESS
from kopt_kb.wiki.announced import all_announced
from kopt_kb.wiki.footnotes import Footnote
from kopt_kb.wiki.names import Identity
from kopt_kb.wiki.row import Row, Source
from kopt_kb.wiki.sheet import Sheet
from kopt_kb.wiki.version import data_version
from kopt_kb.wiki.wiki import Wiki

__all__ = ["pages", "write_site"]

_STYLE = (
    "body{font:16px/1.4 sans-serif;margin:1em auto;max-width:90em;padding:0 1em;color:#111;background:#fff}"
    "table{border-collapse:collapse;width:100%}th,td{border:1px solid #bbb;padding:.2em .5em;text-align:left;"
    "vertical-align:top;overflow-wrap:anywhere}td.number{text-align:right;white-space:nowrap}"
    "tr.rejected td,tr.unknown td{color:#666}q{font-style:italic}:target{background:#ffd}"
)


def pages(wiki: Wiki) -> Iterator[tuple[str, str]]:
    """Yield path and text of each page of the site, the index first."""
    products = sorted(wiki.names.identities.values(), key=lambda one: (one.vendor, one.arch, one.platform))
    yield "index.html", _index(wiki, products)
    for one in products:
        yield _address(one), _product(wiki, one)


def write_site(wiki: Wiki, folder: Path) -> tuple[Path, ...]:
    """Write the site into a new or empty folder and return its files.

    Raises:
        BadInput: The folder holds something, or it can't be written.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        fix = "name a new one; nothing is overwritten"
        raise BadInput("is there already and not an empty folder", where=str(folder), fix=fix, code="KB113")
    written = []
    try:
        for path, text in pages(wiki):
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
            written.append(target)
    except OSError as error:
        what = f"the site can't be written: {error.strerror}"
        raise BadInput(what, where=str(folder), fix="name a folder that you may write to", code="KB112") from error
    return tuple(written)


def _address(identity: Identity) -> str:
    return f"products/{identity.platform.lower()}.html"


def _document(title: str, body: Iterable[str]) -> str:
    lines = (
        "<!doctype html>", '<html lang="en">', "<head>", '<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width">', f"<title>{escape(title)}</title>",
        f"<style>{_STYLE}</style>", "</head>", "<body>", f"<h1>{escape(title)}</h1>", *body, "</body>", "</html>",
    )  # fmt: skip
    return "\n".join(lines) + "\n"


def _table(head: Iterable[str], rows: Iterable[str]) -> Iterator[str]:
    yield "<table>"
    yield f"<tr>{''.join(f'<th>{name}</th>' for name in head)}</tr>"
    yield from rows
    yield "</table>"


def _index(wiki: Wiki, products: list[Identity]) -> str:
    version = data_version([wiki])
    links = (
        (
            f'<a href="{_address(product)}">{escape(product.platform)}</a>',
            escape(product.sku),
            product.vendor,
            product.arch,
            product.target,
        )
        for product in products
    )
    rows = (f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>" for cells in links)
    absent = (
        f"<tr><td>{escape(', '.join(one.names))}</td><td>{escape(one.known)}</td><td>{escape(one.source)}</td></tr>"
        for one in all_announced(wiki)
    )
    return _document(
        "Hardware values with sources",
        (
            f"<p>{len(products)} products; data {version.version} of {version.date}. Every value stands beside the",
            "document and the place in it that it was read from. UNKNOWN: no source gives the value.</p>",
            *_table(("Product", "Name", "Vendor", "Architecture", "Target"), rows),
            "<h2>Announced or sold, no page</h2>",
            *_table(("Names", "What is known", "Source"), absent),
        ),
    )


def _product(wiki: Wiki, identity: Identity) -> str:
    sheet = wiki.sheet(identity)
    called = ", ".join((*identity.aliases, *identity.family)) or "nothing else"
    other = ", ".join(identity.near) or "no neighbour is known"
    known = f"{identity.vendor} {identity.sku}, {identity.arch}, {identity.target}."
    known += f" Also called: {called}. Not to be confused with: {other}."
    body = ['<p><a href="../index.html">All products</a></p>', f"<p>{escape(known)}</p>"]
    for (path, heading), rows in groupby(sheet.rows, key=lambda row: (row.path, row.heading)):
        body.append(f"<h2>{escape(heading)} <small>{escape(path)}</small></h2>")
        head = ("Metric", "Conditions", "Value", "Unit", "Grade", "Source", "Note")
        body += _table(head, (_row(sheet, row) for row in rows))
    body += ["<h2>Documents</h2>", *_documents(sheet)]
    return _document(identity.platform, body)


def _row(sheet: Sheet, row: Row) -> str:
    conditions = "; ".join(f"{name}={text}" for name, text in row.axes)
    notes = "; ".join(f"{tag}: {text}" for tag, text in row.notes)
    notes_of = sheet.footnotes.get(row.path, {})
    sources = "<br>".join(_source(row, one, notes_of[one.id]) for one in row.sources)
    kind = "rejected" if row.chosen is False else row.kind
    return (
        f'<tr class="{kind}" id="{escape(row.path)}:L{row.line}"><td>{row.metric}</td><td>{escape(conditions)}</td>'
        f'<td class="number">{escape(row.value)}</td><td>{escape(row.unit)}</td><td>{escape(row.grade)}</td>'
        f"<td>{sources}</td><td>{escape(notes)}</td></tr>"
    )


def _source(row: Row, source: Source, note: Footnote) -> str:
    quote = f": <q>{escape(source.quote)}</q>" if source.quote else ""
    return f'<a href="#{_mark(row.path, note)}">{escape(note.title)}</a>, {escape(source.locator)}{quote}'


def _mark(path: str, note: Footnote) -> str:
    return escape(f"{path}:{note.id}")


def _documents(sheet: Sheet) -> Iterator[str]:
    yield "<ul>"
    for path, notes in sheet.footnotes.items():
        for note in notes.values():
            rest = f"{note.publisher}, {note.revision}, read {note.read}"
            yield f'<li id="{_mark(path, note)}">{escape(note.title)}: {_link(note.url)}. {escape(rest)}</li>'
    yield "</ul>"


def _link(url: str) -> str:
    """Return a document's address as a link where it leads to one."""
    match = ADDRESS.fullmatch(url)
    target = url if url.startswith(("https://", "http://")) else ""
    if match is not None:
        target = f"https://github.com/{match['owner']}/{match['name']}/blob/{match['commit']}/{quote(match['path'])}"
    return f'<a href="{escape(target)}">{escape(url)}</a>' if target else escape(url)
