"""Claims about the problem that a launcher and one call of it make."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("triton")

from kopt_kb.base.errors import KoptError
from kopt_kb.launch.judge.makers import Makers
from kopt_kb.launch.judge.shelf import RecordTarget
from kopt_kb.launch.problems.called import CallGiven
from kopt_kb.launch.problems.described import StatedProblem
from kopt_kb.launch.problems.own_call import problem_of_call
from kopt_kb.launch.record.request import TensorArgument

pytestmark = [pytest.mark.torch, pytest.mark.triton]

SOURCE = b"""import torch
import triton
import triton.language as tl


@triton.jit
def copied(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n), mask=at < n)


@triton.jit
def added(x, y, rows, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    row = tl.load(rows)
    tl.store(y + at, tl.load(x + at + row * 0, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)


def into(x, y):
    copied[(8,)](x, y, x.numel(), BLOCK=64)


def onto(x, y, rows, scale=1.0):
    added[(8,)](x, y, rows, x.numel(), BLOCK=64)


def twice(x):
    y, z = torch.empty_like(x), torch.empty_like(x, dtype=torch.float32)
    copied[(8,)](x, y, x.numel(), BLOCK=64)
    copied[(8,)](y, z, x.numel(), BLOCK=64)
    return z


def softmax(x):
    y = torch.empty_like(x)
    copied[(8,)](x, y, x.numel(), BLOCK=64)
    return y + 1


@triton.jit
def read(x, n, BLOCK: tl.constexpr):
    tl.load(x + tl.arange(0, BLOCK))


def nothing(x):
    read[(1,)](x, x.numel(), BLOCK=64)


def wrong(x):
    copied[(8,)](x, x.shape, 1, BLOCK=64)
"""


def made(makers: Makers, function: str, arguments: Mapping[str, Any], **ranges: tuple[int, int]) -> StatedProblem:
    """Return the problem of a call of the file above."""
    call = CallGiven(function, arguments, ranges)
    return problem_of_call(SOURCE, "a.py", call, RecordTarget("sm_90", "Test"), makers=makers)


HALF = TensorArgument((512,), "fp16")


def test_an_argument_that_is_written_alone_is_the_result(makers: Makers) -> None:
    """Of the same size as what is stored; work and bytes are those of the launch."""
    stated = made(makers, "into", {"x": HALF, "y": HALF})
    own = stated.problem.own
    assert own is not None
    assert (stated.problem.op, stated.problem.shape_names, own.results, own.entry) == ("into", ("512",), 1, "into")
    assert own.works[0].compulsory_bytes() == 2 * 2 * 512
    assert b"'written': ['y']" in stated.reference and b"'changed': []" in stated.reference
    assert any("its results are what it writes, y" in note for note in own.notes)
    assert own.configurations == {"copied": ()}


def test_an_argument_that_is_read_and_written_is_copied_first(makers: Makers) -> None:
    """Integers come from their range or are held as they were given; scalars stay beside the tensors."""
    rows = TensorArgument((2,), "int64", None, (3, 4))
    stated = made(makers, "onto", {"x": HALF, "y": HALF, "rows": rows, "scale": 2.0})
    assert b"'changed': ['y']" in stated.reference
    assert b"'held'" in stated.reference and b"'scale': 2.0" in stated.reference
    drawn = made(makers, "onto", {"x": HALF, "y": HALF, "rows": TensorArgument((2,), "int64")}, rows=(0, 9))
    assert b"'high': 9" in drawn.reference


def test_several_launches_say_that_their_bytes_are_bounds(makers: Makers) -> None:
    """The result's type does not tighten what the inputs' rounding explains."""
    stated = made(makers, "twice", {"x": HALF})
    own = stated.problem.own
    assert own is not None
    assert {one.compulsory.exactness for one in own.works[0].bytes} == {"upper"}
    assert own.works[0].compulsory_bytes() == 2 * 512 + 4 * 512
    assert stated.problem.tolerance.reason.startswith("equal to the version given")
    assert any("2 launches" in note for note in own.notes)


@pytest.mark.parametrize(
    ("function", "arguments", "what"),
    [
        ("softmax", {"x": HALF}, "a replay can't do what it does"),
        ("nothing", {"x": HALF}, "leaves no result"),
        ("into", {"x": 3, "y": 4}, "the call has no tensor"),
        ("wrong", {"x": HALF}, "copied: does not compile"),
        ("into", {"x": TensorArgument((2,), "fp16", None, (1, 2)), "y": TensorArgument((2,), "fp16")}, "has values"),
        ("into", {"x": TensorArgument((2,), "huge"), "y": HALF}, "unknown dtype"),
    ],
    ids=["torch", "no result", "numbers", "failing", "values", "type"],
)
def test_a_call_that_makes_no_problem_is_refused(
    makers: Makers, function: str, arguments: Mapping[str, Any], what: str
) -> None:
    """In one line."""
    with pytest.raises(KoptError, match=what):
        made(makers, function, arguments)
