"""A folder of another shape: every file is named with why it is no page."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.errors import BadInput
from kopt_kb.wiki.shape import describe_folder, is_wiki


def test_each_file_has_its_reason(tmp_path: Path) -> None:
    """Prose, another front matter, a table, a binary, a page in the wrong place; hidden files are left alone."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/h100.md").write_text("# H100\n\n| GPU | BF16 |\n|---|---|\n| H100 | ~989 |\n")
    (tmp_path / "docs/h200.md").write_text("---\ntitle: H200\n---\n# H200\n")
    (tmp_path / "specs.json").write_text("{}")
    (tmp_path / "sheet.pdf").write_bytes(b"%PDF")
    (tmp_path / ".hidden").write_text("x")
    report = describe_folder(tmp_path)
    reasons = {fault.path: fault.message for fault in reversed(report.faults) if fault.path != "."}
    assert set(reasons) == {"docs/h100.md", "docs/h200.md", "specs.json", "sheet.pdf"}
    assert "front matter" in reasons["docs/h100.md"]
    assert "lacks" in reasons["docs/h200.md"]
    assert "diff" in next(fault.fix for fault in report.faults if fault.path == "specs.json")
    assert not report.rows


def test_a_page_in_the_wrong_place_is_not_adopted(wiki_root: Path) -> None:
    """Even when it reads well."""
    (wiki_root / "hardware").rename(wiki_root / "cards")
    assert not is_wiki(wiki_root)
    report = describe_folder(wiki_root)
    assert any(
        fault.path == "cards/nvidia/t10.md" and "outside of hardware" in fault.message for fault in report.faults
    )


def test_nothing_to_describe(tmp_path: Path) -> None:
    """A missing or an empty folder is bad input."""
    for folder in (tmp_path, tmp_path / "missing"):
        with pytest.raises(BadInput):
            describe_folder(folder)
