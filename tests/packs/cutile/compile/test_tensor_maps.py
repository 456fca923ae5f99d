"""Tensor maps are what the kernel's own code for the host writes, read bit by bit."""

from __future__ import annotations

import platform
import struct

import pytest

from kopt_kb.base.errors import BadInput, MissingTool
from kopt_kb.launch.cuda.cubin import CubinKernel
from kopt_kb.packs.cutile.compile.plain import Plain
from kopt_kb.packs.cutile.compile.tensor_maps import Map, maps_of, read_map

FP16 = 6
OFFSETS = (0, 8, 12, 16, 20, 24, 32, 36, 40, 44, 48, 56, 60, 64, 68, 112, 240, 368)
SIZES = (8, 4, 4, 4, 4) * 3 + (128,) * 3
PLAIN = Plain(b"", CubinKernel("product", parameters=SIZES, offsets=OFFSETS), 15, "")
"""What ptxas makes of the code object: where its parameters lie."""


def _values(*arrays: tuple[int, int, int]) -> list[bytes]:
    """Return address, extents and strides of dense matrices as arguments."""
    made = []
    for address, rows, columns in arrays:
        made += [struct.pack("<Q", address), *(struct.pack("<i", one) for one in (rows, columns, columns, 1))]
    return made


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the code for the host is x86-64")
def test_maps_follow_the_arguments(tile_code: bytes) -> None:
    """Address, extents and strides are the arrays'; box and swizzle are the kernel's."""
    arrays = (1 << 40, 4096, 2048), (2 << 40, 2048, 1024), (3 << 40, 4096, 1024)
    made = maps_of(tile_code, PLAIN, _values(*arrays), "there")
    assert made == [
        Map(1 << 40, (4096, 2048), (4096, 2), (64, 32), FP16, 2),
        Map(2 << 40, (2048, 1024), (2048, 2), (32, 64), FP16, 3),
        Map(3 << 40, (4096, 1024), (2048, 2), (64, 64), FP16, 3),
    ]


def test_other_machines_say_so(tile_code: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """No code for x86-64 is started elsewhere."""
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    with pytest.raises(MissingTool, match="this is aarch64"):
        maps_of(tile_code, PLAIN, [], "there")


def _raw(second: int, *words: int) -> bytes:
    return struct.pack("<16Q", 1 << 40, second, *words, *[0] * (14 - len(words)))


def test_three_dimensions() -> None:
    """As tileiras writes a batch of 16 matrices of 512x256 fp16, boxes of 64x64."""
    raw = _raw(0x2000246322, 0x4000, 0, 0x1FF000000FF, 0xF, 0x3F << 56, 0x3F)
    assert read_map(raw) == Map(1 << 40, (16, 512, 256), (262144, 512, 2), (1, 64, 64), FP16, 3)


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (
            (0x10000008310, 0, 0, 0x3FF000007FF, 0, 0xF << 56, 0x3F),
            Map(1 << 40, (1024, 2048), (4096, 2), (64, 16), 6, 0, True),
        ),
        (
            (0x40000010390, 0, 0, 0x1FF00000FFF, 0, 0xF << 56, 0x7),
            Map(1 << 40, (512, 4096), (16384, 4), (8, 16), 11, 0),
        ),
        ((0x300, 0, 0, 0xFFF, 0, 0x3F << 56, 0), Map(1 << 40, (4096,), (2,), (64,), 6, 0)),
        (
            (0x2000006340, 0x6000000040, 0x80, 0x6000000FF, 0x200000004, 0x3F << 56 | 1, 0x1000201),
            Map(1 << 40, (2, 3, 5, 7, 256), (2048, 1536, 1024, 512, 2), (2, 1, 3, 2, 64), 6, 3),
        ),
    ],
)
def test_as_a_driver_writes_them(words: tuple[int, ...], wanted: Map) -> None:
    """NaN beyond the array, fp32 rounded to tf32, one dimension, five: read on an H100."""
    assert read_map(_raw(*words)) == wanted


@pytest.mark.parametrize("second", [0x10000246514, 0x10000246516, 0x10000A46512, 0x10000256512, 0x10000246F92])
def test_unknown_bits_are_refused(second: int) -> None:
    """Another mode, an interleave, a bit nobody knows, a type that there is not."""
    with pytest.raises(BadInput, match="unknown form"):
        read_map(_raw(second, 0, 0, 0, 0, 0, 0))
