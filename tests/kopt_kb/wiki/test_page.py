"""The page reader loads what is right, reports all that is wrong with file and line, and survives hostile pages."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kopt_kb.wiki.page import read_page

FRONT = "---\nplatform: T10\nvendor: P\nsku: S\narch: A\ntarget: sm_00\n---\n"
HEADER = "| Metric | Value | Unit | Conditions | Grade | Source | Note |\n|---|---|---|---|---|---|---|\n"
NOTE = '[^s]: title="T"; publisher="P"; url="u"; revision="r"; read="2026-11-21"\n'
ROW = '| memory_bandwidth | 4.0 | TB/s | - | vendor | [^s] row 1 quote="4.0TB/s" | |\n'


def page_of(body: str, front: str = FRONT) -> str:
    """A page whose footnote is used."""
    return f"{front}# T\n\n## Memory\n\n{HEADER}{body}\n{NOTE}"


def codes(text: str | bytes) -> list[tuple[str, int]]:
    """Fault codes with their lines."""
    data = text.encode() if isinstance(text, str) else text
    return [(fault.code, fault.line) for fault in read_page(data, "hardware/v/t10.md").faults]


def test_a_good_row_loads_with_line_heading_and_hash() -> None:
    """The row knows where it stands."""
    page = read_page(page_of(ROW).encode(), "hardware/v/t10.md")
    assert not page.faults
    (row,) = page.rows
    assert (row.key, row.value, row.unit, row.line, row.heading) == ("memory_bandwidth", "4.0", "TB/s", 14, "Memory")
    assert len(row.sha) == 12


@pytest.mark.parametrize(
    ("row", "code"),
    [
        (ROW.replace("memory_bandwidth", "bandwith"), "WK201"),
        (ROW.replace("| 4.0 |", "| ~4.0 |"), "WK202"),
        (ROW.replace("| 4.0 |", "| 4.0-4.8 |"), "WK202"),
        (ROW.replace("| 4.0 |", "| up to 4.0 |"), "WK202"),
        (ROW.replace("| 4.0 |", "| 0 |"), "WK202"),
        (ROW.replace("| TB/s |", "| TFLOPS |"), "WK203"),
        (ROW.replace("| TB/s |", "| TiB/h |"), "WK203"),
        (ROW.replace("| - | vendor", "| level=l2 | vendor"), "WK204"),
        (ROW.replace("memory_bandwidth", "l2_bandwidth"), "WK204"),
        (ROW.replace("vendor", "certain"), "WK205"),
        (ROW.replace("vendor", "threshold"), "WK205"),
        (ROW.replace('[^s] row 1 quote="4.0TB/s"', "-"), "WK206"),
        (ROW.replace(' quote="4.0TB/s"', ""), "WK206"),
        (ROW.replace("row 1 ", ""), "WK206"),
        (ROW.replace("4.0TB/s", "4.0TB/s" + "x" * 60), "WK206"),
        (ROW.replace("[^s] row", "[^t] row"), "WK207"),
        (ROW.replace("4.0TB/s", "4.1TB/s"), "WK208"),
        (ROW.replace("| |", "| because |"), "WK209"),
        (ROW.replace("| 4.0 |", "| UNKNOWN |").replace("vendor", "-"), "WK209"),
        (ROW.replace("vendor", "derived"), "WK209"),
    ],
)
def test_each_fault_of_a_row_has_its_code_and_line(row: str, code: str) -> None:
    """The row does not load; the good row beside it does."""
    page = read_page(
        page_of(ROW.replace("memory_bandwidth", "memory_capacity").replace("TB/s", "TB") + row).encode(), "p.md"
    )
    assert [(f.code, f.line) for f in page.faults if f.code != "WK109"] == [(code, 15)]
    assert [r.key for r in page.rows] == ["memory_capacity"]


def test_all_faults_are_reported_together() -> None:
    """Three wrong rows give three faults, each with its line."""
    body = ROW + ROW.replace("4.0 |", "x |") + ROW.replace("TB/s |", "W |") + ROW.replace("4.0TB", "5TB")
    assert codes(page_of(body)) == [("WK202", 15), ("WK203", 16), ("WK208", 17)]


def test_surplus_and_missing_cells_are_seen() -> None:
    """markdown-it drops and pads cells silently; we count them."""
    assert codes(page_of(ROW.replace("| |\n", "| | extra |\n") + ROW)) == [("WK105", 14)]
    assert codes(page_of(ROW.replace("| vendor ", "") + ROW)) == [("WK105", 14)]


def test_a_pipe_in_a_quote_is_escaped() -> None:
    r"""`\|` is part of the cell, a bare pipe ends it even inside code."""
    assert not codes(page_of(ROW.replace("4.0TB/s", r"3 \| 4.0TB/s")))
    assert codes(page_of(ROW.replace("row 1", "`a|b`") + ROW))[0] == ("WK105", 14)


def test_text_glued_to_a_table_is_found() -> None:
    """A sentence below the last row would become a row."""
    assert codes(page_of(ROW + "This sentence follows.\n")) == [("WK106", 15)]
    assert codes(page_of(ROW + "\ntext\n" + ROW)) == [("WK106", 17)]


def test_rows_in_code_do_not_count() -> None:
    """A fenced example is no table."""
    page = read_page((page_of(ROW) + "\n```\n" + HEADER + ROW + "```\n").encode(), "p.md")
    assert (len(page.rows), page.faults) == (1, [])


def test_an_unclosed_fence_hides_no_row_silently() -> None:
    """Rows swallowed by a broken fence are simply not there, so the required list or a lookup notices: none load."""
    page = read_page(page_of(ROW).replace("## Memory\n", "## Memory\n\n```\n").encode(), "p.md")
    assert not page.rows


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (("| Note |", "| Notes |"), "WK104"),
        (("| Metric | Value |", "| Value | Metric |"), "WK104"),
        (("## Memory\n", ""), "WK107"),
        (('read="2026-11-21"', 'read="yesterday"'), "WK109"),
        (('title="T"; ', ""), "WK109"),
    ],
)
def test_faults_of_the_page_block_it(change: tuple[str, str], code: str) -> None:
    """They have no key: nothing of the page can be trusted."""
    page = read_page(page_of(ROW).replace(*change).encode(), "p.md")
    assert any(fault.code == code and fault.key is None for fault in page.faults)


def test_unused_and_repeated_footnotes_are_found() -> None:
    """A document nobody cites, and one defined twice."""
    unused = NOTE.replace("[^s]", "[^other]")
    assert [c for c, _ in codes(page_of(ROW) + unused)] == ["WK109"]
    assert [c for c, _ in codes(page_of(ROW) + NOTE)] == ["WK109"]


def test_yaml_reads_strings_only() -> None:
    """`no`, `10.0` and dates stay text; a missing field is a fault."""
    page = read_page(page_of(ROW, FRONT.replace("sku: S", "sku: 10.0").replace("arch: A", "arch: no")).encode(), "p.md")
    assert (page.front["sku"], page.front["arch"], page.faults) == ("10.0", "no", [])
    assert codes(page_of(ROW, FRONT.replace("sku: S\n", ""))) == [("WK103", 1)]
    assert codes(page_of(ROW, FRONT.replace("sku: S", "sku: [a, b]"))) == [("WK103", 1)]


HOSTILE = {
    "nul": b"---\nplatform: T\n---\n\0",
    "latin-1": page_of(ROW).replace("4.0TB", "4.0\xa0TB").encode("latin-1"),
    "lone carriage return": page_of(ROW).replace("# T\n", "# T\rx\n").encode(),
    "too large": b"---\nplatform: T\n---\n" + b"x" * (1 << 20),
    "thousands of columns": f"{FRONT}## M\n\n{'|a' * 5000}|\n{'|-' * 5000}|\n".encode(),
    "many rows": page_of(ROW * 4000).encode(),
    "no front matter": b"# T\n",
    "open front matter": b"---\nplatform: T\n",
    "yaml bomb": b"---\na: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b\n---\n",
    "yaml list": b"---\n- a\n---\n",
    "empty": b"",
}


@pytest.mark.core
@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_hostile_pages_end_in_one_clear_fault_quickly(name: str) -> None:
    """No exception, no hang, and the whole page is blocked."""
    began = time.process_time()
    faults = read_page(HOSTILE[name], "p.md").faults
    assert any(fault.key is None for fault in faults)
    assert time.process_time() - began < 5


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=300), st.integers(0, 400))
def test_random_bytes_inserted_anywhere_never_raise(noise: bytes, at: int) -> None:
    """Whatever stands in the page, the reader returns; rows it keeps are rows of the text."""
    data = page_of(ROW).encode()
    page = read_page(data[:at] + noise + data[at:], "p.md")
    assert all(row.line >= 1 for row in page.rows)


def test_crlf_and_bom_change_nothing() -> None:
    """Line ends and a byte order mark are not content."""
    plain = read_page(page_of(ROW).encode(), "p.md")
    dressed = read_page(b"\xef\xbb\xbf" + page_of(ROW).replace("\n", "\r\n").encode(), "p.md")
    assert dressed.rows == plain.rows
    assert not dressed.faults


def test_front_matter_is_not_read_as_markdown() -> None:
    """A YAML comment is no heading and a list there is no table: title and lines are those of the body."""
    front = FRONT.replace("platform:", "# Comment\nplatform:").replace(
        "arch: A\n", "arch: A\naliases:\n  - '| x | y |'\n"
    )
    page = read_page(page_of(ROW, front).encode(), "hardware/v/t10.md")
    assert (page.title, page.faults, [row.line for row in page.rows]) == ("T", [], [17])


@pytest.mark.parametrize(("field", "faults"), [("alias: [X]", ["front matter has no field 'alias'"]), ("pci: []", [])])
def test_a_mistyped_field_is_named(product: Path, field: str, faults: list[str]) -> None:
    """`alias` for `aliases` would lose a name without a word."""
    page = read_page(product.read_bytes().replace(b"arch:", f"{field}\narch:".encode(), 1), "hardware/nvidia/t10.md")
    assert [fault.message for fault in page.faults] == faults
