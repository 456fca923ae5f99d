"""The limits gate of replayed candidates, on real records made without a GPU."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from kopt_kb.analysis.occupancy.limits import Limits
from kopt_kb.launch.counts.limits import limits_of
from kopt_kb.launch.judge.makers import Made, Makers
from kopt_kb.launch.judge.shelf import Asked, RecordTarget, Shelf
from kopt_kb.tuning.record_gate import RecordGate
from kopt_kb.wiki.registry import Registry

pytestmark = [pytest.mark.torch, pytest.mark.triton]
SHAPES = ("1024", "4096")

SOURCE = """
import torch
import triton
import triton.language as tl

OP = "elementwise"


@triton.jit
def add(x_ptr, y_ptr, out_ptr, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < count
    total = tl.load(x_ptr + at, mask=mask) + tl.load(y_ptr + at, mask=mask)
    {inside}
    tl.store(out_ptr + at, total, mask=mask)


def make_inputs(shape, dtype, device="cuda", seed=0):
    return torch.zeros(shape, device=device), torch.zeros(shape, device=device)


def reference(x, y):
    return x.double() + y.double()


def launch(x, y, *, config=None, out=None):
    out = torch.empty_like(x) if out is None else out
    {before}
    add[(triton.cdiv(x.numel(), 128),)](x, y, out, x.numel(), BLOCK=128)
    return out
"""


def source(inside: str = "pass", before: str = "pass") -> bytes:
    """Return a sum with a line in its kernel and one in its launcher."""
    return SOURCE.format(inside=inside, before=before).encode()


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: Any, makers: Makers) -> Iterator[Shelf]:
    """A shelf for all tests here."""
    pytest.importorskip("torch")
    pytest.importorskip("triton")
    made = Shelf(tmp_path_factory.mktemp("shelf"), makers, RecordTarget("sm_90", "Test"))
    yield made
    made.close()


@pytest.fixture(scope="module")
def limits() -> Limits:
    """Those of an H100."""
    return limits_of(Registry.open().platform("H100_SXM"))


def recorded(shelf: Shelf, code: bytes, ends_at: float) -> dict[str, Made]:
    """Return the records of a source."""
    return dict(zip(SHAPES, shelf.all([Asked(code, shape, "bf16") for shape in SHAPES], ends_at), strict=True))


def test_what_fits_passes_and_is_scanned(shelf: Shelf, limits: Limits) -> None:
    """The scan is of the bytes that are launched; a code object that two shapes share is read once."""
    gate = RecordGate(partial(recorded, shelf), limits, "bf16")
    assert gate(source()).result == "pass"
    found = gate.instructions(source())
    assert found is not None
    assert set(json.loads(found.report)) == set(SHAPES)
    assert {one["metric"] for one in found.evidence} >= {"global_load_128b_share"}
    assert 0 < len(gate.scans) <= len(SHAPES)


def test_code_that_is_refused(shelf: Shelf, limits: Limits) -> None:
    """One that prints, and one that takes more than a block may; with the shape and the reason."""
    gate = RecordGate(partial(recorded, shelf), limits, "bf16")
    word = gate(source(inside='tl.device_print("x", total)'))
    assert (word.result, word.reason) == ("fail", "1024: its code calls vprintf, which the device's runtime answers")
    tight = RecordGate(partial(recorded, shelf), replace(limits, threads_per_block=64), "bf16")
    word = tight(source())
    assert word.result == "fail"
    assert "1024: add has 128 threads a block; threads_per_block" in word.reason


def test_what_is_not_recorded_is_left_to_the_build(shelf: Shelf, limits: Limits) -> None:
    """A launcher that fails, and one that computes besides: unavailable, with the reason."""
    gate = RecordGate(partial(recorded, shelf), limits, "bf16")
    for before, words in (("raise RuntimeError('no way')", "no way"), ("x = x * 2", "mul")):
        word = gate(source(before=before))
        assert word.result == "unavailable"
        assert words in word.reason
    assert gate.instructions(source(before="raise RuntimeError('no way')")) is None


def test_time_that_is_over(shelf: Shelf, limits: Limits, tmp_path: Path) -> None:
    """Is the call's, not the candidate's."""
    gate = RecordGate(partial(recorded, shelf), limits, "bf16")
    with pytest.raises(TimeoutError):
        gate(source(before="import time; time.sleep(20)"), time.monotonic() + 0.3)
