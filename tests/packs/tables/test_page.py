"""An audit as a page."""

from __future__ import annotations

from dataclasses import replace

from kopt_kb.base.markup.html import page
from kopt_kb.packs.tables import page as module
from kopt_kb.packs.tables.audit import AuditedTable, TableAudit
from kopt_kb.packs.tables.findings import TableFinding
from kopt_kb.packs.tables.form_checks import RowSpan
from kopt_kb.packs.tables.page import audit_page
from kopt_kb.tuning.page.markdown import markdown

TABLE = AuditedTable(
    "a.json", "fused-moe", "fused_moe", "vllm", "NVIDIA H200", "H200_SXM", None, 2, 2,
    (RowSpan("1", "tokens", 1, 2), RowSpan("4", "tokens", 3, None)), "3.4.0",
)  # fmt: skip
OTHER = replace(TABLE, file="b.json", platform=None, spans=(), triton="")
FOUND = TableAudit(
    (TABLE, OTHER),
    (TableFinding("spills", "a.json", "24 B a thread", 7, "64"), TableFinding("gap", "a.json", "2 to 3", 3, "1")),
    ("vllm 0.33.0",),
    "3.6.0",
    8,
    5,
    12.0,
)


def test_a_page_says_what_was_found_where_and_with_what() -> None:
    """Kinds first, the worst before the rest; every table with its product."""
    text = markdown(audit_page(FOUND, "kopt-kb 1", "wiki 3"))
    assert "Triton 3.6.0" in text and "vllm 0.33.0" in text and "8, of which 5 were compiled" in text
    assert text.index("gap: ") < text.index("spills: ")
    assert "24 B a thread" in text and "1 to 4 tokens" in text and "1 warning(s), 1 note(s)" in text
    assert "| clean |" in text and "SXM |" in text
    assert "<html" in page(audit_page(FOUND, "kopt-kb 1", "wiki 3"))


def test_without_an_engine_nothing_is_said_of_a_compiler() -> None:
    """And a page of very many findings is cut, in words."""
    assert "Compiler" not in markdown(audit_page(replace(FOUND, engines=()), "kopt-kb 1", "wiki 3"))
    many = tuple(TableFinding("spills", "a.json", "24 B", line) for line in range(module._MOST + 5))
    assert "5 more are not listed here" in markdown(audit_page(replace(FOUND, findings=many), "kopt-kb 1", "wiki 3"))
