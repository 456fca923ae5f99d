"""A program of nobody's that reads tables: the files that an audit looks for, with a kernel that copies a tile."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kopt_kb.wiki.registry import Registry
from tests.packs.tables.simulated import Device, optimum

KERNEL = '''
"""A program's kernels."""
import somebody.logger
from elsewhere.triton_utils import tl, triton
from .helpers import scaled

LIMIT = tl.constexpr(4)


@triton.jit
def shifted(x, BY: tl.constexpr):
    return x + BY + LIMIT


@triton.jit
def fused_moe_kernel(
    a_ptr, b_ptr, c_ptr, a_scale_ptr, N, K, stride_am, stride_cm,
    BLOCK_SIZE_M: tl.constexpr, BLOCK_SIZE_N: tl.constexpr, BLOCK_SIZE_K: tl.constexpr, GROUP_SIZE_M: tl.constexpr,
    top_k: tl.constexpr, MUL_ROUTED_WEIGHT: tl.constexpr, SPLIT_K: tl.constexpr = 1,
):
    rows = tl.arange(0, BLOCK_SIZE_M)
    columns = tl.arange(0, BLOCK_SIZE_N)
    tile = tl.load(a_ptr + rows[:, None] * stride_am + columns[None, :])
    tl.store(c_ptr + rows[:, None] * stride_cm + columns[None, :], scaled(shifted(tile, top_k)))


def launch():
    somebody.logger.info("never run")
'''
HELPERS = """
import triton
import triton.language as tl


@triton.jit
def scaled(x):
    return x * 2
"""
CONFIG = """
def _get_config_dtype_str(dtype, use_fp8_w8a8=False):
    if use_fp8_w8a8:
        return "fp8_w8a8"
    return None
"""
MOE = Path("vllm/model_executor/layers/fused_moe")


@pytest.fixture
def engine(tmp_path: Path) -> Path:
    """A checkout of the program; returns its folder."""
    root = tmp_path / "checkout"
    (root / MOE).mkdir(parents=True)
    (root / "vllm" / "__init__.py").write_text("raise RuntimeError('nothing of a program is run')\n")
    (root / MOE / "fused_moe.py").write_text(KERNEL)
    (root / MOE / "helpers.py").write_text(HELPERS)
    (root / MOE / "config.py").write_text(CONFIG)
    return root


@pytest.fixture
def simulated(record: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> Device:
    """A simulated device in the place of makers and judges; one best, and neighbours that lead there."""
    made = Device(record, optimum)

    class Makers:
        def __init__(self, _: int = 0) -> None:
            self.make_all = made.make_all

        def __enter__(self) -> Makers:
            return self

        def __exit__(self, *_: object) -> None:
            made.asked.append("makers end")

    monkeypatch.setattr("kopt_kb.packs.tables.bouts.Makers", Makers)
    monkeypatch.setattr("kopt_kb.packs.tables.session.DeviceJudging", lambda **_: made)
    return made


@pytest.fixture(scope="session")
def registry() -> Registry:
    """The package's own."""
    return Registry.open()
