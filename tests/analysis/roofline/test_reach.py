"""A roofline in seconds: by hand on the invented part of 25.6 TFLOPS, 2.0 TB/s and 50 MiB of L2."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.analysis.roofline.reach import Reach, RooflineInTime, reach
from kopt_kb.analysis.roofline.roofline import roofline
from kopt_kb.problem.work import Work
from kopt_kb.wiki.registry import Registry

LAUNCH = """
| measured_launch | 3 | us | by=events | secondary | [^blog] launches quote="3 us" | method: median |
| measured_bandwidth | 1.5 | TB/s | level=dram; pattern=copy; bytes=1073741824 | secondary | [^blog] copy quote="1.5 TB/s" | method: a stream |
"""


def _reach(root: Path, work: Work, *seconds: float, platform: str = "T10") -> Reach:
    at = Registry.open(root).platform(platform)
    return reach(roofline(work, at), at, seconds)


@pytest.mark.core
def test_least_time_and_time_at_the_target(wiki_root: Path) -> None:
    """2e9 bytes at 2 TB/s take 1 ms, at 0.9 of it 1/0.9 ms; a roof of 0.9 in 1.25 ms is 0.8 of it."""
    found = _reach(wiki_root, Work.given(10**9, 2 * 10**9, "fp32", "vector"), 1.25e-3, 1.0e-3)
    (least,) = found.least
    assert (least.basis, least.roof, least.seconds) == ("documented", "dram 2.0 TB/s", 1e-3)
    assert least.citations[0].startswith("memory_bandwidth: 2.0 TB/s <- <gpu-wiki>/hardware/nvidia/t10.md:L")
    assert found.target_s == pytest.approx(1e-3 / 0.9)
    slow, best = found.measured
    assert (slow.share, slow.gap_s, slow.rate, slow.unit) == (
        pytest.approx(0.8), pytest.approx(0.25e-3), pytest.approx(1.6e12), "B/s",
    )  # fmt: skip
    assert slow.to_target == pytest.approx(1.125)
    assert (best.share, best.to_target) == (pytest.approx(1), pytest.approx(0.9))
    assert (found.cache, found.warnings, found.launch_s) == (None, (), None)


@pytest.mark.core
def test_compute_bound_work_is_judged_by_its_engine(wiki_root: Path) -> None:
    """25.6e12 operations on little data take 1 s."""
    found = _reach(wiki_root, Work.given(25_600 * 10**9, 10**9, "fp32", "vector"), 2.0)
    assert found.least[0].roof.startswith("fp32 vector") and found.least[0].seconds == 1
    assert (found.measured[0].share, found.measured[0].unit) == (0.5, "FLOP/s")


def test_an_unknown_roof_leaves_rate_alone(wiki_root: Path) -> None:
    """bf16 is UNKNOWN there."""
    found = _reach(wiki_root, Work.given(10**9, 10**9, "bf16", "matrix"), 1e-3)
    assert (found.least, found.target_s) == ((), None)
    assert (found.measured[0].share, found.measured[0].rate) == (None, 1e12)


def test_small_work_is_warned_of(wiki_root: Path, product: Path) -> None:
    """64 KiB fit the L2 and take less than a launch; the launch of a sister says nothing of this product."""
    small = Work.given(1, 2**16, "fp32", "vector")
    bare = _reach(wiki_root, small)
    assert bare.launch_s is None and "L2 of 50 MiB" in bare.warnings[1]
    assert bare.warnings[0].startswith("shorter than the 500 ns that events resolve; nobody measured a launch on T10")
    text = product.read_text().replace("| memory_type |", f"{LAUNCH.strip()}\n| memory_type |")
    product.write_text(text)
    own = _reach(wiki_root, small)
    assert own.launch_s == 3e-6 and "launch of an empty kernel, 3 us on T10 (" in own.warnings[0]
    (judged,) = _reach(wiki_root, small, 4e-6).measured
    assert (judged.to_target, judged.met) == (None, None) and judged.share == pytest.approx(2**16 / 2e12 / 4e-6)
    sister = _reach(wiki_root, small, platform="T10_PRO")
    assert sister.launch_s is None and not any("launch of an empty kernel" in one for one in sister.warnings)


@pytest.mark.parametrize(
    ("printed", "unit", "shown"), [("1500000", "MB/s", "1.5 TB/s"), ("1512.5", "GB/s", "1.5125 TB/s")]
)
def test_terabytes_are_said_in_one_unit(wiki_root: Path, product: Path, printed: str, unit: str, shown: str) -> None:
    """Whatever a source prints."""
    row = LAUNCH.strip().replace("| 1.5 | TB/s |", f"| {printed} | {unit} |").replace("1.5 TB/s", f"{printed} {unit}")
    product.write_text(product.read_text().replace("| memory_type |", f"{row}\n| memory_type |"))
    best = _reach(wiki_root, Work.given(10**9, 2 * 10**9, "fp32", "vector")).of("reachable")
    assert best is not None and best.roof == f"dram {shown}"


def test_a_launch_in_a_graph_bounds_one_by_events(wiki_root: Path, product: Path) -> None:
    """Where nobody timed a launch by events, the shortest kind stands."""
    text = LAUNCH.strip().replace("by=events", "by=graph")
    product.write_text(product.read_text().replace("| memory_type |", f"{text}\n| memory_type |"))
    assert _reach(wiki_root, Work.given(1, 2**16, "fp32", "vector")).launch_s == 3e-6


def test_what_anybody_reached_is_a_basis_of_its_own(wiki_root: Path, product: Path) -> None:
    """1.5 TB/s were seen: 4/3 ms, and the target of 1.8 TB/s is above it."""
    product.write_text(product.read_text().replace("| memory_type |", f"{LAUNCH.strip()}\n| memory_type |"))
    found = _reach(wiki_root, Work.given(10**9, 2 * 10**9, "fp32", "vector"))
    best = found.of("reachable")
    assert best is not None and best.seconds == pytest.approx(4e-3 / 3)
    assert "the target asks for more than the best that anybody measured, dram 1.5 TB/s" in found.warnings[-1]


def test_a_time_below_the_best_known_says_so(wiki_root: Path, product: Path) -> None:
    """4/3 ms is the best that 1.5 TB/s allow: 1.2 ms is faster, 1.4 ms is not."""
    product.write_text(product.read_text().replace("| memory_type |", f"{LAUNCH.strip()}\n| memory_type |"))
    work = Work.given(10**9, 2 * 10**9, "fp32", "vector")
    fast, slow = _reach(wiki_root, work, 1.2e-3), _reach(wiki_root, work, 1.4e-3)
    said = [one for one in fast.warnings if one not in slow.warnings]
    assert [one.startswith("1.2 ms is faster than the best that anybody measured") for one in said] == [True]
    assert len(fast.warnings) == len(slow.warnings) + 1


@pytest.mark.parametrize(
    ("was", "becomes"),
    [
        ("pattern=copy", "pattern=unstated"),
        ("bytes=1073741824", "bytes=unstated"),
        (" | method: a stream |", " |  |"),
        ("1.5 ", "0.9 "),
    ],
)
def test_a_rate_that_does_not_say_how_is_no_best(wiki_root: Path, product: Path, was: str, becomes: str) -> None:
    """Pattern, footprint and method are stated, and no rule is excepted, or nobody can compare it."""
    row = LAUNCH.strip().replace(was, becomes)
    if "0.9 TB/s" in row:
        row = row.replace("a stream", "a stream; exception PHY-TINY: 0.9, a limit of a diagnostic")
    product.write_text(product.read_text().replace("| memory_type |", f"{row}\n| memory_type |"))
    found = _reach(wiki_root, Work.given(10**9, 2 * 10**9, "fp32", "vector"))
    assert found.of("reachable") is None and not any("anybody measured" in one for one in found.warnings)


def test_the_document_is_the_roofline_and_its_times(wiki_root: Path) -> None:
    """Members stay where they were; `times` is beside them."""
    at = Registry.open(wiki_root).platform("T10")
    found = roofline(Work.given(10**9, 10**9, "fp32", "vector"), at)
    document = RooflineInTime(found, reach(found, at)).to_json()
    times = document.pop("times")
    assert document == found.to_json()
    assert isinstance(times, dict) and times["target_s"] == pytest.approx(1e9 / 1.8e12)
