"""Only regular files of bounded size are read, and nothing blocks."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from kopt_kb.launch.project.bounded_read import UnreadableError, read_bounded


def test_a_file_up_to_its_bound(tmp_path: Path) -> None:
    """One byte more is refused."""
    path = tmp_path / "file"
    path.write_bytes(b"12345")
    assert read_bounded(path, 5) == b"12345"
    with pytest.raises(UnreadableError, match="larger than 4 bytes"):
        read_bounded(path, 4)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (os.mkfifo, "no regular file"),
        (Path.mkdir, "no regular file"),
        (lambda path: path.symlink_to("/dev/zero"), "is a link"),
    ],
)
def test_everything_else_is_refused(tmp_path: Path, make: Callable[[Path], None], words: str) -> None:
    """A pipe nobody writes to, a folder, a link to a file without an end."""
    make(tmp_path / "odd")
    with pytest.raises(UnreadableError, match=words):
        read_bounded(tmp_path / "odd", 100)


def test_a_device_and_nothing() -> None:
    """A device has no end."""
    with pytest.raises(UnreadableError, match="no regular file"):
        read_bounded(Path("/dev/zero"), 100)
    with pytest.raises(FileNotFoundError):
        read_bounded(Path("/no/such/file"), 100)
