"""A NONE that the target or most other products contradict is named; one that is right says why."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.packs.curate.nothing import wrongly_none
from kopt_kb.wiki.wiki import Wiki

LINKS = '| link_count | 18 | count | link=nvlink4 | vendor | [^sheet] table 1 quote="18 links" |  |'
BANDWIDTH = (
    '| link_bandwidth | 900 | GB/s | link=nvlink4; direction=both | vendor | [^sheet] table 1 quote="900 GB/s" |  |'
)
NONE = "| link_count | NONE | count | link=nvlink4 | vendor | [^sheet] table 1 | reason: a card{} |"


def products(root: Path, rows: list[str]) -> Wiki:
    """The invented product again and again, each with a row of its own."""
    page = root / "hardware/nvidia/t10.md"
    text = page.read_text()
    for number, row in enumerate(rows):
        named = text.replace("T10", f"X{number}").replace("Test 10", f"Other {number}")
        (page.parent / f"x{number}.md").write_text(named.replace("| memory_type |", f"{row}\n| memory_type |"))
    page.unlink()
    return Wiki(root, use_cache=False)


@pytest.mark.parametrize(
    ("rows", "codes"),
    [
        ([NONE.format(""), LINKS, LINKS], ["WK406"]),
        ([NONE.format(""), LINKS], []),
        ([f"{NONE.format('')}\n{BANDWIDTH}", NONE.format("")], ["WK406"]),
        ([NONE.format(""), BANDWIDTH], []),
        ([NONE.format(""), NONE.format(""), LINKS, LINKS, LINKS], ["WK406"] * 2),
        ([NONE.format(""), NONE.format(""), LINKS, LINKS], []),
        ([NONE.format("; exception KIN: NONE, it has no bridge"), LINKS, LINKS], []),
        ([NONE.format("; exception KIN: NONE, it has no bridge"), LINKS], ["WK303"]),
        ([LINKS, LINKS, LINKS], []),
    ],
)
def test_most_of_the_kin_have_one(wiki_root: Path, rows: list[str], codes: list[str]) -> None:
    """More than half of at least three; an exception is for the odd one only."""
    assert [fault.code for fault in wrongly_none(products(wiki_root, rows))] == codes


def test_the_target_has_a_rate_for_it(wiki_root: Path) -> None:
    """One product is enough where its target multiplies in that format."""
    axes = "dtype=fp8; engine=matrix; sparsity=dense; acc=unstated"
    row = f"| peak_compute | NONE | TFLOPS | {axes}; clock=unstated | vendor | [^sheet] table 1 | reason: none |"
    wiki = products(wiki_root, [row])
    assert list(wrongly_none(wiki)) == []
    target = wiki_root / "targets/sm_00.md"
    text = target.read_text()
    rate = f'| ops_per_clock_per_sm | 64 | op/clk | {axes} | vendor | [^guide] table 1 quote="64" | |'
    target.write_text(text.replace("| warp_size |", f"{rate}\n| warp_size |", 1))
    found = [fault for fault in wrongly_none(Wiki(wiki_root, use_cache=False)) if "fp8" in fault.message]
    assert {(fault.code, "rate" in fault.message) for fault in found} == {("WK406", True)}


@pytest.mark.parametrize(("dtype", "codes"), [("fp8", ["WK406"]), ("int8", [])])
def test_a_format_that_is_denied_has_no_rates(wiki_root: Path, dtype: str, codes: list[str]) -> None:
    """A page says that the part has no fp8; a limit of that type is odd, one of another is not."""
    axes = "dtype=fp8; engine=matrix; sparsity=dense; acc=unstated; clock=unstated"
    denied = f"| peak_compute | NONE | TFLOPS | {axes} | vendor | [^sheet] table 1 | reason: none |"
    unit = "TOPS" if dtype == "int8" else "TFLOPS"
    limit = (
        f'| acceptance_compute | 9 | {unit} | dtype={dtype}; data=random | threshold | [^sheet] table 1 quote="9" | |'
    )
    found = list(wrongly_none(products(wiki_root, [f"{denied}\n{limit}"])))
    assert [fault.code for fault in found if "has no fp8" in fault.message] == codes


@pytest.mark.parametrize(
    ("dtype", "peak", "codes"),
    [("fp4", "", ["WK406"]), ("fp4", "UNKNOWN", []), ("fp4", "9", []), ("fp32", "", [])],
)
def test_a_rate_of_a_format_that_nothing_else_speaks_of(
    wiki_root: Path, dtype: str, peak: str, codes: list[str]
) -> None:
    """The target has lanes of fp32; of fp4 it has nothing, so that a limit needs a peak, known or not."""
    limit = (
        f'| acceptance_compute | 9 | TFLOPS | dtype={dtype}; data=random | threshold | [^sheet] table 1 quote="9" | |'
    )
    axes = f"dtype={dtype}; engine=matrix; sparsity=dense; acc=unstated; clock=unstated"
    cells = {"9": '| vendor | [^sheet] table 1 quote="9" | |', "UNKNOWN": "| - | - | reason: nobody prints it |"}
    rows = [limit, *([f"| peak_compute | {peak} | TFLOPS | {axes} {cells[peak]}"] if peak else [])]
    found = list(wrongly_none(products(wiki_root, ["\n".join(rows)])))
    assert [fault.code for fault in found if "is of" in fault.message] == codes
