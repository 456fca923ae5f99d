"""The vendor's own measurement is a basis where nothing is documented, and named so."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.analysis.roofline.ceilings import memory_ceiling
from kopt_kb.analysis.roofline.reach import reach
from kopt_kb.analysis.roofline.recorded import read_rooflines
from kopt_kb.analysis.roofline.roofline import roofline
from kopt_kb.analysis.roofline.undocumented import at_least, vendors_best
from kopt_kb.problem.work import Work, work
from kopt_kb.quantity.quantity import Quantity, Unknown
from kopt_kb.wiki.registry import Registry

BANDWIDTH = '| memory_bandwidth | 2.0 | TB/s | - | vendor | [^sheet] bandwidth row quote="2.0TB/s" | chosen: the sheet of the shipped part |'
REJECTED = '| memory_bandwidth | 2.2 | TB/s | - | secondary | [^blog] table quote="2.2 TB/s" | rejected: a blog before launch |\n'
NOBODY = """| memory_bandwidth | UNKNOWN | TB/s | - | - | - | reason: nobody prints it |
| memory_stacks | 6 | count | - | secondary | [^blog] table quote="6 stacks" | |"""
OWN = '| measured_bandwidth | 1.5 | TB/s | level=dram; pattern=copy; bytes=unstated | measured | [^sheet] copy quote="1.5 TB/s" | method: a copy |'
STREAM = Work.given(10**9, 3 * 10**9, "fp32", "vector")
"""2 ms of bytes at 1.5 TB/s."""


def undocumented(product: Path, *rows: str) -> None:
    """Leave the product without a documented bandwidth, with these rows instead."""
    text = product.read_text().replace(REJECTED, "").replace(BANDWIDTH, "\n".join([NOBODY, *rows]))
    product.write_text(text)


def test_the_vendors_measurement_is_the_roof(wiki_root: Path, product: Path) -> None:
    """Nine tenths of it, in words of its own, and no floor: it may be beaten."""
    undocumented(product, OWN)
    part = Registry.open(wiki_root).platform("T10")
    found = roofline(STREAM, part)
    assert (found.bound, found.target.basis, str(found.target.value)) == ("memory", "vendor_measured", "1.35 TB/s")
    assert isinstance(found.memory.documented, Unknown) and found.memory.is_vendors
    assert found.attainable.keys() == {"documented", "vendor_measured"}
    times = reach(found, part, (2.1e-3, 1e-3))
    assert [(one.basis, one.seconds) for one in times.least] == [("vendor_measured", 2e-3)]
    assert times.floor is None and [one.basis for one in times.measured] == ["vendor_measured"] * 2
    (read,) = read_rooflines([found.to_json()])
    assert (read.target.basis, read.ceilings[-1].basis) == ("vendor_measured", "vendor_measured")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("[^sheet] copy", "[^blog] copy"), ("method: a copy", ""), ("pattern=copy", "pattern=unstated"),
    ],
)  # fmt: skip
def test_what_is_no_basis(wiki_root: Path, product: Path, old: str, new: str) -> None:
    """A third party's, and one without method or pattern."""
    undocumented(product, OWN.replace(old, new))
    part = Registry.open(wiki_root).platform("T10")
    assert vendors_best(part, "measured_bandwidth", level="dram") is None
    assert isinstance(memory_ceiling(part, "copy", 1 << 30).roof, Unknown)


def test_a_documented_roof_comes_first(wiki_root: Path, product: Path) -> None:
    """The vendor's measurement stands beside it, and is no basis."""
    product.write_text(product.read_text().replace(BANDWIDTH, f"{BANDWIDTH}\n{OWN}"))
    found = roofline(STREAM, Registry.open(wiki_root).platform("T10"))
    assert (found.target.basis, str(found.target.value)) == ("documented", "1.8 TB/s")


def test_an_engine_of_unknown_roof_does_not_bind_where_memory_clearly_does() -> None:
    """80 units of 64 lanes at 1420 MHz do the operations of a norm in a seventh of the time of its bytes."""
    part = Registry.open().platform("MI308X")
    rate = at_least(part, "fp32", "vector")
    assert isinstance(rate, Quantity) and rate.to_float("TFLOPS") == pytest.approx(80 * 64 * 2 * 1.42e9 / 1e12)
    found = roofline(work("rms_norm", "8192x4096", "bf16"), part)
    assert (found.bound, found.limiter, found.unknown()) == ("memory", "dram", None)
    assert any(note.startswith("fp32 vector: its roof is UNKNOWN and was not judged") for note in found.notes)


def test_an_engine_that_might_bind_leaves_the_bound_unknown() -> None:
    """A product, and vector work of many operations a byte."""
    part = Registry.open().platform("MI308X")
    for one in (work("gemm", (4096, 4096, 4096), "bf16"), Work.given(4 * 10**12, 10**9, "fp32", "vector")):
        assert roofline(one, part).bound == "unknown"
    rate = at_least(part, "bf16", "matrix")
    assert rate is not None and "acceptance_compute" in rate.citations()[0].key
