"""What a path holds, and which problems lie below a folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput, MissingTool
from kopt_kb.doors import table
from kopt_kb.doors.pack import Pack
from kopt_kb.doors.problem_source import ProblemSource
from kopt_kb.launch.problems.find import find_problems, read_problem, source_of
from tests.kopt_kb.launch.problems.test_problem_toml import write


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """One problem of our own form, and files that are none without a pack."""
    for name in ("own", "tools", "sol"):
        (tmp_path / name).mkdir()
    write(tmp_path / "own")
    (tmp_path / "tools" / "tool.py").write_text("print(1)\n")
    (tmp_path / "sol" / "definition.json").write_text("{}")
    return tmp_path


@pytest.mark.parametrize("path", ["gone", "own/none.toml"])
def test_what_is_not_there_is_refused(folder: Path, path: str) -> None:
    """Before anything is read."""
    with pytest.raises(BadInput, match="no such file"):
        read_problem(folder / path)


def test_several_problems_are_one_too_many(folder: Path) -> None:
    """One is named; a folder with one stands for it."""
    (folder / "sol" / "definition.json").unlink()
    (folder / "own" / "second").mkdir()
    write(folder / "own" / "second")
    (folder / "own" / "problem.toml").rename(folder / "own" / "first.txt")
    assert read_problem(folder / "own").name == "row_sum"
    (folder / "third").mkdir()
    write(folder / "third")
    with pytest.raises(BadInput, match="holds 2 problems"):
        read_problem(folder)


def _install(monkeypatch: pytest.MonkeyPatch, *packs: Pack) -> None:
    monkeypatch.setattr(table, "packs", lambda: table.Packs({one.name: one for one in packs}, ()))


def test_without_packs_our_own_form_is_left(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A `problem.toml` is read; another file needs the pack that would read it, by name."""
    _install(monkeypatch)
    assert find_problems(folder) == [folder / "own" / "problem.toml"]
    assert read_problem(folder / "own").source == "problem.toml"
    assert source_of(folder / "tools" / "tool.py") is None
    for path in ("tools/tool.py", "sol", "sol/definition.json"):
        with pytest.raises(MissingTool, match="needs the pack problem_sets, which is not installed"):
            read_problem(folder / path)


def test_a_strangers_form_is_read_by_its_pack(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By what it recognises; a file of its suffix that it does not recognise is its to refuse."""

    def read(path: Path, dtype: str, shapes: tuple[str, ...]) -> object:
        raise BadInput(f"{dtype} {shapes}", where=path.name)

    form = ProblemSource("notes", "a problem in notes", ".txt", lambda path: path.stem == "mine", read)
    _install(monkeypatch, Pack("strange", "a test's pack", problem_sources=(form,)))
    for name in ("mine.txt", "other.txt"):
        (folder / name).write_text("x")
        with pytest.raises(BadInput, match=f"{name}: bf16"):
            read_problem(folder / name, "bf16")
    assert source_of(folder / "mine.txt") is form
    assert source_of(folder / "other.txt") is None
