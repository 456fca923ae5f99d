"""Launches from words."""

from __future__ import annotations

import argparse

import pytest

from kopt_kb.cli.case_arguments import add_case, cases_from, grid_from
from kopt_kb.cli.main import Parser
from kopt_kb.errors import BadInput
from kopt_kb.kernels.compile.request import KernelCase, OpCase
from kopt_kb.kernels.launch_case import TensorSpec


def parsed(*words: str) -> argparse.Namespace:
    """Arguments as a command sees them."""
    parser = Parser(prog="kb x")
    add_case(parser)
    return parser.parse_args(["k.py", *words])


def test_an_op_file_with_shapes() -> None:
    """One case a shape; config values keep their types."""
    cases = cases_from(
        parsed("--shape", "2x3", "--shape", "4x5", "--dtype", "bf16", "--config", "BLOCK=128", "--config", "VARIANT=a")
    )
    assert cases == [OpCase("k.py", shape, "bf16", {"BLOCK": 128, "VARIANT": "a"}) for shape in ((2, 3), (4, 5))]


def test_a_kernel_with_arguments() -> None:
    """Tensors, numbers, nothing; constexprs and options by name."""
    (case,) = cases_from(
        parsed(
            "--kernel",
            "f",
            "--arg",
            "fp16[4,8]",
            "--arg",
            "7",
            "--arg",
            "none",
            "--constexpr",
            "B=16",
            "--option",
            "num_warps=8",
        )
    )
    assert case == KernelCase("k.py", "f", (TensorSpec((4, 8), "fp16"), 7, None), {"B": 16}, {"num_warps": 8})


@pytest.mark.parametrize(("text", "grid"), [("", None), ("4", (4,)), ("4,2,1", (4, 2, 1))])
def test_grids(text: str, grid: tuple[int, ...] | None) -> None:
    """One to three positive numbers."""
    assert grid_from(parsed(*(["--grid", text] if text else []))) == grid


@pytest.mark.parametrize("text", ["0", "1,2,3,4", "x", "1,-1"])
def test_bad_grids(text: str) -> None:
    """Named as given."""
    with pytest.raises(BadInput, match="grid"):
        grid_from(parsed("--grid", text))
