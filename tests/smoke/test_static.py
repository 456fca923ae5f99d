"""Compile, limits and count on the shipped kernels: what has to work on every triton from 3.6 to the newest.

`make smoke-newest` runs this on the newest triton; the numbers are those of triton 3.6, kept in tests/data/counts.json.
"""

from __future__ import annotations

import importlib.util
import json
import os
from pathlib import Path

import pytest

pytest.importorskip("triton")
pytest.importorskip("torch")

import triton

from kopt_kb.launch.compile import CompilePool, CompileRequest, OpCase
from kopt_kb.launch.counts.limits import limits_of
from kopt_kb.launch.counts.pruning import Kept, judge_configs, op_cases
from kopt_kb.wiki.registry import Registry

pytestmark = [pytest.mark.triton, pytest.mark.torch]

ROOT = Path(__file__).resolve().parents[2]
VERSION = tuple(map(int, triton.__version__.split(".")[:2]))
RECORDED = json.loads((ROOT / "tests" / "data" / "counts.json").read_text())

_SPEC = importlib.util.spec_from_file_location("make_counts", ROOT / "tests" / "data" / "make_counts.py")
assert _SPEC is not None and _SPEC.loader is not None
make_counts = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(make_counts)


@pytest.fixture(scope="module")
def pool():
    """One warm compile worker for all cases."""
    with CompilePool() as found:
        yield found


def expected(name):
    """The recorded counts; from 3.8 on -x is a negation, and a subtraction from zero before."""
    found = json.loads(json.dumps(RECORDED[name]))
    if name == "swiglu" and VERSION >= (3, 8):
        for kind, elements in (("useful", 17 * 33), ("executed", 1024)):
            found[0][kind]["fp32 vector"] -= elements
    return found


def test_the_wanted_triton_is_here():
    """`make smoke-newest` names the version it installed, so that it can't test another one in silence."""
    wanted = os.environ.get("KOPT_SMOKE_TRITON", triton.__version__)
    assert triton.__version__ == wanted


def test_every_file_is_recorded():
    """No case without a number."""
    assert set(RECORDED) == set(make_counts.CASES)


@pytest.mark.parametrize("name", make_counts.CASES)
def test_counts_are_those_of_triton_3_6(pool, name):
    """Operations, special functions, requested and distinct bytes."""
    assert make_counts.numbers(make_counts.counted(name, pool)) == expected(name)


@pytest.mark.parametrize("target", ["sm_90", "gfx942"])
@pytest.mark.parametrize("name", ["matmul", "softmax", "attention"])
def test_kernels_compile_to_code_that_can_be_read(pool, name, target):
    """A binary, its instructions, and the registers and shared memory that the limits are checked with."""
    shape, dtype = make_counts.CASES[name]
    (made,) = pool.compile(CompileRequest(OpCase(str(ROOT / "kernels" / f"{name}.py"), shape, dtype), target))
    assert made.binary[:4] == b"\x7fELF"
    assert ("EXIT" if target == "sm_90" else "s_endpgm") in made.assembly
    assert made.versions["triton"] == triton.__version__
    assert set(made.metadata) >= {"shared", "num_warps"}
    assert all("tt." in key or key == "type" for one in made.specialisation.values() for key in one)


def test_sourced_limits_prune_before_code_generation(pool):
    """Of three tilings one fits the block; one needs more shared memory than the part has, one is no launch."""
    limits = limits_of(Registry.open().platform("H100_SXM"))
    base = {"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 64, "num_stages": 3}
    configs = [base, {**base, "BLOCK_N": 256, "BLOCK_K": 128, "num_stages": 4}, {**base, "BLOCK_M": 100}]
    cases = op_cases(ROOT / "kernels" / "matmul.py", (512, 512, 512), "bf16")
    found = judge_configs(configs, cases, "sm_90", limits, pool)
    words = ["kept" if isinstance(one, Kept) else one.reason for one in found]
    assert words == ["kept", "shared_memory", "compiler"]
