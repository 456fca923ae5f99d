"""Paths of a call lie in the roots, links and dots resolved."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.packs.agents.roots import Roots


@pytest.fixture
def roots(tmp_path: Path) -> Roots:
    """Two folders, with a link out of the first."""
    for name in ("one", "two", "three"):
        (tmp_path / name).mkdir()
    (tmp_path / "one" / "out").symlink_to(tmp_path / "three")
    return Roots.of([str(tmp_path / "one"), str(tmp_path / "two")])


def test_inside(roots: Roots, tmp_path: Path) -> None:
    """Relative ones in the first, absolute ones in any; the root itself; what does not exist yet."""
    assert roots.inside("a/b.py", "file") == str(tmp_path / "one" / "a" / "b.py")
    assert roots.inside(str(tmp_path / "two" / "x"), "file") == str(tmp_path / "two" / "x")
    assert roots.inside(".", "file") == str(tmp_path / "one")


@pytest.mark.parametrize("word", ["../three/a", "/etc/passwd", "out/a", "a/../../three", "..", "~/x/../../.."])
def test_outside(roots: Roots, word: str) -> None:
    """Refused with a code and the folders that would do."""
    if word.startswith("~"):
        word = word.removeprefix("~/")
    with pytest.raises(BadInput) as caught:
        roots.inside(word, "file")
    assert caught.value.error_code == "KB128" and "one" in caught.value.fix


def test_a_problem_names_its_file_inside(roots: Roots, tmp_path: Path) -> None:
    """The Python file that a problem.toml names counts too; what is no problem is the command's to refuse."""
    file = tmp_path / "one" / "problem.toml"
    for inner, fits in (("rope.py", True), ("../two/rope.py", True), ("../three/rope.py", False), ("/etc/x.py", False)):
        file.write_text(f'[problem]\nfile = "{inner}"\n')
        if fits:
            assert roots.problem("problem.toml", "problem") == str(file)
            continue
        with pytest.raises(BadInput) as caught:
            roots.problem("problem.toml", "problem")
        assert caught.value.error_code == "KB128"
    for text in ("", "[problem]", "problem = 1", "\x00"):
        file.write_text(text)
        assert roots.problem("problem.toml", "problem") == str(file)


def test_named_by_the_environment(roots: Roots, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the command line names none."""
    monkeypatch.setenv("KOPT_MCP_ROOT", ":".join(map(str, roots.folders)))
    assert Roots.given([]) == roots
    assert Roots.given([str(roots.folders[1])]).folders == roots.folders[1:]


def test_a_root_is_a_folder(tmp_path: Path) -> None:
    """The current folder where none is named; a file is none."""
    assert Roots.of([]).folders == (Path.cwd().resolve(),)
    (tmp_path / "file").touch()
    with pytest.raises(BadInput) as caught:
        Roots.of([str(tmp_path / "file")])
    assert caught.value.error_code == "KB110"
