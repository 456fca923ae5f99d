"""A check and a tuned table as a page."""

from __future__ import annotations

from kopt_kb.packs.tables.bouts import Bout
from kopt_kb.packs.tables.check import CheckedRow, NeighbourBout, TableCheck
from kopt_kb.packs.tables.timed_page import check_text, timed_page
from kopt_kb.tuning.page.markdown import markdown
from tests.packs.tables.simulated import ROW


def test_a_check_names_versions_and_reasons() -> None:
    """Intervals are more time in percent; a row that is wrong says why."""
    bout = Bout("slower", "log ratio +4 %", 4.0, 3.5, 4.5, 1e-4, 1.04e-4, 3)
    rows = (
        CheckedRow("1", 2, 1, ROW, ROW, bout, (NeighbourBout("2", Bout("equal", "")),), True, 1e-3, "", 0.5, "dram"),
        CheckedRow("2", 9, 2, ROW, ROW, Bout("wrong", ""), (), False, None, "differs"),
    )
    found = TableCheck(
        "t.json", "H200_SXM", "vllm", "1.2", 4096, 8, "bfloat16", "balanced", rows, 3.0, {"triton": "3.6"}
    )
    text = markdown(timed_page(found, "kopt-kb", "1"))
    assert "triton 3.6" in text and "4,096 deep, 8 experts a token" in text and "vllm 1.2" in text
    assert "+3.50 to +4.50" in text and "equal to 2" in text
    shown = check_text(found)
    assert "  1: log ratio +4 %" in shown and "  2: differs" in shown and "50" in shown


def test_a_time_above_the_roof_is_not_left_without_a_word() -> None:
    """No launch is faster than its roof, but for what a cache keeps."""
    row = CheckedRow("1", 2, 1, ROW, ROW, Bout("equal", ""), (), True, 1e-3, "", 1.3, "dram")
    found = TableCheck("t.json", "H200_SXM", "vllm", "1.2", 4096, 8, "bfloat16", "balanced", (row,), 3.0)
    assert "  1: above the roof" in check_text(found)
