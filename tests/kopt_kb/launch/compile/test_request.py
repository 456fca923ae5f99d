"""Claims about what is asked of a worker."""

from __future__ import annotations

import json
import math
from types import SimpleNamespace

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import canonical, read
from kopt_kb.kernels.launch_case import LaunchCase, TensorSpec
from kopt_kb.launch.compile.request import CompileFailed, KernelCase, constant, kernel_case, number, worded


def module_function():
    """Stand-in for a kernel at the top level of a file."""


def test_a_launch_becomes_plain_data():
    """File, name and options are read off; decorators with an `fn` are looked through."""
    decorated = SimpleNamespace(fn=SimpleNamespace(fn=module_function))
    launch = LaunchCase(decorated, (1,), (TensorSpec((4,), "fp32"),), {"B": 1}, num_warps=8, options={"maxnreg": 64})
    case = kernel_case(launch)
    assert (case.file, case.kernel) == (__file__, "module_function")
    assert case.options == {"num_warps": 8, "num_stages": 3, "num_ctas": 1, "maxnreg": 64}
    assert read(KernelCase, json.loads(canonical(case)), where="case") == case


@pytest.mark.parametrize(("text", "place"), [("k.py:gemm", ("k.py", "gemm")), ("k.py", ("k.py", ""))])
def test_a_kernel_may_be_named(text, place):
    """`file.py:name` needs no import here."""
    case = kernel_case(LaunchCase(text, (1,), ()))
    assert (case.file, case.kernel) == place


def test_a_nested_kernel_is_refused():
    """A child process can't import a function inside a function."""

    def inside():
        pass

    with pytest.raises(BadInput, match="'inside' is not at the top level"):
        kernel_case(LaunchCase(inside, (1,), ()))


@pytest.mark.parametrize("kind", ["compiler", "time_limit", "memory_limit", "crash", "shared_memory"])
def test_a_failure_keeps_its_kind_through_a_pipe(kind):
    """The kind is in the error code, which is all that comes back of it."""
    error = CompileFailed.of(kind, "what", where="here")
    assert CompileFailed("what", code=error.error_code).kind == kind


@pytest.mark.parametrize("value", [math.inf, -math.inf, 1.5, 3, True, None])
def test_numbers_that_json_lacks(value):
    """Words among the arguments, marked words among the constants; the rest as it is."""
    case = kernel_case(LaunchCase("k.py:k", (1,), (value,), {"C": value}))
    assert number(case.args[0]) == value
    assert constant(case.constexprs["C"]) == value
    canonical(case)


def test_not_a_number_and_unknown_constants():
    """NaN equals nothing; a mapping of no known kind is refused."""
    assert math.isnan(number(worded(math.nan)))
    with pytest.raises(BadInput, match="no constant"):
        constant({"torch.dtype": "float16"})


@pytest.mark.triton
def test_types_of_triton_are_constants():
    """As their name, and again as the type."""
    tl = pytest.importorskip("triton.language")
    case = kernel_case(LaunchCase("k.py:k", (1,), (), {"D": tl.float16}))
    assert case.constexprs["D"] == {"triton.dtype": "fp16"}
    assert constant(case.constexprs["D"]) == tl.float16
