"""Tensor maps among a header's arguments: which tensor, box, shape, swizzle; what can't be one is refused."""

from __future__ import annotations

import pytest

from kopt_kb.launch.cuda.tensor_maps import map_of, map_tensor
from kopt_kb.launch.record.model import TensorView

TENSORS = {"q": TensorView("q", 0, (2, 3, 100, 64), (19200, 6400, 64, 1), "bf16")}


def test_a_map_over_another_shape() -> None:
    """Rows of all heads as one dimension; type and swizzle by the driver's numbers."""
    text = "map q [1, BM, 64] of [B * H, S, D] swizzle 128"
    assert map_tensor(text) == "q"
    numbers = {"B * H": 6, "S": 100, "D": 64, "1": 1, "BM": 128, "64": 64}
    made = map_of(text, TENSORS, numbers.__getitem__)
    assert (made.view.shape, made.view.strides, made.box) == ((6, 100, 64), (6400, 64, 1), (1, 128, 64))
    assert (made.element_type, made.swizzle) == (9, 3)
    plain = map_of("map q [1, 1, 32, 32] swizzle 64", TENSORS, int)
    assert (plain.view, plain.swizzle) == (TENSORS["q"], 2)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("map q [64, 64] swizzle 128", "a box of 2 extents for 4 dimensions"),
        ("map q [8, 64] of [300, 64] swizzle 128", "q has 38400 elements"),
        ("map q swizzle 128", "is no tensor map"),
        ("map q [1, 1, 32, 32] swizzle 48", "is no tensor map"),
    ],
)
def test_what_is_no_map(text: str, complaint: str) -> None:
    """The words say what is wrong."""
    with pytest.raises(ValueError, match=complaint):
        map_of(text, TENSORS, int)
