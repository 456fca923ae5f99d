"""Tile IR read into operations with their regions."""

from __future__ import annotations

from pathlib import Path

from kopt_kb.packs.cutile.source.tile_ir import parse_tile_ir, tile_type

DATA = Path(__file__).resolve().parents[3] / "data" / "tile_ir"


def test_regions_and_results() -> None:
    """Loops hold their bodies, a reduction its function; several results have numbers."""
    made = parse_tile_ir((DATA / "attention.tileir").read_text())
    assert (made.name, len(made.parameters)) == ("attention_rows", 36)
    loops = [one for one in made.ops if one.name == "for"]
    assert [one.results for one in loops] == [("%for#0", "%for#1", "%for#2"), tuple(f"%for_93#{at}" for at in range(3))]
    inner = [one.name for one in loops[0].regions[0]]
    assert inner.count("mmaf") == 2
    assert inner[-1] == "continue"
    reduce = next(one for one in loops[0].regions[0] if one.name == "reduce")
    assert [one.name for one in reduce.regions[0]] == ["maxf", "yield"]


def test_types() -> None:
    """The last tile of a text; pointers are no floats."""
    whole = tile_type("tile<128x64xbf16>, tile<64x64xbf16>, tile<128x64xf32>")
    assert whole is not None
    assert (whole.shape, whole.dtype) == ((128, 64), "fp32")
    pointers = tile_type("tile<16xptr<f32>>")
    assert pointers is not None
    assert not pointers.is_float
    assert tile_type("token") is None
