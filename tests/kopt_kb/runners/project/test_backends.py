"""Backends and the languages they are written in."""

from __future__ import annotations

import pytest

from kopt_kb.runners.project.backends import backend_of, language_of


@pytest.mark.parametrize(
    ("backend", "language"),
    [("TRITON", "Triton"), ("ck", "HIP"), ("HIPBLASLT", "HIP"), ("TURBO", "HIP"), ("FLYDSL", "FlyDSL"), ("ABC", "")],
)
def test_the_language_of_a_backend(backend: str, language: str) -> None:
    """As campaigns map them."""
    assert language_of(backend) == language


def test_the_backend_of_a_framework() -> None:
    """The framework's own name where there is such a backend."""
    assert [backend_of(name) for name in ("Triton", "CuTe DSL", "HIP", "My Own")] == [
        "TRITON",
        "CUTEDSL",
        "HIP",
        "MYOWN",
    ]
