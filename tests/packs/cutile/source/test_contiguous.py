"""What a gather moves; whole recipes are in test_recipes."""

from __future__ import annotations

from kopt_kb.packs.cutile.source.contiguous import BlockTile, tile_of
from kopt_kb.packs.cutile.source.source import read_cutile

HEAD = "import cuda.tile as ct\n@ct.kernel\ndef k(x, y, n, T: ct.Constant[int]):\n"


def test_tiles_of_one_axis_and_of_two() -> None:
    """A range alone is block 0; sums and products may be written either way round; loop variables count as blocks."""
    body = (
        "    a = ct.gather(x, ct.arange(T, dtype=ct.int32))\n"
        "    for at in range(n):\n"
        "        b = ct.gather(x, (T * at + ct.arange(T, dtype=ct.int32),))\n"
        "        c = ct.gather(y, (at, ct.arange(T, dtype=ct.int32) + ct.bid(1) * T))\n"
    )
    file = read_cutile(HEAD + body)
    found = [tile_of(file, one) for one in file.calls("gather")]
    assert found == [
        BlockTile(("0",), ("T",), ("T",)), BlockTile(("at",), ("T",), ("T",)), BlockTile(("at", "ct.bid(1)"), ("1", "T"), ("T",)),
    ]  # fmt: skip
