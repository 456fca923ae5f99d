"""Arguments of work: named or bare, complete or refused."""

from __future__ import annotations

import argparse

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.cli.kit.parser import Parser
from kopt_kb.cli.kit.work_arguments import add_work, work_from


def parsed(*words: str) -> argparse.Namespace:
    """Arguments as a command sees them."""
    parser = Parser(prog="kb x")
    add_work(parser)
    return parser.parse_args(list(words))


def test_bare_counts_read_exponents_exactly() -> None:
    """1.1e12 is 1100000000000, not a float."""
    (one,) = work_from(parsed("--flops", "1.1e12", "--bytes", "4e8", "--dtype", "bf16", "--engine", "matrix"))
    assert one.flops[0].useful.value == 1_100_000_000_000


@pytest.mark.parametrize("number", ["", "x", "1.5", "-1", "inf", "nan", "1e99", "0x10"])
def test_other_numbers_are_refused(number: str) -> None:
    """Whole, non-negative, of sensible size."""
    with pytest.raises(BadInput):
        work_from(parsed("--flops", number, "--bytes", "4e8", "--dtype", "bf16", "--engine", "matrix"))


def test_all_that_is_missing_is_named() -> None:
    """In one message."""
    with pytest.raises(BadInput, match="--bytes, --engine, --dtype"):
        work_from(parsed("--flops", "1"))
    with pytest.raises(BadInput, match="--op, --shape, --dtype"):
        work_from(parsed())


def test_both_ways_at_once_are_refused() -> None:
    """Which one would be meant?"""
    with pytest.raises(BadInput, match="and bare counts"):
        work_from(parsed("--op", "gemm", "--flops", "1"))


def test_options_reach_the_operation() -> None:
    """Causal attention is less work."""
    base = ["--op", "attention", "--shape", "1x2x128x64", "--dtype", "bf16"]
    (full,), (causal,) = work_from(parsed(*base)), work_from(parsed(*base, "--option", "causal=true"))
    assert sum(f.useful.value for f in causal.flops) < sum(f.useful.value for f in full.flops)
