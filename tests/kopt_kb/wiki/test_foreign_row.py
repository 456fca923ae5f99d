"""One value of somebody else's table."""

from __future__ import annotations

from fractions import Fraction

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.wiki.foreign_row import FIELDS, foreign_row

ROW = dict(zip(FIELDS, ("T10", "memory_bandwidth", "2.0", "TB/s", ""), strict=True))


def test_a_row_is_in_our_words() -> None:
    """The number exact, the axes of the key and of the conditions together."""
    assert foreign_row(ROW, "t:1").si == 2 * 10**12
    key = {**ROW, "metric": "peak_compute[dtype=fp16]", "unit": "TFLOPS", "conditions": {"engine": "matrix"}}
    found = foreign_row(key, "t:2")
    assert (found.metric, dict(found.axes)) == ("peak_compute", {"dtype": "fp16", "engine": "matrix"})
    assert foreign_row({**ROW, "metric": "l2_capacity", "unit": "MB"}, "t:3").si == Fraction(2 << 20)


@pytest.mark.parametrize(
    ("change", "code"),
    [({"value": ""}, "KB057"), ({"value": "many"}, "KB012"), ({"unit": "W"}, "KB024"), ({"dtype": "fp3"}, "KB021")],
)
def test_a_bad_cell_is_named_with_its_place(change: dict[str, str], code: str) -> None:
    """Each with its code."""
    with pytest.raises(BadInput) as caught:
        foreign_row({**ROW, **change}, "t:9")
    assert (caught.value.where, caught.value.error_code) == ("t:9", code)
