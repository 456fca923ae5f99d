"""Backends and the languages they are written in."""

from __future__ import annotations

import pytest

from kopt_kb.doors import table
from kopt_kb.doors.language import Language
from kopt_kb.doors.pack import Pack
from kopt_kb.launch.project.backends import backend_of, language_of


@pytest.fixture
def _mine(monkeypatch: pytest.MonkeyPatch) -> None:
    """One pack with one language."""
    pack = Pack("mine", "mine", languages=(Language("My DSL", "a test's", backends=("MINE",)),))
    monkeypatch.setattr(table, "packs", lambda: table.Packs({"mine": pack}, ()))


@pytest.mark.parametrize(
    ("backend", "language"),
    [("TRITON", "Triton"), ("ck", "HIP"), ("HIPBLASLT", "HIP"), ("TURBO", "HIP"), ("mine", "My DSL"), ("ABC", "")],
)
@pytest.mark.usefixtures("_mine")
def test_the_language_of_a_backend(backend: str, language: str) -> None:
    """As campaigns map them."""
    assert language_of(backend) == language


@pytest.mark.usefixtures("_mine")
def test_the_backend_of_a_framework() -> None:
    """The framework's own name where there is such a backend."""
    assert [backend_of(name) for name in ("Triton", "My DSL", "HIP", "My Own")] == [
        "TRITON",
        "MINE",
        "HIP",
        "MYOWN",
    ]
