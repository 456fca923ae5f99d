"""A bundle says the same whatever order its files came in; a difference is what git takes."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.project.bundle import bundle, bundle_of, files_of, unified_diff


def test_one_form() -> None:
    """Canonical, and read back equal."""
    files = {"b.py": "x = 1\r\n", "a.py": "ü\n"}
    assert bundle(files) == bundle(dict(reversed(files.items())))
    assert files_of(bundle(files)) == files


def test_of_disk_keeps_newlines(tmp_path: Path) -> None:
    """Nothing is translated."""
    (tmp_path / "a.py").write_bytes(b"x\r\ny")
    assert files_of(bundle_of(tmp_path, ("a.py",))) == {"a.py": "x\r\ny"}


@pytest.mark.parametrize("data", [b"x", b"[]", b"{}", b'{"files": 1}', b'{"files": {"a": 1}}'])
def test_what_is_no_bundle(data: bytes) -> None:
    """One error for all."""
    with pytest.raises(BadInput, match="no bundle"):
        files_of(data)


OLD = {"ops/a.py": "one\ntwo\nthree\n", "b.py": "no newline", "gone.py": "x\n", "same.py": "s\n"}
NEW = {"ops/a.py": "one\nTWO\nthree\n", "b.py": "no newline\nnow", "new/c.py": "c\n", "same.py": "s\n"}


def test_git_applies_the_difference(tmp_path: Path) -> None:
    """Changed, new and removed files; ends without a newline; form feeds are no line ends."""
    old, new = {**OLD, "f.py": "a\x0cb\n1\n"}, {**NEW, "f.py": "a\x0cb\n2\n"}
    for path, text in old.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(text.encode())
    patch = unified_diff(old, new)
    subprocess.run(
        ["git", "apply", "-"],
        input=patch.encode(),
        cwd=tmp_path,
        check=True,
        env={"PATH": "/usr/bin:/bin", "GIT_CEILING_DIRECTORIES": str(tmp_path.parent)},
    )
    now = {str(one.relative_to(tmp_path)): one.read_bytes().decode() for one in tmp_path.rglob("*") if one.is_file()}
    assert now == new
    assert unified_diff(new, new) == ""
