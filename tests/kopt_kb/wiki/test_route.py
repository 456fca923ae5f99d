"""The reading list: order, reasons, nothing of another target, and what is missing."""

from __future__ import annotations

from pathlib import Path

from kopt_kb.wiki.route import reading_list
from kopt_kb.wiki.search_filters import Filters
from kopt_kb.wiki.wiki import Wiki


def test_order_and_reasons(knowledge_root: Path) -> None:
    """Overview, operation, backend, target, products, pitfalls, advice; what names more of the work comes first."""
    found = reading_list(Wiki(knowledge_root), Filters(op="gemm", backend="triton", arch="sm_00"))
    assert [stop.path for stop in found.stops] == [
        "ops/overview.md", "ops/gemm.md", "targets/sm_00.md", "hardware/nvidia/t10.md", "hardware/nvidia/t10_pro.md",
        "pitfalls/banks.md", "advice/memory.md", "advice/",
    ]  # fmt: skip
    assert found.stops[5].matches == ("op=gemm", "arch=sm_00")
    assert all(stop.why for stop in found.stops)
    assert found.missing == ("backend", "playbook", "profiling")


def test_another_target_is_not_inherited(knowledge_root: Path) -> None:
    """AMD's backend page is for AMD's targets, the pitfall of sm_00 is not for gfx00."""
    found = reading_list(Wiki(knowledge_root), Filters(op="gemm", backend="flydsl", arch="gfx00"))
    paths = [stop.path for stop in found.stops]
    assert "backends/flydsl.md" in paths
    assert "pitfalls/banks.md" not in paths
    assert not [path for path in paths if path.startswith("hardware/")]


def test_a_page_with_faults_is_not_recommended(knowledge_root: Path) -> None:
    """Until it is mended."""
    page = knowledge_root / "ops/gemm.md"
    page.write_text(page.read_text().replace("rate.[^doc]", "rate."))
    found = reading_list(Wiki(knowledge_root), Filters(op="gemm"))
    assert "ops/gemm.md" not in [stop.path for stop in found.stops]


def test_json(knowledge_root: Path) -> None:
    """Filters, pages, missing kinds."""
    body = reading_list(Wiki(knowledge_root), Filters(op="matmul")).to_json()
    assert body["filters"] == {"op": "gemm"}
    assert body["pages"][0]["kind"] == "op"


def test_a_product_narrows_the_value_pages(knowledge_root: Path) -> None:
    """Its target decides the rest."""
    found = reading_list(Wiki(knowledge_root), Filters(op="gemm", arch="t10_pro"))
    assert [stop.path for stop in found.stops if stop.kind == "hardware"] == ["hardware/nvidia/t10_pro.md"]
    assert found.filters.given == {"op": "gemm", "arch": "sm_00", "platform": "T10_PRO"}


def test_tips_have_one_place(knowledge_root: Path) -> None:
    """Only when operation, target and backend are named."""
    wiki = Wiki(knowledge_root)
    full = reading_list(wiki, Filters(op="gemm", backend="flydsl", arch="gfx00"))
    assert full.tips == "agent/historical_experience/gfx00/gemm/flydsl/tips.md"
    assert reading_list(wiki, Filters(op="gemm")).tips == ""
