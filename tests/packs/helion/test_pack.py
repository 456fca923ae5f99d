"""Helion is known by name and by what its files import."""

from __future__ import annotations

from kopt_kb.analysis.frameworks import framework_named
from kopt_kb.doors.languages import language_named, language_of_module
from kopt_kb.packs.helion.pack import PACK


def test_it_is_named_and_not_recognised() -> None:
    """Its kernels have no mark of their own in a file, so no file is refused for lacking one."""
    (language,) = PACK.languages
    assert language_named("HELION") is language
    assert language_of_module("helion", "k.py") is language
    assert framework_named("Helion") is None
