"""Patches and files from outside: only the text of editable files, refused before anything is built."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import read
from kopt_kb.launch.project.bundle import unified_diff
from kopt_kb.launch.project.file import ProjectFile, read_project
from kopt_kb.tuning.patch import ForbiddenPathError, patched_files
from kopt_kb.tuning.proposals import ProposerAnswer

FILES = {"ops/gemm.py": "one\ntwo\nthree\n", "ops/config.py": "-- a line that looks like a header\nX = 1\n"}


@pytest.fixture
def project(project_root: Path) -> ProjectFile:
    return read_project((project_root / "project.toml").read_bytes(), "project.toml")


def patched(project: ProjectFile, root: Path, **answer: object) -> dict[str, str]:
    return patched_files(
        project,
        root,
        FILES,
        read(ProposerAnswer, {**dict.fromkeys(("category", "claim", "expected"), "x"), **answer}),
        "me",
    )


def test_source_files_and_patch(project: ProjectFile, project_root: Path) -> None:
    """Three ways to say it; what is not named stays."""
    assert patched(project, project_root, source="x\n") == {**FILES, "ops/gemm.py": "x\n"}
    new = {"ops/config.py": "X = 2\n", "ops/new.py": "y\n"}
    assert patched(project, project_root, files=new) == {**FILES, **new}
    wanted = {"ops/gemm.py": "one\nTWO\nthree\n", "ops/config.py": "X = 1\n", "ops/new.py": "y\n"}
    assert patched(project, project_root, patch=unified_diff(FILES, wanted)) == wanted


def test_a_patch_without_prefixes_or_git_lines(project: ProjectFile, project_root: Path) -> None:
    """As diff -u writes it, with a time stamp."""
    patch = "--- ops/gemm.py\t2026-01-01\n+++ ops/gemm.py\t2026-01-02\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n"
    assert patched(project, project_root, patch=patch)["ops/gemm.py"] == "one\nTWO\nthree\n"


HUNK = "@@ -0,0 +1 @@\n+x\n"


@pytest.mark.parametrize(
    ("patch", "words"),
    [
        (f"--- /dev/null\n+++ b/tests/x.py\n{HUNK}", "'tests/x.py' is outside the editable paths"),
        (f"--- /dev/null\n+++ b/../x.py\n{HUNK}", "'../x.py' is no plain path"),
        (f"--- /dev/null\n+++ /tmp/x.py\n{HUNK}", "'/tmp/x.py' is no plain path"),
        (f"--- /dev/null\n+++ b/ops/conftest.py\n{HUNK}", "would change how tests run"),
        (
            "diff --git a/ops/gemm.py b/ops/b.py\nsimilarity index 100%\nrename from ops/gemm.py\nrename to ops/b.py\n",
            "renames a file",
        ),
        ("diff --git a/ops/gemm.py b/ops/gemm.py\ndeleted file mode 100644\n", "deletes a file"),
        ("--- a/ops/gemm.py\n+++ /dev/null\n@@ -1,3 +0,0 @@\n-one\n-two\n-three\n", "deletes a file"),
        ("diff --git a/ops/gemm.py b/ops/gemm.py\nold mode 100644\nnew mode 100755\n", "changes a mode"),
        (
            f"diff --git a/ops/l.py b/ops/l.py\nnew file mode 120000\n--- /dev/null\n+++ b/ops/l.py\n{HUNK}",
            "makes a link",
        ),
        ("diff --git a/ops/gemm.py b/ops/gemm.py\nGIT binary patch\nliteral 0\n", "is binary"),
        ("diff --git a/ops/gemm.py b/ops/gemm.py\nBinary files a/ops/gemm.py and b/ops/gemm.py differ\n", "is binary"),
    ],
)
def test_what_a_patch_may_not_do(project: ProjectFile, project_root: Path, patch: str, words: str) -> None:
    """The path or the line is named."""
    with pytest.raises(ForbiddenPathError) as caught:
        patched(project, project_root, patch=patch)
    assert words in caught.value.what


def test_a_second_file_behind_an_innocent_one(project: ProjectFile, project_root: Path) -> None:
    """Every file of a patch is looked at, and lines of a hunk are never taken for headers."""
    innocent = unified_diff(FILES, {**FILES, "ops/config.py": "X = 1\n"})
    assert "\n--- a line" in innocent
    assert patched(project, project_root, patch=innocent)["ops/config.py"] == "X = 1\n"
    with pytest.raises(ForbiddenPathError, match=r"'project.toml' is outside"):
        patched(project, project_root, patch=f"{innocent}--- a/project.toml\n+++ b/project.toml\n@@ -1 +1 @@\n-a\n+b\n")


def test_files_outside_and_through_links(project: ProjectFile, project_root: Path) -> None:
    """The same rules hold for whole files."""
    with pytest.raises(ForbiddenPathError, match="outside the editable"):
        patched(project, project_root, files={"tests/check_gemm.py": ""})
    (project_root / "ops" / "out.py").symlink_to("/etc/hostname")
    with pytest.raises(ForbiddenPathError, match="through a link"):
        patched(project, project_root, files={"ops/out.py": ""})


def test_files_of_one_answer_that_are_in_each_others_way(project: ProjectFile, project_root: Path) -> None:
    """A new file can't be the folder of another new file."""
    wide = replace(project, editable=("ops/**",))
    for new in ({"ops/a.py": "", "ops/a.py/b.py": ""}, {"ops/gemm.py/b.py": ""}):
        with pytest.raises(ForbiddenPathError, match="lies below a file|is a folder"):
            patched(wide, project_root, files=new)


@pytest.mark.parametrize(
    "patch", ["nonsense", "--- a/ops/gemm.py\n+++ b/ops/gemm.py\n@@ -1,3 +1,3 @@\n no\n-match\n+x\n y\n"]
)
def test_a_patch_that_does_not_apply(project: ProjectFile, project_root: Path, patch: str) -> None:
    """Said in one line."""
    with pytest.raises(BadInput, match="names no file|does not apply"):
        patched(project, project_root, patch=patch)


def test_new_files_that_exclude_each_other(project_root: Path) -> None:
    """A path can't be a file and a folder."""
    text = (project_root / "project.toml").read_text().replace('["ops/*.py"]', '["ops/**"]')
    deep = read_project(text.encode(), "project.toml")
    with pytest.raises(ForbiddenPathError, match="'ops/new' is a folder"):
        patched(deep, project_root, files={"ops/new": "x", "ops/new/x.py": "x"})
