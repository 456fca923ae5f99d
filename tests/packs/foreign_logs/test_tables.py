"""Tables in Markdown, CSV and TSV become records; rows that do not fit are named."""

from __future__ import annotations

from kopt_kb.packs.foreign_logs.record import ForeignRecord
from kopt_kb.packs.foreign_logs.tables import LogTable, markdown_tables, records_of, separated
from kopt_kb.packs.foreign_logs.tree import Unread

TREND = """# Trend

| Round | Status | TFLOPS | vs Baseline |
|---|:-:|---|---|
| 1 | BASELINE | 100 | - |
| **R2** | ACCEPTED | 120 | 1.20x |
| broken |
| 3 | ROLLBACK | 110 | 1.10x |
"""
RESULTS = "experiment\ttag\tkernel_type\tlatency_us\tspeedup\tcorrectness\n0\tbaseline\tmm\t10.0\t1.0\tPASS\n1\tswizzle\tmm\t8.0\t1.25\tREVERT\n2\tshort\n"


def _read(parts: list[LogTable | Unread]) -> tuple[list[ForeignRecord], list[Unread]]:
    tables = [one for one in parts if isinstance(one, LogTable)]
    return [row for one in tables for row in records_of(one)], [one for one in parts if isinstance(one, Unread)]


def test_rows_of_a_markdown_table() -> None:
    """Round, decision and line of each; the broken row is named."""
    records, unread = _read(list(markdown_tables("trend.md", TREND)))
    assert [(one.round, one.decision, one.line) for one in records] == [
        (1, "baseline", 5),
        (2, "accepted", 6),
        (3, "rejected", 8),
    ]
    assert [(one.line, one.reason) for one in unread] == [(7, "a row with 1 cells under a header of 4")]


def test_rows_of_a_tsv() -> None:
    """Tabs; what the log is about stands with each row."""
    records, unread = _read(list(separated("results.tsv", RESULTS, "tsv")))
    assert [(one.round, one.decision, one.item) for one in records] == [
        (0, "baseline", "baseline, mm"),
        (1, "rejected", "swizzle, mm"),
    ]
    assert [one.line for one in unread] == [4]


def test_rows_of_a_csv_with_lines_inside_cells() -> None:
    """A kernel's source spans lines; the next row's line is right."""
    text = 'Kernel_Name,CUDA_Runtime,CUDA_Speedup_Native,CUDA_Code\na,1.0,2.0,"line\nline"\nb,1.0,3.0,x\n'
    records, unread = _read(list(separated("archive.csv", text, "csv")))
    assert [(one.label, one.line) for one in records] == [("a", 2), ("b", 4)]
    assert not unread


def test_a_table_in_the_folder_of_a_round_details_it() -> None:
    """Its rows are shapes of round 3 and no claims of their own."""
    records, _ = _read(list(separated("c/rounds/round-3/bench.csv", "label,Check,ratio\ns1,PASS,1.1\n", "csv")))
    assert [(one.round, one.of_round, one.label) for one in records] == [(3, True, "s1")]


def test_other_tables_are_no_log() -> None:
    """A table of hardware has a bandwidth and judges nothing."""
    records, _ = _read(list(markdown_tables("README.md", "| GPU | bandwidth GB/s |\n|---|---|\n| a | 100 |\n")))
    assert records == []
