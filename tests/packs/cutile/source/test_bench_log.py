"""Times are read from the lines that TileGym's benchmarks print."""

from __future__ import annotations

import time

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.packs.cutile.source.bench_log import bench_rows, read_bench_log

LINE = (
    "Cutile: {'forward': {'mean': 3.7903138461538455, 'std': 0.0016941310873207053, 'rel_std': 0.044696327430505396, "
    "'median': 3.789880999999999, 'min': 3.7883389999999992, 'max': 3.7941230000000004, 'nrep': 13, "
    "'peak_mem_mb': 913}} ms"
)


def test_the_line_of_the_seed() -> None:
    """Under the test that printed it, with others' lines between."""
    (one,) = read_bench_log(f"tests/test_gemm.py::test_perf[bf16] \nwarming up: yes\n{LINE}\nPASSED\n")
    assert (one.test, one.backend, one.part, one.line) == (
        "tests/test_gemm.py::test_perf[bf16]",
        "Cutile",
        "forward",
        3,
    )
    assert (one.mean_ms, one.min_ms, one.repeats, one.peak_mb) == (3.7903138461538455, 3.7883389999999992, 13, 913.0)


def test_other_units_and_parts() -> None:
    """Microseconds, a backward pass, another backend."""
    text = "Torch: {'forward': {'mean': 500}, 'backward': {'mean': 1500.0}} us"
    assert [(one.backend, one.part, one.mean_ms) for one in read_bench_log(text)] == [
        ("Torch", "forward", 0.5),
        ("Torch", "backward", 1.5),
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no line of times"),
        ("Cutile: {'forward': {'mean': 1.0}", "no line of times"),
        ("Cutile: {'forward': {'mean': __import__('os')}} ms", "no Python dictionary"),
        ("Cutile: {'forward': {'mean': -1.0}} ms", "mean is -1.0"),
        ("Cutile: {'forward': {'mean': 1e999}} ms", "mean is inf"),
        ("Cutile: {'forward': {'mean': 'fast'}} ms", "mean is 'fast'"),
    ],
)
def test_what_is_no_time(text: str, words: str) -> None:
    """The error names the line; nothing of the log is run."""
    with pytest.raises(BadInput, match=words):
        read_bench_log(text, "log")


@pytest.mark.parametrize("line", ["[" * 100_000, "a." * 50_000], ids=["brackets", "names"])
def test_a_long_line_is_read_once(line: str) -> None:
    """Work that grew with its square would take seconds."""
    began = time.process_time()
    with pytest.raises(BadInput, match="no line of times"):
        read_bench_log(line)
    assert time.process_time() - began < 1.0


LOG = f"""tests/bench.py::test_perf[rms-8192x4096-bf16]
{LINE}
Torch: {{'forward': {{'mean': 9.0}}}} ms
tests/bench.py::test_perf[rms-512x64-bf16]
Cutile: {{'forward': {{'mean': 1.5}}, 'backward': {{'mean': 2.5}}}} ms
FAILED tests/bench.py::test_perf[rms-512x64-bf16] - AssertionError
"""


def test_rows_for_a_project() -> None:
    """Shapes stand in the names of tests, or are said; a test that failed is no pass; others' times are left out."""
    first, second = bench_rows(read_bench_log(LOG), LOG, {})
    assert (first.shape, first.check, first.forward_ms, first.backward_ms) == (
        "8192x4096", "PASS", 3.7903138461538455, None,
    )  # fmt: skip
    assert (second.shape, second.check, second.backward_ms) == ("512x64", "FAIL", 2.5)
    assert bench_rows(read_bench_log(LINE), LINE, {"": "64x64"})[0].shape == "64x64"
    with pytest.raises(BadInput, match="of which shape"):
        bench_rows(read_bench_log(LINE), LINE, {})
    with pytest.raises(BadInput, match="no times of Helion"):
        bench_rows(read_bench_log(LOG), LOG, {}, "Helion")
