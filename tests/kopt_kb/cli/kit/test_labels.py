"""Labels of rows leave out what no source states; long values get a prefix."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.cli.kit.labels import label, label_of, readable_unit
from kopt_kb.wiki.registry import Registry


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("sm_count", "sm_count"),
        ("peak_compute[dtype=bf16;engine=matrix;sparsity=dense;acc=unstated;clock=boost]", "peak_compute [bf16 matrix dense clock=boost]"),
        ("a[acc=unstated]", "a"),
    ],
)  # fmt: skip
def test_conditions(key: str, text: str) -> None:
    """Bare words where they speak for themselves."""
    assert label_of(key) == text


def test_rows(wiki_root: Path, product: Path) -> None:
    """A unit stands alone beside a short number."""
    product.write_text(
        product.read_text().replace("| memory_capacity | 48 | GB |", "| memory_capacity | 48000000000 | B |")
    )
    t10 = Registry.open(wiki_root).platform("T10")
    units = {name: readable_unit(t10.rows(name)[0]) for name in ("memory_capacity", "sm_count", "memory_type")}
    assert units == {"memory_capacity": "B = 48 GB", "sm_count": "count", "memory_type": ""}
    assert label(t10.rows("sm_count")[0].metric, ()) == "sm_count"
