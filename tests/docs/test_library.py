"""The examples of docs/library.md give what the page says; those of DataFrames where the packages are installed."""

from __future__ import annotations

import doctest
import importlib.util
import re
from pathlib import Path

import pytest

OPTIONS = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL
NEEDS = {"to_pandas": "pandas", "to_polars": "polars"}


def examples(text: str) -> doctest.DocTest:
    """The examples of a text, as one session."""
    return doctest.DocTestParser().get_doctest(text, {}, "library.md", "docs/library.md", 0)


def check(text: str, names: dict[str, object]) -> None:
    """Run the examples of a text with the names of those before."""
    test = examples(text)
    test.globs = names
    said: list[str] = []
    runner = doctest.DocTestRunner(optionflags=OPTIONS, verbose=False)
    runner.run(test, out=said.append, clear_globs=False)
    assert runner.failures == 0, "".join(said)
    assert runner.tries > 0


def test_examples_say_the_truth(repo_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Section by section, in one session; a section that needs what is not installed is another test's."""
    monkeypatch.chdir(repo_root)
    names: dict[str, object] = {}
    sections = re.split(r"(?m)^## ", (repo_root / "docs" / "library.md").read_text())[1:]
    assert [one.split("\n")[0] for one in sections][-1] == "DataFrames"
    for section in sections[:-1]:
        check(section, names)


def test_dataframes(repo_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of values, profiles and campaigns."""
    for name in NEEDS.values():
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is not installed")
    monkeypatch.chdir(repo_root)
    check((repo_root / "docs" / "library.md").read_text(), {})
