"""Errors say what, where and what to do, on one line, and survive a process border."""

from __future__ import annotations

import pickle

import pytest

from kopt_kb.base.errors import BadInput, ExitCode, FindingError, KoptError, MissingTool, UnknownData


def test_one_line_with_place_fact_fix_and_code() -> None:
    """Empty parts leave no trace."""
    error = BadInput("it is wrong", where="a.md:7", fix="mend it", code="KB116")
    assert str(error) == "a.md:7: it is wrong; mend it [KB116]"
    assert str(BadInput("it is wrong", code="KB116")) == "it is wrong [KB116]"


def test_restated_keeps_class_and_cause() -> None:
    """Other words, the same error; what is not given stays."""
    error = UnknownData("it is wrong", where="a.md:7", fix="mend it", code="KB130").restated(where="b.md", fix="")
    assert (type(error), str(error)) == (UnknownData, "b.md: it is wrong [KB130]")


@pytest.mark.parametrize(("kind", "code"), [(BadInput, 2), (FindingError, 1), (MissingTool, 3), (UnknownData, 4)])
def test_exit_codes(kind: type[KoptError], code: int) -> None:
    """1 found something, 2 bad input, 3 missing tool, 4 unknown."""
    assert kind("x").exit_code == ExitCode(code)


def test_pickling_keeps_everything() -> None:
    """Also for a subclass with another constructor, and an overridden code."""

    error = pickle.loads(pickle.dumps(BadInput("w", where="p", fix="f", code="KB116")))
    assert (error.what, error.where, error.fix, error.error_code) == ("w", "p", "f", "KB116")
