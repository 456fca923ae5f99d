"""Sourced limits are judged by compiling for the platform, without a GPU."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.tuning.resource_gate import ResourceGate
from kopt_kb.wiki.registry import Registry


@pytest.mark.triton
def test_a_small_kernel_fits(naive: Path) -> None:
    """The naive RMS norm launches on an H100."""
    pytest.importorskip("triton")
    gate = ResourceGate(Registry.open().platform("H100_SXM"), ((64, 256),), "bf16")
    assert gate(naive.read_bytes()).result == "pass"


@pytest.mark.triton
def test_what_can_not_be_judged_is_unavailable() -> None:
    """A file without launches, or one that can't be imported, is not judged as too large."""
    pytest.importorskip("triton")
    gate = ResourceGate(Registry.open().platform("H100_SXM"), ((64, 256),), "bf16")
    assert gate(b"x = 1\n").result == "unavailable"
    assert gate(b"import no_such_module_anywhere\n").result == "unavailable"
