"""Entry points, read from the folders on the path."""

from __future__ import annotations

import math
from importlib import metadata
from pathlib import Path

import pytest

from kopt_kb.doors.entries import EntryPoint, entry_points

TEXT = "[other]\na = b:c\n\n[kopt_kb.test]\n# a comment\nround = math:pi [extra]\ntwo words = pack\n"


def _installed(folder: Path, name: str, text: str) -> None:
    (folder / name).mkdir(parents=True)
    (folder / name / "entry_points.txt").write_text(text)


def test_a_group_of_what_stands_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names, values without their extras; a distribution that stands there twice counts once, the first."""
    _installed(tmp_path / "a", "Some_Thing-1.0.dist-info", TEXT)
    _installed(tmp_path / "b", "some.thing-2.0.dist-info", TEXT.replace("pi", "e"))
    _installed(tmp_path / "b", "else.egg-info", "[kopt_kb.test]\nlast = x\n")
    (tmp_path / "b" / "none-1.dist-info").mkdir()
    monkeypatch.setattr("sys.path", [str(tmp_path / "a"), str(tmp_path / "b"), str(tmp_path / "missing")])
    found = entry_points(group="kopt_kb.test")
    assert [(one.name, one.value) for one in found] == [("round", "math:pi"), ("two words", "pack"), ("last", "x")]
    assert found[0].load() == math.pi


def test_it_agrees_with_the_standard_library() -> None:
    """On what is installed here."""
    for group in ("kopt_kb.packs", "kopt_kb.offers", "pytest11", "console_scripts"):
        ours = {(one.name, one.value) for one in entry_points(group=group)}
        assert ours == {(one.name, one.value.partition(" [")[0]) for one in metadata.entry_points(group=group)}
        assert ours


def test_a_name_that_is_not_there_is_an_error() -> None:
    """As any import is."""
    with pytest.raises(AttributeError):
        EntryPoint("a", "math:no_such_name", "g").load()
