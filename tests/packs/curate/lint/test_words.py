"""What words around a number say."""

from __future__ import annotations

import pytest

from kopt_kb.packs.curate.lint.words import (
    is_measured,
    is_of_results,
    is_of_system,
    is_specified,
    meanings,
    said_sparsity,
    spaced,
)


@pytest.mark.parametrize(
    ("dimension", "words", "first"),
    [
        ("op/s", "peak bf16 tensor", {"dtype": "bf16", "engine": "matrix"}),
        ("op/s", "fp32 cuda core", {"dtype": "fp32", "engine": "vector"}),
        ("op/s", "fp64", {"dtype": "fp64"}),
        ("op/s", "e4m3", {"dtype": "fp8", "engine": "matrix"}),
    ],
)
def test_rates_have_a_format_and_an_engine(dimension: str, words: str, first: dict[str, str]) -> None:
    """FP32 and FP64 run on both engines."""
    (one, *_) = meanings(dimension, words)
    assert dict(one.axes) == first


@pytest.mark.parametrize(
    ("dimension", "words", "metric"),
    [
        ("B/s", "nvlink bandwidth", "link_bandwidth"),
        ("B/s", "hbm pcie", "memory_bandwidth"),
        ("B/s", "bandwidth", "memory_bandwidth"),
        ("B", "l2 cache", "l2_capacity"),
        ("B", "mall infinity cache", "llc_capacity"),
        ("B", "lds per cu", "shared_memory_per_sm"),
        ("Hz", "boost", "sm_clock"),
        ("W", "tdp", "board_power"),
        ("B", "vram", "memory_capacity"),
    ],
)
def test_the_metric(dimension: str, words: str, metric: str) -> None:
    """The first that the words name."""
    assert meanings(dimension, words)[0].metric == metric


@pytest.mark.parametrize(
    ("dimension", "words"),
    [
        ("op/s", "fp16 per cu"),
        ("op/s", "fast"),
        ("B/s", "lds"),
        ("B", "register file"),
        ("Hz", "memory"),
        ("B", "page"),
    ],
)
def test_words_that_say_nothing_of_a_product(dimension: str, words: str) -> None:
    """Or of one part of it."""
    assert meanings(dimension, words) == []


def test_what_a_text_speaks_of() -> None:
    """A measurement, a specification, a system, results; identifiers are taken apart."""
    assert is_measured("we achieved 600 tflops") and not is_measured("peak tflops")
    assert is_specified("theoretical") and not is_specified("some tflops")
    assert is_of_system("dgx node") and not is_of_system("dgx, per gpu")
    assert is_of_results("benchmark results") and not is_of_results("hardware")
    assert spaced("peakTflops_bf16") == "peak tflops bf16"


@pytest.mark.parametrize(
    ("words", "said"),
    [("dense", "dense"), ("with sparsity", "2:4"), ("without sparsity", "dense"), ("dense and sparse", "")],
)
def test_sparsity(words: str, said: str) -> None:
    """Both is nothing."""
    assert said_sparsity(words) == said
