"""The termination check; manifest, script and snapshots of a whole campaign are in tests/kopt_kb/tuning/test_naming.py."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from kopt_kb.packs.memory_form.manifest import manifest_files, named_files, termination


@pytest.mark.parametrize(
    ("reason", "said"),
    [("target", "T1 performance_target reached: yes"), ("user", "T4 user stop: yes"), ("exhausted", "this program: exhausted")],
)  # fmt: skip
def test_each_condition_is_answered(reason: str, said: str) -> None:
    """Four conditions of the rules; other reasons are named as this program's own."""
    lines = termination(SimpleNamespace(named=1, stopped=SimpleNamespace(reason=reason)))  # type: ignore[arg-type]
    assert any(said in line for line in lines)
    assert sum(line.endswith(": yes") for line in lines) == (reason != "exhausted")


def test_without_a_name_there_is_nothing() -> None:
    """Campaigns under other policies keep what they had."""
    plain = SimpleNamespace(named=None, stopped=SimpleNamespace(reason="user"), attempts={})
    assert termination(plain) == []  # type: ignore[arg-type]
    assert (manifest_files(plain, bytes), named_files(plain, bytes)) == ({}, {})  # type: ignore[arg-type]
