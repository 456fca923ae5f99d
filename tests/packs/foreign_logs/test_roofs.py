"""Speeds of a log against documented roofs."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.packs.foreign_logs.audit import audit_foreign
from kopt_kb.packs.foreign_logs.roofs import products_of
from kopt_kb.packs.foreign_logs.tree import ForeignTree
from kopt_kb.wiki.registry import Registry

LOG = "# Rounds on GPU {gpu}\n\n| Round | kernel | TFLOPS | GB/s |\n|---|---|---|---|\n| 1 | gemm {dtype} | {tflops} | {gbs} |\n"


@pytest.mark.parametrize(
    ("dtype", "tflops", "gbs", "codes"),
    [("fp16", "90", "1500", []), ("fp16", "900000", "1500", ["above-roof"]), ("fp16", "90", "999999", ["above-roof"])],
)
def test_what_the_named_product_can_not_do(
    wiki_root: Path, tmp_path: Path, dtype: str, tflops: str, gbs: str, codes: list[str]
) -> None:
    """By its documented rows, the product given by hand."""
    (tmp_path / "log").mkdir()
    (tmp_path / "log" / "log.md").write_text(LOG.format(gpu="x", dtype=dtype, tflops=tflops, gbs=gbs))
    report = audit_foreign(tmp_path / "log", Registry.open(wiki_root), platform="T10")
    assert [one.code for one in report.findings if one.code != "unproven"] == codes
    assert report.platforms == ("T10",)


def test_the_product_is_what_the_log_names(wiki_root: Path) -> None:
    """In a heading, or a line about hardware; prose that only mentions one names none."""
    registry = Registry.open(wiki_root)
    named = ForeignTree("x", texts={"a.md": "# Campaign on T10 PRO\n"})
    assert products_of(named, registry) == {"T10_PRO"}
    assert products_of(ForeignTree("x", texts={"a.md": "A T10 PRO would be faster.\n"}), registry) == set()


def test_without_a_product_nothing_is_compared(wiki_root: Path, tmp_path: Path) -> None:
    """And that is said."""
    (tmp_path / "log").mkdir()
    (tmp_path / "log" / "log.md").write_text(LOG.format(gpu="x", dtype="fp16", tflops="900000", gbs="1"))
    report = audit_foreign(tmp_path / "log", Registry.open(wiki_root))
    assert [one.code for one in report.notes] == ["no-roof"]
    assert "above-roof" not in {one.code for one in report.findings}
