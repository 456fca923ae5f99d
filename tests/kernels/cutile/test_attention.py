"""The cuTile attention: tall and wide tiles, causal and full."""

from __future__ import annotations

import pytest

from tests.kernels.cutile.emulated import check, check_declared


@pytest.mark.torch
@pytest.mark.parametrize(
    ("shape", "config"),
    [
        ((1, 2, 37, 10), {"TILE_M": 16, "TILE_N": 8}), ((2, 1, 20, 16), {"TILE_M": 8, "TILE_N": 16}),
        ((1, 1, 33, 8), {"TILE_M": 16, "TILE_N": 8, "causal": False, "FLUSH": True}),
    ],
)  # fmt: skip
def test_each_variant_against_float64(shape: tuple[int, ...], config: dict[str, object]) -> None:
    """On shapes that no tile divides."""
    options = {key: config.pop(key) for key in ("causal",) if key in config}
    check("attention", shape, config, **options)


@pytest.mark.torch
def test_what_it_declares() -> None:
    """As the Triton kernel of the operation."""
    check_declared("attention", (1, 2, 512, 64))
