"""Sizes are plain data that the journal keeps."""

from __future__ import annotations

from kopt_kb.tuning.options import Budget, Settings


def test_settings_are_read_back() -> None:
    """A resumed campaign measures as it was begun."""
    asked = Settings(samples=7, seed=3)
    assert Settings(**asked.to_json()) == asked
    assert Budget() == Budget(None, None)
