"""The invented wiki with knowledge pages; sheets made of bare rows, for rules."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kopt_kb.wiki.collect import Collection, collect
from kopt_kb.wiki.registry import Registry
from kopt_kb.wiki.row import Row, Source
from kopt_kb.wiki.sheet import Sheet
from kopt_kb.wiki.vocabulary import METRICS, canonical_key

EVIDENCE = '; basis="source"; n="1"; part="any"; toolkit="any"; expires="2027-11-21"'
NOTE = f'[^doc]: title="T"; publisher="P"; url="https://example.org"; revision="undated"; read="2026-11-21"{EVIDENCE}\n'


def knowledge_page(title: str, kind: str, tags: str, text: str, versions: str = "any") -> str:
    """A knowledge page with one claim a section; `tags` is op, backend and arch lists, `/` between them."""
    op, backend, arch = tags.split("/")
    head = f'---\ntitle: {title}\nkind: {kind}\nop: [{op}]\nbackend: [{backend}]\narch: [{arch}]\nversions: "{versions}"\n---\n'
    sections = ("Trap", "Symptom", "Why", "What to do") if kind == "pitfall" else ("Section",)
    body = "".join(f"## {name}\n\n{text}[^doc]\n\n" for name in sections)
    return f"{head}# {title}\n\n{body}{NOTE}"


@pytest.fixture
def knowledge_root(wiki_root: Path) -> Path:
    """The invented wiki with a second target and five knowledge pages."""
    target = (wiki_root / "targets/sm_00.md").read_text()
    (wiki_root / "targets/gfx00.md").write_text(target.replace("sm_00", "gfx00").replace("NVIDIA", "AMD"))
    pages = {
        "ops/gemm.md": ("Matrix products", "op", "gemm/any/any", "Tiles decide the bank conflict rate."),
        "ops/overview.md": ("Operations", "op", "any/any/any", "Read what bounds it first."),
        "backends/flydsl.md": ("FlyDSL", "backend", "any/flydsl/amd", "Swizzle removes each bank conflict."),
        "pitfalls/banks.md": ("Bank conflicts", "pitfall", "gemm, attention/any/sm_00", "A bank conflict serialises."),
        "advice/memory.md": ("Memory bound", "advice", "any/any/nvidia", "Load wider."),
    }
    for path, (title, kind, tags, text) in pages.items():
        (wiki_root / path).parent.mkdir(exist_ok=True)
        (wiki_root / path).write_text(knowledge_page(title, kind, tags, text))
    return wiki_root


@pytest.fixture
def invented(wiki_root: Path) -> Collection:
    """One product of the invented wiki."""
    return collect(Registry.open(wiki_root), ["T10"])


SheetOf = Callable[..., Sheet]


def _row(text: str, line: int) -> Row:
    """`[PATH:]metric value unit axis=value;axis=value` as a row, then optional `! RULE` exception or `@ document`."""
    body, _, document = text.partition(" @ ")
    body, _, rule = body.partition(" ! ")
    metric, value, unit, *rest = body.split()
    path, _, metric = metric.rpartition(":")
    axes = dict(part.split("=") for part in rest[0].split(";")) if rest else {}
    notes = (("exception", f"{rule}: for a reason"),) if rule else ()
    key = canonical_key(METRICS[metric], axes)
    kind = "token" if METRICS[metric].dimension == "token" else "value"
    sources = (Source(document, "row", value),) if document else ()
    return Row(
        metric, key, kind, value, unit, tuple(axes.items()), "vendor", sources, notes, path or "p.md", line, "H", "0" * 12
    )  # fmt: skip


@pytest.fixture
def sheet_of() -> SheetOf:
    """Build a sheet from row texts."""

    def build(*texts: str) -> Sheet:
        return Sheet({}, "p.md", "T", [_row(text, line) for line, text in enumerate(texts, 1)])

    return build
