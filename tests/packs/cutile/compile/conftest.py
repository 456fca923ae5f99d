"""A code object that tileiras 13.4 wrote for `tests/data/tile_kernels.py`: 64x64 of fp16 by steps of 32, sm_90."""

from __future__ import annotations

import lzma
from pathlib import Path

import pytest

DATA = Path(__file__).resolve().parents[3] / "data"


@pytest.fixture(scope="session")
def tile_code() -> bytes:
    """Three arrays of rank 2, 15 declared parameters, three tensor maps behind them."""
    return lzma.decompress((DATA / "code_objects" / "tile_matmul.sm_90.cubin.xz").read_bytes())


@pytest.fixture
def tile_file() -> Path:
    """A file with a launcher; skips where cuTile or tileiras is missing."""
    pytest.importorskip("cuda.tile", reason="cuda-tile is not installed")
    return DATA / "tile_kernels.py"
