"""Hints, tiles and searches are held against ranges, versions and sourced limits."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.packs.cutile.source.findings import TileTarget
from kopt_kb.packs.cutile.source.knobs import configurations, knob_findings
from kopt_kb.packs.cutile.source.source import read_cutile

BAD = (Path(__file__).resolve().parents[3] / "data" / "bad_tiles.py").read_text()
PRODUCT = """
import cuda.tile as ct
from cuda.tile.tune import exhaustive_search
TUNING_SPACE = {"TILE_M": [64, 256], "TILE_N": [128, 256], "num_ctas": [1, 2]}
@ct.kernel
def product(x, y, out, TILE_M: ct.Constant[int], TILE_N: ct.Constant[int]):
    total = ct.zeros((TILE_M, TILE_N), ct.float32)
    for k in range(4):
        a = ct.load(x, index=(0, k), shape=(TILE_M, 64))
        total = ct.mma(a, ct.load(y, index=(k, 0), shape=(64, TILE_N)), total)
    ct.store(out, index=(0, 0), tile=total)
def search(x):
    return exhaustive_search((one for one in range(3)), None, None, product, None)
"""


def _said(text: str, target: TileTarget) -> list[str]:
    return [f"{one.level} {one.rule}: {one.what}" for one in knob_findings(read_cutile(text), target)]


@pytest.mark.parametrize(
    "words",
    [
        "num_ctas=3 is no power of two",
        "occupancy=40 is outside 1 to 32",
        "occupancy=64 is outside 1 to 32",
        "cuTile has no num_stages",
        "cuTile has no num_warps",
        "num_worker_warps=4 is ignored before tileiras 13.3",
        "latency=20 of load",
        "allow_tma=3 of load",
        "TILE of TUNING_SPACE has 48",
        "num_ctas=2 changes nothing on sm_80",
    ],
)
def test_each_range(words: str) -> None:
    """In a file that leaves them all."""
    assert any(words in one for one in _said(BAD, TileTarget("sm_80", tileiras=(13, 2))))


def test_what_a_target_is_given() -> None:
    """16 worker warps for sm_90 need tileiras 13.5, and 12.x has clusters that nobody gained from."""
    assert any("num_worker_warps=16 does not compile" in one for one in _said(BAD, TileTarget("sm_90")))
    assert not any("num_worker_warps" in one for one in _said(BAD, TileTarget("sm_90", tileiras=(13, 5))))
    assert any("note clusters: num_ctas=2" in one for one in _said(BAD, TileTarget("sm_120")))


def test_tiles_against_limits() -> None:
    """One stage of operands in shared memory, the accumulator in registers but where there is tensor memory."""
    small = TileTarget("sm_90", shared_bytes=30_000, register_bytes=100_000)
    said = _said(PRODUCT, small)
    assert any("6 of 8 configurations of product need more than the 30000 B" in one for one in said)
    assert any("registers of an SM: 262144 B with TILE_M=256, TILE_N=256" in one for one in said)
    assert not any("registers" in one for one in _said(PRODUCT, TileTarget("sm_100", register_bytes=100_000)))
    assert not any("fits" in one for one in _said(PRODUCT, TileTarget("sm_90")))


def test_a_search_is_a_list_of_few() -> None:
    """A generator has no length; more than 30 configurations take long."""
    assert any("generator" in one for one in _said(PRODUCT, TileTarget()))
    many = PRODUCT.replace('[64, 256], "TILE_N"', '[64, 128, 256, 512], "occupancy": [1, 2, 4, 8], "TILE_N"')
    assert any("TUNING_SPACE has 64 configurations, more than 30" in one for one in _said(many, TileTarget()))
    assert len(list(configurations(read_cutile(PRODUCT)))) == 8
