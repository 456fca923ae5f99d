"""An audit of tables as a page for those who maintain them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Literal

from kopt_kb.base.markup.blocks import Cell, FactsBlock, PageBlock, ReportPage, Section, TableBlock
from kopt_kb.base.sarif import SarifLevel
from kopt_kb.packs.tables.audit import TableAudit
from kopt_kb.packs.tables.findings import KINDS
from kopt_kb.packs.tables.moe_launch import ASSUMED

__all__ = ["audit_page"]

_MOST = 2000
_TONES: Mapping[SarifLevel, Literal["bad", "warn", "quiet"]] = {"error": "bad", "warning": "warn", "note": "quiet"}

_ASSUMED = (
    f"{ASSUMED.hidden:,} deep, {ASSUMED.top_k} experts a token, {ASSUMED.dtype} activations: tables do not say it; "
    "code objects depend on it only where 16 does not divide an extent"
)


def audit_page(found: TableAudit, program: str, data: str) -> ReportPage:
    """Return the page of an audit.

    Args:
        found: The audit.
        program: Program and version that made it.
        data: Version and date of the wiki's data.
    """
    lead: list[PageBlock] = [FactsBlock(_facts(found, data)), _kinds(found)]
    sections = [Section(f"{kind}: {KINDS[kind][1]}", _listed(found, kind)) for kind in KINDS if found.counts.get(kind)]
    sections.append(Section("Tables", (_tables(found),)))
    return ReportPage("Audit of tuned tables", tuple(lead), sections, program)


def _facts(found: TableAudit, data: str) -> tuple[tuple[str, str], ...]:
    facts = [("Tables", f"{len(found.tables):,}"), ("Rows", f"{found.rows:,}"), ("Wiki", data)]
    if found.engines:
        facts += [
            ("Engine", ", ".join(found.engines)),
            ("Compiler", f"Triton {found.triton}"),
            (
                "Code objects",
                f"{found.code_objects:,}, of which {found.compiled:,} were compiled in {found.seconds:.0f} s",
            ),
            ("Assumed of a layer", _ASSUMED),
        ]
    return tuple(facts)


def _kinds(found: TableAudit) -> TableBlock:
    files = Counter(kind for kind, _ in {(one.kind, one.file) for one in found.findings})
    rows = tuple(
        (
            Cell(kind, tone=_TONES[KINDS[kind][0]]),
            KINDS[kind][0],
            str(found.counts[kind]),
            str(files[kind]),
            KINDS[kind][1],
        )
        for kind in KINDS
        if found.counts.get(kind)
    )
    head = ("Kind", "Level", "Findings", "Files", "Meaning")
    return TableBlock("Findings by kind", head, rows, frozenset({2, 3}))


def _listed(found: TableAudit, kind: str) -> tuple[PageBlock, ...]:
    every = [one for one in found.findings if one.kind == kind]
    rows = tuple((one.file, str(one.line or ""), one.key, one.message) for one in every[:_MOST])
    block: PageBlock = TableBlock(f"{len(every)} finding(s)", ("File", "Line", "Row", "What"), rows, frozenset({1}))
    rest = len(every) - len(rows)
    return (block, Cell(f"{rest} more are not listed here; --json has them.")) if rest else (block,)


def _tables(found: TableAudit) -> TableBlock:
    worst: dict[str, Counter[SarifLevel]] = {}
    for one in found.findings:
        worst.setdefault(one.file, Counter())[one.level] += 1
    rows = []
    for table in found.tables:
        counts = worst.get(table.file, Counter())
        said = ", ".join(f"{counts[level]} {level}(s)" for level in _TONES if counts[level]) or "clean"
        sizes = table.spans
        span = f"{sizes[0].key} to {sizes[-1].key} {sizes[0].size}" if sizes else ""
        product = table.platform or table.device or "none"
        rows.append((table.file, product, str(table.rows), span, table.triton, said))
    head = ("File", "Product", "Rows", "Sizes", "Tuned with Triton", "Findings")
    return TableBlock(f"{len(rows)} table(s)", head, tuple(rows), frozenset({2}))
