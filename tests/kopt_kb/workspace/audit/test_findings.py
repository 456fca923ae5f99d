"""A finding says where, what and what to do, in one line and as JSON."""

from __future__ import annotations

from kopt_kb.workspace.audit.findings import AUDIT_CODES, AuditFinding, line_of


def test_a_finding_is_one_line_and_the_contract_s_object():
    """Code, file, line, message, fix."""
    one = AuditFinding("tbd", "README.md", 7, "'- tile: TBD' is still open", "fill it in")
    assert str(one) == "README.md:7: '- tile: TBD' is still open; fill it in [tbd]"
    assert one.to_json() == {
        "code": "tbd", "file": "README.md", "line": 7, "message": "'- tile: TBD' is still open", "fix": "fill it in",
    }  # fmt: skip
    assert one.code in AUDIT_CODES


def test_the_line_of_a_text():
    """The first that holds it; 1 where none does."""
    assert (line_of("a\nbc\nb", "b"), line_of("a", "x")) == (2, 1)


def test_the_number_it_is_about_is_not_printed() -> None:
    """It says which findings a person's words brought in; the document has its five members."""
    one = AuditFinding("unsourced", "README.md", 7, "4.8 TB/s is no row", "remove it", "4.8 TB/s")
    assert one.number == "4.8 TB/s" and list(one.to_json()) == ["code", "file", "line", "message", "fix"]
