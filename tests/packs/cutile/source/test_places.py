"""Recipes that edit: each edit keeps the result, each refusal says why."""

from __future__ import annotations

import pytest
import torch

from kopt_kb.packs.cutile.source.answer import Situation
from tests.packs.cutile.source.words import NAIVE, run, words


@pytest.mark.torch
def test_every_edit_keeps_the_result() -> None:
    """Bit by bit on an emulator of cuTile, but where the change is one of the arithmetic; and one after the other."""
    before = run(NAIVE)
    found = words(NAIVE, Situation(dtype="fp32", target="sm_90"))
    assert {letter for letter, one in found.items() if one.how == "edit"} == set("ABDEFGHI")
    for letter, one in found.items():
        if one.source:
            for old, new in zip(before, run(one.source), strict=True):
                assert torch.allclose(old, new, atol=2e-2) if letter in "DG" else torch.equal(old, new), letter
    text = NAIVE
    for letter in "ABIEF":
        text = words(text)[letter].source
    assert all(map(torch.equal, before, run(text)))
    assert not [one for one in words(text).values() if one.recipe in "ABIEF" and one.source]


def test_what_each_edit_writes() -> None:
    """Loads by block with the padding of the gather, hints on each load, stores that stay away from TMA."""
    found = words(NAIVE, Situation(dtype="fp32", target="sm_90"))
    assert "ct.load(a, (i, step), (TM, TK), padding_mode=ct.PaddingMode.ZERO)" in found["A"].source
    assert "ct.store(y, (row, 0), ct.reshape(values * scale * weight, (1, TILE_COLS)))" in found["A"].source
    assert "for block in range(ct.bid(0), BLOCKS, ct.num_blocks(0)):\n        row = block\n" in found["B"].source
    assert "ct.mma(ct.astype(left, ct.tfloat32), ct.astype(right, ct.tfloat32), acc)" in found["D"].source
    free = words(NAIVE.replace("ct.gather(w, lane)", "ct.gather(w, lane, check_bounds=False)"))["A"]
    assert "weight = ct.load(w, (0,), (TILE_COLS,), padding_mode=ct.PaddingMode.ZERO)" in free.source
    assert found["E"].source.count("latency=3") == 4
    assert "tile=ct.astype(acc, c.dtype), allow_tma=False)" in found["F"].source
    assert "rounding_mode=ct.RoundingMode.APPROX" in found["H"].source
    assert (found["G"].change, found["C"].how) == ("TILE 16 in place of 8", "hypothesis")


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("ct.gather(w, lane)", "ct.gather(w, lane, mask=lane < 3)", "a mask of its own"),
        ("ct.gather(w, lane)", "ct.gather(w, lane, check_bounds=cols)", "decided elsewhere"),
        ("ct.gather(w, lane)", "ct.gather(w, lane, padding_value=7)", "no load pads with"),
        ("ct.gather(w, lane)", "ct.gather(w, lane + 3)", "not a block's number times"),
        ("ct.gather(w, lane)", "ct.gather(w, n)", "may be more than one number"),
        ("depth[:, None], cols[None, :]", "depth[None, :], cols[:, None]", "spread over another axis"),
        ("ct.gather(x, (row, lane))", "ct.gather(x, (lane, lane))", "not spread over its axis"),
    ],
)
def test_a_gather_that_is_no_tile_stays(old: str, new: str, why: str) -> None:
    """The others are changed, and the word says which was not, and why."""
    assert why in words(NAIVE.replace(old, new))["A"].change
    assert words(NAIVE.replace(old, new))["A"].source
