"""Claims of Markdown tables."""

from __future__ import annotations

from collections.abc import Callable

import pytest

Said = Callable[..., list[tuple[str, str, str]]]


def _table(*rows: str) -> str:
    head, *rest = rows
    return "\n".join([head, "|" + "---|" * (head.count("|") - 1), *rest])


def test_products_as_rows(said: Said) -> None:
    """The unit stands in the header; the first cell is the product."""
    text = _table(
        "| GPU | HBM bandwidth (TB/s) | Memory |", "| H200 SXM | 4.8 | 141GB HBM3e |", "| Gaudi 3 | 3.7 | 128GB HBM |"
    )
    assert said(text) == [("4.8 TB/s", "H200_SXM", "memory_bandwidth"), ("141GB", "H200_SXM", "memory_capacity")]


def test_products_as_columns(said: Said) -> None:
    """The row's label says what and the unit; a ratio of two products is no product's."""
    text = _table("| Spec | H200 SXM | B200 | H200 → B200 |", "| Peak bf16 TFLOPS | 989 | 2250 | 2.28 |")
    assert said(text) == [("989 TFLOPS", "H200_SXM", "peak_compute"), ("2250 TFLOPS", "B200", "peak_compute")]


def test_a_unit_column(said: Said) -> None:
    """Names the unit of its row."""
    text = "# H20\n\n" + _table("| Metric | Value | Unit |", "| HBM bandwidth | 4.0 | TB/s |")
    assert said(text) == [("4.0 TB/s", "H20", "memory_bandwidth")]


@pytest.mark.parametrize(
    "text",
    [
        _table("| Model | Memory | GPU |", "| 7B | 14GB | A100 40GB, A30 |"),
        _table("| GPU | Achieved TFLOPS (bf16) |", "| H100 | 620 |"),
        _table("| GPU | HBM |", "| H100 | 80/96GB HBM3 |"),
        _table("| GPU | Ratio |", "| H100 | 2.2x |"),
        _table(
            "| Metric | Value | Unit | Conditions | Grade | Source | Note |",
            "| sm_count | 132 | count | - | vendor | x | H100 |",
        ),
        "| H100 | 999 TB/s HBM |",
    ],
)
def test_no_claim(said: Said, text: str) -> None:
    """Needs, measurements, two values, ratios, pages of a wiki, rows without a header."""
    assert said(text) == []
