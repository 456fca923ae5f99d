"""One linter over the packaged wiki, and what it finds in a text."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kopt_kb.packs.curate.lint.judge import TextFinding
from kopt_kb.packs.curate.lint.lint import Linter
from kopt_kb.wiki.registry import Registry


@pytest.fixture(scope="session")
def linter() -> Linter:
    """Products of the packaged wiki."""
    return Linter(Registry.open())


@pytest.fixture(scope="session")
def found(linter: Linter) -> Callable[..., list[TextFinding]]:
    """The findings on a text of that name."""
    return lambda text, name="a.md": linter.findings(name, text)[0]


@pytest.fixture(scope="session")
def said(linter: Linter) -> Callable[..., list[tuple[str, str, str]]]:
    """The claims of a text: number, products, first meaning."""

    def claims(text: str, name: str = "a.md") -> list[tuple[str, str, str]]:
        return [
            (one.number.text, ",".join(sorted(one.platforms)), one.meanings[0].metric)
            for one in linter.claims(name, text)
        ]

    return claims
