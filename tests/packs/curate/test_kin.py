"""One target that differs from all others of its vendor, one product from all of its kin, says why."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.packs.curate.kin import odd_products, odd_targets
from kopt_kb.wiki.wiki import Wiki


def wiki_of(root: Path, sizes: list[str], note: str = "") -> Wiki:
    """The invented target again and again, each with a warp size of its own; the note is of the first."""
    text = (root / "targets/sm_00.md").read_text()
    for number, size in enumerate(sizes):
        row = f'| warp_size | {size} | count | - | vendor | [^guide] table 1 row warp quote="{size}" | {{}} |'
        old = '| warp_size | 32 | count | - | vendor | [^guide] table 1 row warp quote="32" | |'
        page = text.replace("sm_00", f"sm_{number}0").replace(old, row.format(note if number == 0 else ""))
        (root / f"targets/sm_{number}0.md").write_text(page)
    return Wiki(root, use_cache=False)


@pytest.mark.parametrize(
    ("sizes", "odd"),
    [
        (["64", "32", "32", "32", "32", "32"], ["targets/sm_00.md"]),
        (["32", "32", "32", "32", "32", "32"], []),
        (["64", "64", "32", "32", "32", "32", "32"], []),
        (["64", "32", "32", "32", "32"], ["targets/sm_00.md"]),
        (["64", "32", "32", "32"], ["targets/sm_00.md"]),
        (["64", "32", "32"], []),
        (["64", "16", "32", "32", "32", "32"], ["targets/sm_00.md", "targets/sm_10.md"]),
    ],
)
def test_the_odd_one_is_named(wiki_root: Path, sizes: list[str], odd: list[str]) -> None:
    """One against three, two alone each; two alike are a generation, and of three targets nothing is said."""
    assert [fault.path for fault in odd_targets(wiki_of(wiki_root, sizes))] == odd


@pytest.mark.parametrize(("first", "codes"), [("64", []), ("32", ["WK303"])])
def test_a_real_difference_says_why_and_no_other_does(wiki_root: Path, first: str, codes: list[str]) -> None:
    """The exception is for the odd one only."""
    wiki = wiki_of(wiki_root, [first, *["32"] * 5], f"exception KIN: {first}, waves of its own")
    assert [fault.code for fault in odd_targets(wiki)] == codes


def family_of(root: Path, watts: list[str], note: str = "") -> Wiki:
    """The invented product again and again, each with a power of its own; the note is of the first."""
    page = root / "hardware/nvidia/t10.md"
    text = page.read_text()
    front, _, body = text.partition("\n---\n")
    for number, power in enumerate(watts):
        row = f'| board_power | {power} | W | kind=tdp | vendor | [^sheet] table 1 quote="{power} W" | '
        named = front.replace("T10", f"X{number}").replace("Test 10", f"Other {number}")
        tables = body.replace("| memory_type |", f"{row}{note if number == 0 else ''} |\n| memory_type |")
        (page.parent / f"x{number}.md").write_text(f"{named}\n---\n{tables}")
    page.unlink()
    return Wiki(root, use_cache=False)


@pytest.mark.parametrize(
    ("watts", "odd"),
    [
        (["300", "300", "300"], []),
        (["375", "300", "300"], []),
        (["380", "300", "300"], ["hardware/nvidia/x0.md"]),
        (["900", "300", "310"], ["hardware/nvidia/x0.md"]),
        (["900", "300"], ["hardware/nvidia/x0.md", "hardware/nvidia/x1.md"]),
        (["412", "300"], []),
        (["375", "300", "240"], []),
    ],
)
def test_a_product_far_from_its_kin_is_named(wiki_root: Path, watts: list[str], odd: list[str]) -> None:
    """One near relative is enough; of two products that are far apart either may be wrong."""
    assert sorted({fault.path for fault in odd_products(family_of(wiki_root, watts))}) == odd


@pytest.mark.parametrize(("first", "codes"), [("900", []), ("300", ["WK303"])])
def test_a_new_product_says_why(wiki_root: Path, first: str, codes: list[str]) -> None:
    """The exception is for the odd one only, and none is kept for others."""
    wiki = family_of(wiki_root, [first, "300", "300"], f"exception KIN: {first}, a new board")
    assert [fault.code for fault in odd_products(wiki)] == codes


@pytest.mark.parametrize(
    ("count", "odd"), [("36", []), ("37", ["hardware/nvidia/x0.md"]), ("9", []), ("8", ["hardware/nvidia/x0.md"])]
)
def test_no_part_is_beyond_twice_all_others(wiki_root: Path, count: str, odd: list[str]) -> None:
    """Four products of 18 links and one that has twice, a little more, half, a little less of it."""
    page = wiki_root / "hardware/nvidia/t10.md"
    text = page.read_text()
    for number in range(5):
        links = count if number == 0 else "18"
        row = f'| link_count | {links} | count | link=nvlink4 | vendor | [^sheet] table 1 quote="{links} links" | |'
        named = text.replace("T10", f"X{number}").replace("Test 10", f"Other {number}")
        (page.parent / f"x{number}.md").write_text(named.replace("| memory_type |", f"{row}\n| memory_type |"))
    page.unlink()
    far = [fault for fault in odd_products(Wiki(wiki_root, use_cache=False)) if "beyond" in fault.message]
    assert sorted({fault.path for fault in far}) == odd


@pytest.mark.parametrize(
    ("counts", "odd"),
    [
        (["144", "144", "132"], ["hardware/nvidia/x2.md"]),
        (["144", "144", "144"], []),
        (["144", "132"], ["hardware/nvidia/x0.md", "hardware/nvidia/x1.md"]),
        (["144"], []),
    ],
)
def test_products_of_a_chip_share_its_full_numbers(wiki_root: Path, counts: list[str], odd: list[str]) -> None:
    """A full chip that no other product of the target has; of two that differ, either may be wrong."""
    page = wiki_root / "hardware/nvidia/t10.md"
    text = page.read_text()
    for number, full in enumerate(counts):
        row = f'| sm_count | {full} | count | config=full | vendor | [^sheet] table 2 quote="{full} SMs" | |'
        named = text.replace("T10", f"X{number}").replace("Test 10", f"Other {number}")
        (page.parent / f"x{number}.md").write_text(named.replace("| memory_type |", f"{row}\n| memory_type |"))
    page.unlink()
    far = [fault for fault in odd_products(Wiki(wiki_root, use_cache=False)) if "says so" in fault.message]
    assert sorted({fault.path for fault in far}) == odd


def line_of(root: Path, sizes: list[str], names: list[str]) -> Wiki:
    """The invented target under several names, each with a warp size of its own."""
    text = (root / "targets/sm_00.md").read_text()
    (root / "targets/sm_00.md").unlink()
    for name, size in zip(names, sizes, strict=True):
        row = f'| warp_size | {size} | count | - | vendor | [^guide] table 1 row warp quote="{size}" | |'
        old = '| warp_size | 32 | count | - | vendor | [^guide] table 1 row warp quote="32" | |'
        (root / f"targets/{name}.md").write_text(text.replace("sm_00", name).replace(old, row))
    return Wiki(root, use_cache=False)


@pytest.mark.parametrize(
    ("sizes", "names", "odd"),
    [
        (["64", "32", "32"], ["sm_80", "sm_86", "sm_89"], ["targets/sm_80.md"]),
        (["64", "32", "32"], ["sm_100", "sm_103", "sm_110"], []),
        (["64", "32", "32"], ["sm_101", "sm_102", "sm_103"], ["targets/sm_101.md"]),
        (["64", "32", "32"], ["gfx1100", "gfx1201", "gfx1250"], ["targets/gfx1100.md"]),
        (["64", "32", "32"], ["gfx942", "gfx1201", "gfx1250"], []),
        (["64", "32"], ["sm_80", "sm_86"], []),
        (["64", "32", "16"], ["sm_80", "sm_86", "sm_89"], []),
        (["64", "64", "32", "32"], ["sm_80", "sm_86", "sm_87", "sm_89"], []),
        (["32", "32", "32"], ["sm_80", "sm_86", "sm_89"], []),
    ],
)
def test_the_odd_one_of_a_line_is_named(wiki_root: Path, sizes: list[str], names: list[str], odd: list[str]) -> None:
    """One against two that agree, of one instruction set or major capability; where the others differ nothing is said."""
    said = [fault for fault in odd_targets(line_of(wiki_root, sizes, names)) if fault.code == "WK406"]
    assert [fault.path for fault in said] == odd


DRAM = '| measured_bandwidth | {} | GB/s | level=dram; pattern=unstated; bytes=unstated | secondary | [^sheet] table 1 quote="{} GB/s" | |'
OUTER = '| llc_capacity | {} | MiB | - | vendor | [^sheet] table 1 quote="{} MiB" | |'
TENSOR = (
    "| peak_compute | {} | TFLOPS | dtype=fp16; engine=matrix; sparsity=dense; acc=fp32; clock=max "
    '| vendor | [^sheet] table 1 quote="{} TFLOPS" | |'
)


def kin_of(root: Path, row: str, values: list[str], *, without: str = "no row") -> set[str]:
    """Return the products that are named among copies of the invented one, each with a value of its own in a row."""
    page = root / "hardware/nvidia/t10.md"
    lines = [line for line in page.read_text().split("\n") if not line.startswith((f"| {without} ", f"| {row[2:14]}"))]
    text = "\n".join(lines)
    for number, value in enumerate(values):
        named = text.replace("T10", f"X{number}").replace("Test 10", f"Other {number}")
        added = f"{row.format(value, value)}\n| memory_type |"
        (page.parent / f"x{number}.md").write_text(named.replace("| memory_type |", added, 1))
    for other in (page, page.with_name("t10_pro.md")):
        other.unlink()
    return {fault.path[-5:-3] for fault in odd_products(Wiki(root, use_cache=False)) if row[2:14] in fault.message}


@pytest.mark.parametrize(
    ("values", "odd"),
    [
        (["256", "256"], set()),
        (["256", "512"], {"x0", "x1"}),
        (["256", "256", "512"], {"x0", "x1", "x2"}),
        (["256"], set()),
    ],
)
def test_parts_of_one_chip_have_one_memory_side_cache(wiki_root: Path, values: list[str], odd: set[str]) -> None:
    """With as many processors enabled; of those that differ, any may be wrong."""
    assert kin_of(wiki_root, OUTER, values, without="l2_capacity") == odd


@pytest.mark.parametrize(
    ("values", "odd"),
    [
        (["1350", "1000", "1000"], set()),
        (["1351", "1000", "1000"], {"x0"}),
        (["740", "1000", "1000"], {"x0"}),
        (["5000", "1000"], {"x0", "x1"}),
    ],
)
def test_a_measurement_without_a_printed_bandwidth_is_near_its_kin(
    wiki_root: Path, values: list[str], odd: set[str]
) -> None:
    """At 1.35 of the nearest, past it, below it, and of two both are named."""
    assert kin_of(wiki_root, DRAM, values, without="memory_bandwidth") == odd


@pytest.mark.parametrize(
    ("values", "odd"),
    [(["1792", "1600", "1600"], set()), (["1793", "1600", "1600"], {"x0"}), (["1428", "1600", "1600"], {"x0"})],
)
def test_as_much_of_the_printed_bandwidth_is_measured_as_of_kin(
    wiki_root: Path, values: list[str], odd: set[str]
) -> None:
    """Shares are at most 1.12 apart."""
    assert kin_of(wiki_root, DRAM, values) == odd


@pytest.mark.parametrize(
    ("values", "odd"),
    [
        (["50", "40", "40"], set()),
        (["51", "40", "40"], {"x0"}),
        (["31", "40", "40"], {"x0"}),
        (["90", "40"], {"x0", "x1"}),
        (["55", "40"], set()),
    ],
)
def test_matrix_engines_of_a_target_run_alike(wiki_root: Path, values: list[str], odd: set[str]) -> None:
    """Half-precision operations of an SM are at most 1.25 apart: clocks differ, engines don't."""
    assert kin_of(wiki_root, TENSOR, values) == odd


C2C = '| host_bandwidth | {} | GB/s | link=nvlink_c2c; direction=both | vendor | [^sheet] table 1 quote="{} GB/s" | |'


@pytest.mark.parametrize(
    ("values", "odd"),
    [(["918", "900", "900"], set()), (["919", "900", "900"], {"x0"}), (["600", "900", "900"], {"x0"})],
)
def test_a_link_to_the_host_has_one_rate(wiki_root: Path, values: list[str], odd: set[str]) -> None:
    """Within 2 % of another part's; a narrower one declares it."""
    assert kin_of(wiki_root, C2C, values) == odd


@pytest.mark.parametrize(("other", "odd"), [("48", {"x0"}), ("24", set())])
def test_a_measured_memory_is_compared_with_those_as_large(wiki_root: Path, other: str, odd: set[str]) -> None:
    """Three parts, the first of 1.5 times the bandwidth; if the others have another capacity, nothing is said."""
    page = wiki_root / "hardware/nvidia/t10.md"
    text = page.read_text()
    for name in ("t10.md", "t10_pro.md"):
        (page.parent / name).unlink()
    for number, value in enumerate(["1500", "1000", "1000"]):
        named = text.replace("T10", f"X{number}").replace("Test 10", f"Other {number}")
        lines = [
            line for line in named.split("\n") if not line.startswith(("| memory_bandwidth ", "| memory_bus_width "))
        ]
        capacity = "48" if number == 0 else other
        named = "\n".join(lines).replace("| 48 | GB |", f"| {capacity} | GB |").replace('"48GB"', f'"{capacity}GB"')
        added = f"{DRAM.format(value, value)}\n| memory_type |"
        (page.parent / f"x{number}.md").write_text(named.replace("| memory_type |", added, 1))
    found = [fault for fault in odd_products(Wiki(wiki_root, use_cache=False)) if "is measured" in fault.message]
    assert {fault.path[-5:-3] for fault in found} == odd


@pytest.mark.parametrize(("value", "odd"), [("2.12", set()), ("2.13", {"x0"})])
def test_stacks_of_a_target_are_as_fast(wiki_root: Path, value: str, odd: set[str]) -> None:
    """Within 1.06 of another part with such memory."""
    assert kin_of(wiki_root, BUS, [value, "2.0", "2.0"], without="memory_bus_width") == odd


BUS = '| memory_bandwidth | {} | TB/s | - | vendor | [^sheet] bandwidth row quote="{}TB/s" | |'


@pytest.mark.parametrize(
    ("values", "odd"),
    [
        (["2.5", "2.0", "2.0"], set()),
        (["2.6", "2.0", "2.0"], {"x0"}),
        (["1.5", "2.0", "2.0"], {"x0"}),
        (["2.5", "2.0", "1.6"], set()),
    ],
)
def test_each_sm_of_a_target_has_about_as_much_bandwidth(wiki_root: Path, values: list[str], odd: set[str]) -> None:
    """Bandwidth and rate changed together pass every rule of the page itself, beside kin they don't."""
    page = wiki_root / "hardware/nvidia/t10.md"
    page.write_text(page.read_text().replace("HBM3", "LPDDR5"))
    assert kin_of(wiki_root, BUS, values, without="memory_bus_width") == odd


@pytest.mark.parametrize(
    ("kinds", "odd"),
    [
        (["HBM3", "HBM3e", "HBM2e"], []),
        (["GDDR6", "HBM3", "HBM3e"], ["hardware/nvidia/x0.md"]),
        (["GDDR6", "GDDR6", "HBM3"], []),
    ],
)
def test_a_target_has_one_kind_of_memory(wiki_root: Path, kinds: list[str], odd: list[str]) -> None:
    """Stacks of any generation are alike, a card of chips among them is not; two cards are another matter."""
    page = wiki_root / "hardware/nvidia/t10.md"
    text = page.read_text()
    for number, kind in enumerate(kinds):
        row = f'| memory_type | {kind} | - | - | vendor | [^sheet] table 1 quote="{kind}" | |'
        lines = [row if line.startswith("| memory_type |") else line for line in text.split("\n")]
        lines = [line for line in lines if line == row or not line.startswith("| memory_")]
        (page.parent / f"x{number}.md").write_text(
            "\n".join(lines).replace("T10", f"X{number}").replace("Test 10", f"Other {number}")
        )
    page.unlink()
    found = [fault for fault in odd_products(Wiki(wiki_root, use_cache=False)) if "such memory" in fault.message]
    assert sorted({fault.path for fault in found}) == odd
