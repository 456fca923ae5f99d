"""A problem's table: dimensions, extents, and the same after it was written."""

from __future__ import annotations

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import read
from kopt_kb.problem.table import ProblemTable, RecordedTensor, StatedTensor, Workload

X = StatedTensor("x", ("M", "half + 1", 3), "bf16")
TABLE = ProblemTable(
    "sums", ("M", "N"), {"half": "N // 2", "again": "2 * half"}, (X,), (), {"4x8": Workload({"eps": 1e-5}, {})}, "bf16"
)


def test_dimensions_follow_from_a_shape() -> None:
    """Constants may use those before them."""
    dims = TABLE.dims((4, 7))
    assert dims == {"M": 4, "N": 7, "half": 3, "again": 6}
    assert X.extents(dims) == (4, 4, 3)
    assert StatedTensor("eps", None).extents(dims) == ()
    with pytest.raises(BadInput, match="tensor y"):
        StatedTensor("y", ("K",)).extents(dims)


def test_it_is_the_same_after_it_was_written() -> None:
    """A reference file holds it as a literal."""
    held = ProblemTable(
        "a", ("M",), {}, (X,), (X,), {"4": Workload({}, {"x": RecordedTensor("int32", (1,), "AQAAAA==")})}, "bf16"
    )
    for table in (TABLE, held):
        assert read(ProblemTable, table.to_json()) == table
