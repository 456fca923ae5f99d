"""Launches from words."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.cli.kit.case_arguments import add_case, cases_from, constants, grid_from, refuse_contradictions
from kopt_kb.cli.kit.parser import Parser
from kopt_kb.kernels.launch_case import TensorSpec
from kopt_kb.launch.compile.request import KernelCase, OpCase


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


def test_a_file_that_contradicts_itself_is_not_compiled(tmp_path: Path) -> None:
    """Which of the two would be meant? An operation outside the list, and a file that is not there, say nothing."""
    file = tmp_path / "kernel.py"
    text = 'OP = "attention"\nOP_OPTIONS = {"causal": True}\n\n\ndef launch(q, k, v, *, causal=False):\n    pass\n'
    file.write_text(text)
    with pytest.raises(
        BadInput, match="the file contradicts itself: launch.. computes causal=False, not True"
    ) as error:
        refuse_contradictions(str(file))
    assert error.value.where == f"{file}:5"
    file.write_text(text.replace("attention", "my_attention"))
    refuse_contradictions(str(file))
    refuse_contradictions(str(tmp_path / "none.py"))


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


def test_arguments_by_name_and_from_a_file(tmp_path: Path) -> None:
    """A file's lines come first; names belong to every argument or to none."""
    path = tmp_path / "args.txt"
    path.write_text("x=fp16[4,8]  # input\n\nlengths=int32[2]=3,4\n")
    (case,) = cases_from(parsed("--args", str(path), "--arg", "scale=inf", "--autotune", "2"))
    assert case.options == {"autotune_config": 2}
    assert case.args == {
        "x": TensorSpec((4, 8), "fp16"),
        "lengths": TensorSpec((2,), "int32", values=(3, 4)),
        "scale": "inf",
    }
    with pytest.raises(BadInput, match="some are not"):
        cases_from(parsed("--arg", "x=fp16[4]", "--arg", "3"))


def test_constants_are_types_infinities_and_text() -> None:
    """What a kernel takes at compile time, as a user writes it."""
    words = ["A=tl.bfloat16", "B=inf", "C=", "D='bf16'", "E=tf32x3", "F=64", "G=torch.float16", "H=None", "I=a=b"]
    assert constants(words) == {
        "A": {"triton.dtype": "bf16"}, "B": {"float": "inf"}, "C": "", "D": "bf16", "E": "tf32x3", "F": 64,
        "G": {"triton.dtype": "fp16"}, "H": None, "I": "a=b",
    }  # fmt: skip
    with pytest.raises(BadInput, match="unknown dtype 'tl.nothing'"):
        constants(["A=tl.nothing"])
    with pytest.raises(BadInput, match="not NAME=VALUE"):
        constants(["A"])
