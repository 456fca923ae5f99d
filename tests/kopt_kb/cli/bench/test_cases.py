"""The cases that lines name in two files, folders, git revisions, compilers and tables."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.cli.bench.cases import read_cases
from kopt_kb.cli.kit.case_lines import lines_of
from kopt_kb.launch.judge.revisions import RevisionCase
from kopt_kb.launch.judge.sides import sides
from kopt_kb.sandbox.gitrun import Git

KERNEL = 'OP = "elementwise"\nTUNING_SPACE = {"BLOCK": [128]}\n'


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository whose kernel changed; the current folder is it."""
    root = tmp_path / "project"
    root.mkdir()
    git = Git(root)
    git.run("init", "--quiet")
    for text in ("# first\n", "# second\n"):
        (root / "sum.py").write_text(KERNEL + text)
        git.run("add", "-A")
        git.run("commit", "--quiet", "-m", text)
    (root / "new.py").write_text(KERNEL)
    monkeypatch.chdir(root)
    return root


def _cases(base: str, head: str, *lines: str) -> list[RevisionCase]:
    with sides(base, head) as (one, two):
        return read_cases(one, two, lines_of(lines, []))


def test_two_revisions_of_git(project: Path) -> None:
    """Their files lie in folders of their own while they are compared; the working tree is `.`."""
    with sides("HEAD~1", "HEAD") as (base, head):
        (case,) = read_cases(base, head, lines_of(["sum.py 64x32 bf16 BLOCK=128"], []))
        assert case.base.file is not None and case.base.file.read_text().endswith("# first\n")
        assert case.head.file is not None and case.head.file.read_text().endswith("# second\n")
        assert (case.name, case.shape, case.dtype, case.head.config) == ("sum.py", (64, 32), "bf16", {"BLOCK": 128})
        made = base.path
    assert not made.exists()
    (case,) = _cases("HEAD", ".", "new.py 4x4 fp32")
    assert case.base.file is None and case.head.file is not None


def test_two_files_and_two_compilers(project: Path) -> None:
    """A file is compared as given; an interpreter is known by its name."""
    (case,) = _cases("sum.py", "new.py", "new.py 4x4 fp32")
    assert [one.file and one.file.name for one in (case.base, case.head)] == ["sum.py", "new.py"]
    (case,) = _cases("python3", sys.executable, "sum.py 4x4 fp32")
    assert case.head.python == sys.executable and case.base.python and case.base.file == case.head.file


def test_rows_of_two_tables(tmp_path: Path) -> None:
    """A row of the head against what served its key in the base: its own row, or the nearest."""
    name = "E=8,N=64,device_name=NVIDIA_H20.json"
    row = '{"BLOCK_SIZE_M": %d, "BLOCK_SIZE_N": 64, "BLOCK_SIZE_K": 64}'
    for folder, rows in (("old", {"1": 16, "64": 32}), ("new", {"1": 16, "48": 64})):
        (tmp_path / folder).mkdir()
        body = ", ".join(f'"{key}": {row % size}' for key, size in rows.items())
        (tmp_path / folder / name).write_text(f"{{{body}}}")
    kernel = tmp_path / "moe.py"
    kernel.write_text('OP = "elementwise"\n')
    words = (str(tmp_path / "old" / name), str(tmp_path / "new" / name))
    found = _cases(*words, f"{kernel} {{key}}x7 bf16 GROUP=1")
    assert [(one.name, one.shape) for one in found] == [("moe.py row 1", (1, 7)), ("moe.py row 48", (48, 7))]
    assert [one.base.config["BLOCK_SIZE_M"] for one in found] == [16, 32]
    assert found[1].head.config == {"GROUP": 1, "BLOCK_SIZE_M": 64, "BLOCK_SIZE_N": 64, "BLOCK_SIZE_K": 64}
    for line, part in ((f"{kernel} 4x7 bf16", "has no {key}"), (f"{tmp_path / 'none.py'} {{key}}x7 bf16", "none.py")):
        with pytest.raises(BadInput) as caught:
            _cases(*words, line)
        assert part in str(caught.value)
    other = tmp_path / "E=9,N=64,device_name=NVIDIA_H20.json"
    other.write_text((tmp_path / "old" / name).read_text())
    with pytest.raises(BadInput, match="two forms or problems"):
        _cases(words[0], str(other), f"{kernel} {{key}}x7 bf16")


@pytest.mark.parametrize(
    ("base", "head", "lines", "part"),
    [
        ("nothing", "HEAD", [], "no file, folder, interpreter or git revision"),
        ("--all", "HEAD", [], "no file, folder, interpreter or git revision"),
        ("sum.py", "HEAD", [], "is a file, and HEAD a folder"),
        ("HEAD", "HEAD", [], "nothing says what is compared"),
        ("HEAD", "HEAD", ["gone.py 4x4 fp32"], "neither has such a file"),
        ("HEAD", "HEAD", ["../sum.py 4x4 fp32"], "lies outside the revisions"),
        ("HEAD", "HEAD", ["/etc/sum.py 4x4 fp32"], "lies outside the revisions"),
        ("HEAD", "HEAD", ["sum.py 4x4"], "is not FILE SHAPE DTYPE"),
        ("HEAD", "HEAD", ["sum.py 4x4 fp32 fast"], "is not FILE SHAPE DTYPE"),
        ("HEAD", "HEAD", ["sum.py 4x4 fp32 WIDTH=3"], "no setting WIDTH"),
        ("HEAD", "HEAD", ["sum.py 4xq fp32"], "4xq"),
        ("python3", "python3", ["gone.py 4x4 fp32"], "gone.py"),
    ],
)
def test_what_is_refused(project: Path, base: str, head: str, lines: list[str], part: str) -> None:
    """In one line that names what and where."""
    with pytest.raises(BadInput) as caught:
        _cases(base, head, *lines)
    assert part in str(caught.value)
