"""A cgroup where one may be made, on an invented root; a reason where none may."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from kopt_kb.sandbox import cgroups
from kopt_kb.sandbox.cgroups import LIMITS, Group, new_group
from kopt_kb.sandbox.isolation import Isolation

FILES = ("cgroup.procs", "cgroup.kill", "memory.max", "memory.swap.max", "memory.oom.group", "pids.max")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A mounted hierarchy with this process in a slice."""
    made = tmp_path / "cgroup"
    (made / "user.slice").mkdir(parents=True)
    (made / "cgroup.controllers").write_text("memory pids\n")
    (tmp_path / "own").write_text("4:memory:/elsewhere\n0::/user.slice\n")
    return made


def _as_the_kernel(*names: str):
    def make(folder: Path) -> None:
        folder.mkdir()
        for name in names:
            (folder / name).write_text("")

    return make


def test_limits_are_set_and_the_child_joins(root: Path, tmp_path: Path) -> None:
    """Below this process's own cgroup; memory with swap, and one victim stands for all."""
    group = new_group(1 << 30, 77, root=root, own=tmp_path / "own", make=_as_the_kernel(*FILES))
    assert group.folder is not None
    assert group.folder.parent == root / "user.slice"
    around = group.join(Isolation(("other",), {"more": "why"}))
    assert (around.held, around.missing) == (("other", LIMITS), {"more": "why"})
    held = {name: (group.folder / name).read_text() for name in FILES}
    assert held == {
        "cgroup.procs": "0", "cgroup.kill": "", "memory.max": str(1 << 30), "memory.swap.max": "0",
        "memory.oom.group": "1", "pids.max": "77",
    }  # fmt: skip
    shutil.rmtree(group.folder)
    assert "can't be joined" in group.join(Isolation()).missing[LIMITS]


def test_no_memory_limit(root: Path, tmp_path: Path) -> None:
    """Where none is asked for."""
    group = new_group(root=root, own=tmp_path / "own", make=_as_the_kernel(*FILES))
    assert group.folder is not None
    assert (group.folder / "memory.max").read_text() == ""
    assert (group.folder / "pids.max").read_text() == "4096"


def test_its_end(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All in it is killed, and it is removed, also when that takes a while, and when it is gone already."""
    group = new_group(root=root, own=tmp_path / "own", make=_as_the_kernel(*FILES))
    assert group.folder is not None
    said: list[str] = []

    def leave(_: float) -> None:
        said.append((group.folder / "cgroup.kill").read_text())  # type: ignore[operator]
        shutil.rmtree(group.folder)  # type: ignore[arg-type]

    monkeypatch.setattr(cgroups.time, "sleep", leave)
    group.end()
    assert said == ["1"]
    group.end()
    Group(None).end()


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda folder: (folder / "cgroup" / "cgroup.controllers").unlink(), "no cgroup v2 at"),
        (lambda folder: (folder / "own").unlink(), "No such file"),
        (lambda folder: (folder / "cgroup" / "user.slice").rmdir(), "No such file"),
    ],
)
def test_what_can_not_be_had_is_said(root: Path, tmp_path: Path, spoil, words: str) -> None:
    """And nothing is left behind."""
    spoil(tmp_path)
    group = new_group(root=root, own=tmp_path / "own", make=_as_the_kernel(*FILES))
    assert group.folder is None
    assert words in group.join(Isolation()).missing[LIMITS]


def test_a_controller_that_is_not_handed_on(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Named by its file."""
    monkeypatch.setattr("kopt_kb.sandbox.cgroups._END_S", 0.05)  # the kernel would let the folder go
    group = new_group(root=root, own=tmp_path / "own", make=_as_the_kernel("cgroup.procs", "pids.max"))
    assert group.folder is None
    assert "memory.max can't be set here" in group.missing
