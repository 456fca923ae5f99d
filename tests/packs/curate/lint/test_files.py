"""Which files are read: texts, bounded, no links."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.packs.curate.lint.files import MAX_BYTES, Skipped, TextFile, texts


def _read(path: Path) -> list[str]:
    return [Path(one.path).name for one in texts([path]) if isinstance(one, TextFile)]


def test_a_folder_is_walked_in_order(tmp_path: Path) -> None:
    """Hidden folders, test data, builds and files of other kinds are passed over."""
    for name in ("b.md", "a.py", ".git/c.md", "tests/d.md", "node_modules/e.js", "f.png", ".claude/g.md", "sub/h.cu"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    assert _read(tmp_path) == ["a.py", "b.md", "g.md", "h.cu"]


def test_links_are_not_followed(tmp_path: Path) -> None:
    """Neither to files nor to folders."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "a.md").write_text("x")
    inside = tmp_path / "in"
    inside.mkdir()
    (inside / "folder").symlink_to(tmp_path / "out")
    (inside / "file.md").symlink_to(tmp_path / "out" / "a.md")
    assert _read(inside) == []


def test_what_is_no_text_is_named(tmp_path: Path) -> None:
    """Binary and large files below a folder; a fifo is no file."""
    (tmp_path / "a.md").write_bytes(b"\0")
    (tmp_path / "b.md").write_bytes(b"\xff\xfe")
    (tmp_path / "c.md").write_text("x" * (MAX_BYTES + 1))
    os.mkfifo(tmp_path / "d.md")
    skipped = [one for one in texts([tmp_path]) if isinstance(one, Skipped)]
    assert [Path(one.path).name for one in skipped] == ["a.md", "b.md", "c.md"]


@pytest.mark.parametrize("content", [b"\0", b"\xff", b"\x89PNG\r\n\x1a\n and words", b"GPU \xff\xff\xff\xff"])
def test_a_named_file_that_is_no_text_is_refused(tmp_path: Path, content: bytes) -> None:
    """Exit 2 with its name."""
    path = tmp_path / "a.md"
    path.write_bytes(content)
    with pytest.raises(BadInput, match="no text"):
        list(texts([path]))


def test_a_text_in_an_older_encoding_is_read(tmp_path: Path) -> None:
    """A hook names every text of a commit: one of Latin-1 is no reason to stop it."""
    path = tmp_path / "a.md"
    path.write_bytes("Gr\u00fc\u00dfe: H20".encode("latin-1"))
    assert [one.text for one in texts([path]) if not isinstance(one, Skipped)] == ["Gr\u00fc\u00dfe: H20"]
