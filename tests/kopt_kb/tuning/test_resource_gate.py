"""Sourced limits are judged by compiling for the platform, without a GPU."""

from __future__ import annotations

import json
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


@pytest.mark.triton
def test_compiled_code_is_held_against_the_isa_targets(naive: Path) -> None:
    """Widths and spills of the naive RMS norm as ptxas made it; the report holds every kernel of every shape."""
    pytest.importorskip("triton")
    gate = ResourceGate(Registry.open().platform("H100_SXM"), ((64, 256), (64, 512)), "bf16")
    found = gate.instructions(naive.read_bytes())
    assert found is not None
    values = {one["metric"]: (one["value"], one["met"]) for one in found.evidence}
    assert values["spills"] == (0.0, True)
    assert 0 <= values["global_load_128b_share"][0] <= 1
    assert set(json.loads(found.report)) == {"64x256", "64x512"}


@pytest.mark.triton
def test_what_does_not_compile_says_nothing_of_its_instructions() -> None:
    """No launches, no scan; nothing is raised."""
    pytest.importorskip("triton")
    gate = ResourceGate(Registry.open().platform("H100_SXM"), ((64, 256),), "bf16")
    assert gate.instructions(b"x = 1\n") is None
