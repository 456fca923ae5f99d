"""Gather the pages of the documentation site: documents, generated reference, schemas, one page a product.

    python tools/docs_site.py build/site && mkdocs build --strict

Nothing gathered is committed. Documents keep their place, so their links hold; a link to a file that is no page becomes
its name. Products are read through the wiki as `kb lookup` reads them.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PAGES = (
    "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "benchmarks/README.md",
    "benchmarks/campaigns/README.md", "benchmarks/limiters/README.md", "skills/BENCHMARK.md",
)  # fmt: skip
MOVED = {"gpuwiki/README.md": "wiki/index.md", "docs/schema": "docs/reference/schemas.md", "docs": "docs/README.md"}
"""Path that documents link to → page of the site."""
_CODE_OR_LINK = re.compile(
    r"```.*?```|(?P<mark>!?)\[(?P<label>(?:[^\[\]]|\[[^\]]*\])*)\]\((?P<target>[^)\s]+)\)|`[^`\n]*`", re.DOTALL
)
"""Code, which stays as it is, or a link; whichever begins first."""


def documents() -> dict[str, str]:
    """Return path and text of every document that is written by hand or by tools/reference.py."""
    paths = [ROOT / page for page in PAGES if (ROOT / page).is_file()] + sorted((ROOT / "docs").rglob("*.md"))
    return {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in paths}


def products() -> Iterator[tuple[str, str]]:
    """Yield the page of each product and, last, their index."""
    from kopt_kb.wiki.registry import Registry
    from kopt_kb.wiki.version import data_version

    registry = Registry.open()
    rows = []
    for name in registry.platforms():
        platform = registry.platform(name)
        one = platform.identity
        yield f"wiki/{one.platform}.md", _product(platform)
        rows.append(f"| [{one.platform}]({one.platform}.md) | {one.sku} | {one.vendor} | {one.arch} | {one.target} |")
    head = [
        "# Products",
        f"State of the data: {data_version(registry.wikis)}. Each value has a document, a place and a quote.",
        "",
    ]
    table = ["| product | name | vendor | architecture | target |", "|---|---|---|---|---|", *rows]
    yield "wiki/index.md", "\n".join([*head, *table, ""])


def _product(platform: Any) -> str:
    from kopt_kb.cli.kit.labels import label
    from kopt_kb.wiki.lookup import lookup

    one, values = platform.identity, lookup(platform)
    lines = [
        f"# {one.platform}",
        "",
        f"{one.vendor} {one.sku}, {one.arch}, {one.target}. From `gpuwiki/{one.path}`.",
        "",
    ]
    lines += (
        [f"Not to be confused with {', '.join(f'[{name}]({name}.md)' for name in values.siblings)}.", ""]
        if values.siblings
        else []
    )
    rows = (*values.specs, *values.unsupported, *values.unknown)
    for heading in dict.fromkeys(row.heading for row in rows):
        lines += [f"## {heading}", "", "| quantity | value | unit | grade | source |", "|---|---|---|---|---|"]
        for row in rows:
            if row.heading == heading:
                cells = (label(row.metric, row.axes), row.value, row.unit, row.grade, _sources(values, row))
                lines.append(f"| {' | '.join(_cell(cell) for cell in cells)} |")
        lines.append("")
    return "\n".join(lines)


def _sources(values: Any, row: Any) -> str:
    found = []
    for source in row.sources:
        note = values.sheet.footnotes[row.path][source.id]
        quote = f": “{source.quote}”" if source.quote else ""
        found.append(f"{note.title} ({note.publisher}), {source.locator}{quote}")
    return "; ".join([*found, *(f"{tag}: {text}" for tag, text in row.notes)])


def _cell(text: str) -> str:
    return re.sub(r"([\\|*_<>`\[\]])", r"\\\1", " ".join(text.split())) or "-"


def schemas() -> str:
    """Return the page of all documents that commands print or store, with their members."""
    lines = [
        "# Documents and their schemas",
        "",
        "What `--json` prints, and what is stored. The JSON Schemas are `docs/schema/NAME.schema.json`.",
        "",
    ]
    for path in sorted((ROOT / "docs" / "schema").glob("*.schema.json")):
        body = json.loads(path.read_text(encoding="utf-8"))
        lines += [f"## {path.name.partition('.')[0]}", "", _cell(body.get("description", "")), ""]
        members = body.get("properties", {})
        if members:
            required = set(body.get("required", ()))
            lines += ["| member | always | what it is |", "|---|---|---|"]
            for name, one in members.items():
                text = _cell(one.get("description", "") or _kind(one))
                lines.append(f"| `{name}` | {'yes' if name in required else 'no'} | {text} |")
            lines.append("")
    return "\n".join(lines)


def _kind(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        return schema["$ref"].rpartition("/")[2]
    if "anyOf" in schema:
        return " or ".join(_kind(one) for one in schema["anyOf"])
    if schema.get("type") == "array":
        return f"list of {_kind(schema.get('items', {}))}" if isinstance(schema.get("items"), dict) else "list"
    return str(schema.get("type") or schema.get("const") or "any")


def linked(page: str, text: str, known: set[str], assets: set[str]) -> str:
    """Return a page with links that lead to pages of the site; names in place of all others."""

    def turned(found: re.Match[str]) -> str:
        mark, label, target = found["mark"], found["label"], found["target"]
        path, hash_, anchor = (target or "").partition("#")
        if not path or ":" in path:
            return found[0]
        folder = Path(page).parent
        plain = os.path.normpath(folder / path)
        plain = MOVED.get(plain, plain)
        product = re.fullmatch(r"gpuwiki/hardware/\w+/(\w+)\.md", plain)
        if product is not None:
            plain = f"wiki/{product[1].upper()}.md"
        if plain in known:
            return f"[{label}]({os.path.relpath(plain, folder)}{hash_}{anchor})"
        if mark and (ROOT / plain).is_file():
            assets.add(plain)
            return found[0]
        return label if f"`{plain}`" == label or plain in label else f"{label} (`{plain}`)"

    return _CODE_OR_LINK.sub(turned, text)


def gather(folder: Path) -> int:
    """Write all pages into a folder, which is emptied before; return their number."""
    pages = {**documents(), **dict(products()), "docs/reference/schemas.md": schemas()}
    assets: set[str] = set()
    turned = {page: linked(page, text, set(pages), assets) for page, text in pages.items()}
    shutil.rmtree(folder, ignore_errors=True)
    for page, text in turned.items():
        target = folder / page
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    for asset in assets:
        (folder / asset).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / asset, folder / asset)
    return len(turned)


if __name__ == "__main__":
    print(f"{gather(Path(sys.argv[1]))} pages")
