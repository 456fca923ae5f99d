"""A copy holds the candidate's files in place of the editable ones, and no way back to the project."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kopt_kb.launch.project.file import ProjectFile
from kopt_kb.launch.project.paths import hash_files, select
from kopt_kb.launch.project.scratch import Scratch, UnwritableFilesError, make_scratch

Read = Callable[..., ProjectFile]


@pytest.fixture
def copy(read: Read, project_root: Path, tmp_path: Path) -> Scratch:
    """A copy of the project as it is, with one file that is neither editable nor protected."""
    (project_root / "timer.py").write_text("x = 1\n")
    project = read(("[project]", '[project]\nexclude = ["out/**"]'))
    chosen = select(project, project_root)
    files = {path: (project_root / path).read_text() for path in chosen.editable}
    return make_scratch(project, project_root, tmp_path / "copy", files, hash_files(project_root, chosen.protected))


def test_a_copy(read: Read, project_root: Path, tmp_path: Path) -> None:
    """Modes stay, absolute links into the project lead into the copy, left-out editable files are left out."""
    script = project_root / "benchmark" / "bench_gemm.py"
    script.chmod(0o755)
    (project_root / "inside").symlink_to(project_root / "ops")
    (project_root / "outside").symlink_to("/usr")
    (project_root / ".git").mkdir()
    (project_root / ".git" / "HEAD").write_text("x")
    project = read()
    protected = hash_files(project_root, select(project, project_root).protected)
    copy = make_scratch(
        project, project_root, tmp_path / "copy", {"ops/gemm.py": "x = 1\n", "ops/new.py": ""}, protected
    )
    assert (copy.folder / "ops/gemm.py").read_text() == "x = 1\n" and (copy.folder / "ops/new.py").is_file()
    assert not (copy.folder / "ops/config.py").exists() and not (copy.folder / ".git").exists()
    assert (copy.folder / "benchmark/bench_gemm.py").stat().st_mode & 0o777 == 0o755
    assert (copy.folder / "inside").resolve() == (copy.folder / "ops").resolve()
    assert (copy.folder / "outside").readlink() == Path("/usr")
    assert copy.disturbed() == ()
    (copy.folder / "tests/check_gemm.py").write_text("pass\n")
    (copy.folder / "ops/gemm.py").write_text("x = 2\n")
    assert set(copy.disturbed()) == {"tests/check_gemm.py", "ops/gemm.py"}


@pytest.mark.parametrize(
    ("path", "running", "building"),
    [
        ("sitecustomize.py", True, True),
        ("out/sitecustomize.py", True, True),
        ("hook.pth", True, True),
        ("tests/conftest.py", True, True),
        ("ops/pytest.ini", True, True),
        ("tests/new.txt", True, True),
        ("csv.so", True, True),
        ("csv.pyc", True, True),
        ("made.py", True, False),
        ("pluggy.so", True, False),
        ("timer.py", True, False),
        ("out/made.py", False, False),
        ("results.txt", False, False),
        ("kernel.so", False, False),
        ("ops/__pycache__/gemm.pyc", False, False),
    ],
)
def test_files_that_a_command_made(copy: Scratch, path: str, running: bool, building: bool) -> None:
    """What changes how commands run is named; a build may make Python files and change others; results may appear."""
    (copy.folder / path).parent.mkdir(exist_ok=True)
    (copy.folder / path).write_text("made\n")
    assert copy.disturbed() == ((path,) if running else ())
    assert copy.disturbed(building=True) == ((path,) if building else ())
    assert copy.verb(path) == ("changed" if path == "timer.py" else "added")


def test_after_a_build(copy: Scratch) -> None:
    """Its outputs may be written again, but not its Python files, nor what is loaded."""
    for name in ("made.py", "kernel.so", "timer.py"):
        (copy.folder / name).write_text("built\n")
    copy.settle(building=True)
    assert copy.disturbed() == ()
    for name in ("made.py", "kernel.so", "timer.py"):
        (copy.folder / name).write_text("run\n")
    assert copy.disturbed() == ("timer.py", "made.py")


def test_a_folder_or_a_library_that_became_a_link(copy: Scratch) -> None:
    """The same bytes through a link are not the same files."""
    (copy.folder / "tests").rename(copy.folder / "moved")
    (copy.folder / "tests").symlink_to("moved")
    assert "tests/check_gemm.py" in copy.disturbed()
    assert "csv" not in copy.disturbed()
    (copy.folder / "csv").symlink_to("ops")
    assert "csv" in copy.disturbed()


def test_what_others_did_to_a_copy(copy: Scratch) -> None:
    """No command of its own ran, so any file counts."""
    assert copy.meddled() == ()
    (copy.folder / "slow.flag").write_text("x")
    assert copy.meddled() == ("slow.flag",) and copy.disturbed() == ()
    copy.settle()
    assert copy.meddled() == ()


def test_compiled_files_are_forgotten(copy: Scratch) -> None:
    """One of them could stand for a protected module."""
    cache = copy.folder / "tests" / "__pycache__"
    cache.mkdir()
    (cache / "x.pyc").write_text("x")
    copy.forget_caches()
    assert not cache.exists()


def test_links_lead_where_they_led(read: Read, project_root: Path, tmp_path: Path) -> None:
    """A relative link out of the project is not broken, one that comes back leads into the copy; hashes agree."""
    (tmp_path / "golden.bin").write_text("right")
    (project_root / "tests" / "golden").symlink_to("../../golden.bin")
    (project_root / "tests" / "back").symlink_to("../../project/benchmark")
    project = read()
    protected = hash_files(project_root, select(project, project_root).protected)
    deep = tmp_path / "far" / "away" / "copy"
    made = make_scratch(project, project_root, deep, {"ops/gemm.py": ""}, protected)
    assert (deep / "tests" / "golden").read_text() == "right"
    assert (deep / "tests" / "back").resolve() == deep / "benchmark"
    assert made.disturbed() == ()
    (deep / "tests" / "golden").write_text("wrong")
    assert made.disturbed() == ("tests/golden",)


def test_files_no_folder_can_hold(read: Read, project_root: Path, tmp_path: Path) -> None:
    """The candidate's own fault, not the project's."""
    for at, path in enumerate(("ops/gemm.py/x.py", f"ops/{'x' * 300}.py", "ops")):
        with pytest.raises(UnwritableFilesError, match="can't be written"):
            make_scratch(read(), project_root, tmp_path / f"copy{at}", {"ops/gemm.py": "", path: ""}, {})


def test_a_link_to_itself_is_copied_as_it_is(read: Read, project_root: Path, tmp_path: Path) -> None:
    """No loop ends the program."""
    (project_root / "tests" / "loop").symlink_to("loop")
    project = read()
    protected = hash_files(project_root, select(project, project_root).protected)
    made = make_scratch(project, project_root, tmp_path / "copy", {"ops/gemm.py": ""}, protected)
    assert made.disturbed() == () and (made.folder / "tests" / "loop").readlink() == Path("loop")


def test_what_a_build_made_to_be_loaded_stays_as_it_is(copy: Scratch) -> None:
    """The benchmark times the library that the test and outputs used; the same bytes again are the same."""
    library, notes = copy.folder / "kernel.so", copy.folder / "notes.txt"
    library.write_bytes(b"\x7fELF one")
    notes.write_text("one")
    (copy.folder / "gone.so").symlink_to("nowhere")
    copy.settle(building=True)
    library.write_bytes(b"\x7fELF one")
    notes.write_text("two")
    assert copy.disturbed() == ()
    library.write_bytes(b"\x7fELF two")
    assert copy.disturbed() == ("kernel.so",)
