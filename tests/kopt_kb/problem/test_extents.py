"""Extents as expressions: exact, whole, and nothing that could run."""

from __future__ import annotations

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.problem.extents import whole, whole_of

NAMES = {"B": 4, "N": 7}


@pytest.mark.parametrize(
    ("text", "value"),
    [("B", 4), ("3 * B * (N + 1) // 2", 48), ("B * N / 4", 7), ("2 ** B - N", 9), ("N % 4", 3), (5, 5)],
)
def test_values(text: str | int, value: int) -> None:
    """Whole results of exact arithmetic; a division may leave a fraction on the way."""
    assert whole(text, NAMES) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "N / 2",
        "M",
        "B - N",
        "B / 0",
        "__import__('os')",
        "B if N else 1",
        "9 ** 9 ** 9",
        "B ** 100",
        "1.5",
        "(" * 500,
    ],
)
def test_refused(text: str) -> None:
    """One line each; huge powers are not computed."""
    with pytest.raises(BadInput):
        whole(text, NAMES)


def test_zero_where_it_may_be() -> None:
    """Work may be nothing, an extent may not."""
    assert whole("B - 4", NAMES, least=0) == 0
    with pytest.raises(BadInput):
        whole_of(True, NAMES)
