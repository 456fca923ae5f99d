"""Each version has one copy, used until something disturbed it; nothing is left of any in the end."""

from __future__ import annotations

import gc
from collections.abc import Callable
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.project.bundle import bundle, bundle_of, files_of
from kopt_kb.launch.project.copies import Copies
from kopt_kb.launch.project.file import ProjectFile
from kopt_kb.launch.project.paths import hash_files, select
from kopt_kb.launch.project.scratch import UnwritableFilesError

Read = Callable[..., ProjectFile]


@pytest.fixture
def versions(read: Read, project_root: Path) -> tuple[Copies, bytes, bytes, dict[str, str]]:
    """No copy yet, two versions, and the hashes of what is protected."""
    project = read()
    chosen = select(project, project_root)
    first = bundle_of(project_root, chosen.editable)
    files = files_of(first)
    second = bundle({**files, "ops/gemm.py": files["ops/gemm.py"] + "# second\n"})
    return Copies(project, project_root), first, second, hash_files(project_root, chosen.protected)


def test_a_copy_is_made_once_and_again_when_it_was_disturbed(versions) -> None:
    """The same folder until a file of it changes."""
    copies, first, second, protected = versions
    one, two = copies.of(first, protected), copies.of(second, protected)
    assert copies.of(first, protected) is one and one.folder != two.folder
    assert (two.folder / "ops" / "gemm.py").read_text().endswith("# second\n")
    (one.folder / "tests" / "check_gemm.py").write_text("")
    again = copies.of(first, protected)
    assert again is not one and not one.folder.exists()
    copies.close()
    assert not again.folder.exists() and not two.folder.exists() and copies.kept == {}


def test_what_changed_in_a_copy_that_nothing_ran_in_is_named(versions) -> None:
    """That copy is removed, the one that ran stays."""
    copies, first, second, protected = versions
    one, two = copies.of(first, protected), copies.of(second, protected)
    assert copies.meddled(one) == ()
    (two.folder / "notes.txt").write_text("from outside")
    assert copies.meddled(one) == ("notes.txt of another version's copy",)
    assert not two.folder.exists() and list(copies.kept.values()) == [one]
    copies.close()


def test_only_asked_versions_are_kept(versions) -> None:
    """The others are removed from disk."""
    copies, first, second, protected = versions
    one, two = copies.of(first, protected), copies.of(second, protected)
    copies.keep_only([second])
    assert not one.folder.exists() and two.folder.exists()
    copies.close()


def test_a_spare_copy_is_nobodys(versions) -> None:
    """It is not kept, and gone once it is removed."""
    copies, first, _, protected = versions
    spare = copies.spare(files_of(first), protected)
    assert copies.kept == {} and spare.folder.is_dir()
    copies.remove(spare)
    assert not spare.folder.parent.exists()


def test_what_can_not_be_copied_leaves_nothing(versions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that no folder holds, and a protected file that is another one by now."""
    copies, first, _, protected = versions
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    with pytest.raises(UnwritableFilesError):
        copies.of(bundle({**files_of(first), "ops": "a file"}), protected)
    assert list(temporary.iterdir()) == []
    with pytest.raises(BadInput, match="is not what it was at the baseline"):
        copies.of(first, {**protected, "tests/check_gemm.py": "0" * 64})
    copies.close()
    assert list(temporary.iterdir()) == []


def test_copies_that_nobody_closed_are_removed(versions) -> None:
    """With the object that made them."""
    copies, first, _, protected = versions
    folder = Copies(copies.project, copies.root).of(first, protected).folder
    gc.collect()
    assert not folder.exists()
