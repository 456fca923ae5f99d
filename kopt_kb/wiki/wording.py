"""What a row's own words say about its conditions: engine, level, kind of power, scope, grade; and what can't be."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from kopt_kb.wiki.faults import Fault
from kopt_kb.wiki.footnotes import Footnote
from kopt_kb.wiki.names import FrontMatter
from kopt_kb.wiki.row import Row

__all__ = ["wording_faults"]

_MATRIX_FORMATS = {"tf32", "fp8", "fp6", "fp4", "nvfp4", "mxfp8", "mxfp6", "mxfp4", "int8", "int4"}
"""Formats that vendors print rates of for matrix units only."""
_HALVES = {"fp16", "bf16"}
_ALWAYS = {
    "memory_bandwidth",
    "memory_capacity",
    "memory_bus_width",
    "memory_type",
    "sm_count",
    "sm_clock",
    "board_power",
}
"""What every GPU has: never NONE."""
_MODES = {"cluster_size": {"portable", "optin"}, "shared_memory_per_block": {"static", "optin"}}

_BETWEEN = r"\d\s*w?\s*(?:to|or|–|-)\s*\d"
_CAPS = {
    "cap_min": re.compile(rf"\bmin|\blow|{_BETWEEN}"),
    "cap_max": re.compile(rf"max|upper|peak|up to|{_BETWEEN}"),
    "cap_default": re.compile(r"default|cap|limit"),
}
_SCOPES = {
    "node": re.compile(r"node|hgx|dgx|eight|(?<![\w.])8(?=[\s-]*(?:x\b|×|gpu|way|oam|accel))|gpus|aggregate|platform"),
    "rack": re.compile(r"rack|72"),
    "superchip": re.compile(r"superchip|memory \+ cpu|grace|nvl72"),
    "board": re.compile(r"board|card"),
    "die": re.compile(r"\bdie|each"),
    "xcd": re.compile(r"xcd|die|\bace"),
    "gcd": re.compile(r"gcd|die"),
    "package": re.compile(r"package|module|oam|apu|socket"),
}
"""How documents call what is more or less than one GPU."""
_DEVICE = re.compile(
    r"quer|smi\b|dump|report|rocm|propert|clinfo|probe|\bxla|device|driver|lspci|kfd|nvml|sysfs|bench|printout|"
    r"\btarget|hardware"
)
"""How a document is called that prints what a device says of itself."""
_UNPRINTED = {
    "peak_compute", "ops_per_clock_per_sm", "sfu_ops_per_clock_per_sm", "acceptance_compute", "matrix_units",
    "link_bandwidth", "host_bandwidth", "l1_bandwidth", "l2_bandwidth", "llc_bandwidth", "shared_memory_bandwidth",
    "shared_memory_granule", "register_granule", "memory_data_rate", "memory_stacks",
}  # fmt: skip
_NO_MATRIX = re.compile(r"non-tensor|no tensor|without (?:tensor|matrix)|vector|simt|cuda core|hfma")
_FAST = re.compile(r"max|boost|peak|turbo|up to")
_MEMORY = re.compile(r"hbm|dram|memory_bandwidth|memory bandwidth|global")


def wording_faults(front: FrontMatter, rows: list[Row], footnotes: Mapping[str, Footnote]) -> Iterator[Fault]:
    """Yield a fault for each row whose conditions, value or grade its own words contradict.

    Args:
        front: Front matter of the page.
        rows: Its rows.
        footnotes: Its documents by id.
    """
    vendor = str(front.get("vendor", ""))
    for row in rows:
        cell = " ".join(f"{source.locator} {source.quote}" for source in row.sources).casefold()
        titles = " ".join(footnotes[source.id].title for source in row.sources if source.id in footnotes)
        notes = " ".join(text for tag, text in row.notes if tag != "exception")
        said = f"{cell} {titles} {notes}".casefold()
        for why in (
            *_impossible(row, vendor), *_products(row, said), *_denied(row), *_graded(row, said), *_unlabelled(row),
            *_contradicted(row, cell, said),
        ):  # fmt: skip
            fix = "read the cell again and write the conditions that it is for"
            yield Fault("WK217", row.path, row.line, f"{row.key} = {row.value}: {why}", fix, row.key)


def _impossible(row: Row, vendor: str) -> Iterator[str]:
    """Conditions that no part has, whatever the value."""
    axes = dict(row.axes)
    vector = axes.get("engine") == "vector"
    if vector and axes.get("dtype") in _MATRIX_FORMATS:
        yield f"{axes['dtype']} is a format of matrix units"
    if vector and axes.get("sparsity") == "2:4":
        yield "structured sparsity is a mode of matrix units"
    if vendor == "NVIDIA" and row.kind == "value" and (axes.get("engine"), axes.get("dtype")) == ("matrix", "fp32"):
        yield "tensor cores have no FP32 input"
    if row.metric in _MODES and axes.get("mode") not in _MODES[row.metric]:
        yield f"its modes are {' and '.join(sorted(_MODES[row.metric]))}"
    if vendor == "AMD" and axes.get("mode") == "optin":
        yield "AMD's runtime has nothing to opt in to"
    if row.metric == "cache_line" and axes.get("level") == "dram":
        yield "a memory has no cache lines"


def _products(row: Row, said: str) -> Iterator[str]:
    """A product of matrices of half precision runs on matrix units unless its document says that it does not."""
    axes = dict(row.axes)
    halves = axes.get("engine") == "vector" and axes.get("dtype") in _HALVES and "x" in axes.get("shape", "")
    if row.metric == "measured_compute" and halves and not _NO_MATRIX.search(said):
        yield f"a product of {axes['dtype']} matrices is measured on matrix units"


def _denied(row: Row) -> Iterator[str]:
    """Values that every part has are never NONE."""
    axes = dict(row.axes)
    plain = axes.get("engine") == "vector" and axes.get("dtype") in {"fp64", "fp32", "int32"}
    if row.kind == "none" and (row.metric in _ALWAYS or (row.metric == "peak_compute" and plain)):
        yield "every GPU has one; write UNKNOWN where nobody prints it"


def _unprinted(row: Row) -> bool:
    """Whether no device says such a thing: rates, units, granules, the power of a sheet, what was soldered on."""
    axes = dict(row.axes)
    return (
        row.metric.startswith("measured_")
        or row.metric in _UNPRINTED
        or axes.get("kind") == "tdp"
        or (row.metric == "memory_capacity" and axes.get("config") != "visible")
    )


def _graded(row: Row, said: str) -> Iterator[str]:
    """What a device says of itself stands in a document that is called so."""
    if row.kind == "value" and row.grade == "device" and _unprinted(row):
        yield "a device does not print this of itself; grade it by who does"
    elif row.kind == "value" and row.grade == "device" and not _DEVICE.search(said):
        yield "its document is not called what a device prints; say so in `method:`, or grade it secondary"


_BOTH_ENGINES = re.compile(r"non-tensor|no tensor|vector|(?:tensor|matrix)[^|,;:(]*/|/[^|,;]*(?:tensor|matrix)")


def _unlabelled(row: Row) -> Iterator[str]:
    """Whether memory has error correction is a bare yes or no unless its cell says what it answers."""
    for source in row.sources if row.kind == "token" and row.metric == "memory_ecc" else ():
        if not re.search(r"\becc|ecc\b|error.correct", f"{source.locator} {source.quote}".casefold()):
            yield "no word of its cell speaks of error correction"


def _contradicted(row: Row, cell: str, said: str) -> Iterator[str]:
    """The cell names another engine, level, kind of power or scope than the conditions do."""
    if row.kind != "value" or row.grade == "derived":
        return
    axes = dict(row.axes)
    matrix = bool(re.search(r"tensor|matrix|mfma|wmma", cell)) and not _BOTH_ENGINES.search(cell)
    vector = bool(re.search(r"non-tensor|no tensor|vector|simt|shader", cell))
    if axes.get("engine") == "vector" and matrix:
        yield "its cell is of matrix units"
    if axes.get("engine") == "matrix" and vector and not re.search(r"matrix|(?<!non-)(?<!no )tensor", cell):
        yield "its cell is of vector units"
    level = axes.get("level", "dram")
    if row.metric == "measured_bandwidth" and level != "dram" and _MEMORY.search(cell) and level not in cell:
        yield "its cell is of the memory"
    fastest = re.search(r"\bmax|boost|peak", cell) and not re.search(r"base|min", cell)
    if row.metric == "sm_clock" and axes.get("class") == "base" and fastest:
        yield "its cell is of the highest clock"
    elif row.metric == "sm_clock" and axes.get("class") == "base" and not re.search(r"base|nominal|core clock", said):
        yield "no word of its cell makes it the base clock"
    if row.metric == "sm_clock" and axes.get("class") in {"boost", "max"} and "base" in cell and not _FAST.search(said):
        yield "its cell is of the base clock"
    cap = _CAPS.get(axes.get("kind", ""))
    if row.metric == "board_power" and cap is not None and not cap.search(said):
        yield f"no word of its cell makes it {axes['kind']}"
    scope = _SCOPES.get(axes.get("scope", ""))
    if scope is not None and not scope.search(said):
        yield f"no word of its cell or note makes it that of a {axes['scope']}"
