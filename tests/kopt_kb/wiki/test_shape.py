"""A folder of another shape: every file is named with why it is no page."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
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


def test_a_page_with_many_faults_names_the_first_three(tmp_path: Path) -> None:
    """And says how many are left out."""
    rows = "\n".join(f"| nonsense_{at} | 1 | - | - | vendor | - | |" for at in range(6))
    head = "| Metric | Value | Unit | Conditions | Grade | Source | Note |\n|---|---|---|---|---|---|---|"
    front = "---\nplatform: T\nvendor: V\nsku: S\narch: A\ntarget: sm_00\n---"
    (tmp_path / "t.md").write_text(f"{front}\n# T\n\n## M\n\n{head}\n{rows}\n")
    mine = [fault.message for fault in describe_folder(tmp_path).faults if fault.path == "t.md"]
    assert len(mine) == 4
    assert mine[3].startswith("3 ")


def test_of_very_many_files_the_first_are_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rest is counted."""
    monkeypatch.setattr("kopt_kb.wiki.shape._MOST_FILES", 2)
    for at in range(5):
        (tmp_path / f"{at}.json").write_text("{}")
    faults = describe_folder(tmp_path).faults
    assert [fault.path for fault in faults] == [".", "0.json", "1.json", "."]
    assert faults[-1].message == "3 files more were not looked at"


def test_a_file_that_can_not_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what the system says."""

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    (tmp_path / "mine.md").write_text("x")
    monkeypatch.setattr(Path, "open", refuse)
    messages = {fault.path: fault.message for fault in describe_folder(tmp_path).faults}
    assert messages["mine.md"] == "the file can't be read: Permission denied"
