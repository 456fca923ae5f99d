"""What is neither a workspace nor a bundle."""

from __future__ import annotations

from pathlib import Path

from kopt_kb.workspace.audit.others import is_of_others


def test_what_is_of_others(tmp_path: Path) -> None:
    """A workspace is not, nor is its journal, nor a damaged one."""
    (tmp_path / "ws" / "objects").mkdir(parents=True)
    (tmp_path / "ws" / "journal.jsonl").write_text("")
    (tmp_path / "logs").mkdir()
    (tmp_path / "b.kbb").write_bytes(b"\x1f\x8b")
    found = {name: is_of_others(tmp_path / name) for name in ("ws", "ws/journal.jsonl", "logs", "b.kbb", "none")}
    assert found == {"ws": False, "ws/journal.jsonl": False, "logs": True, "b.kbb": False, "none": False}
