"""The invented wiki with knowledge pages."""

from __future__ import annotations

from pathlib import Path

import pytest

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
