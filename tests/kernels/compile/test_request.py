"""Claims about what is asked of a worker."""

from __future__ import annotations

import pickle
from types import SimpleNamespace

import pytest

from kopt_kb.errors import BadInput
from kopt_kb.kernels.compile.request import CompileFailed, kernel_case
from kopt_kb.kernels.launch_case import LaunchCase, TensorSpec


def module_function():
    """Stand-in for a kernel at the top level of a file."""


def test_a_launch_becomes_plain_data():
    """File, name and options are read off; decorators with an `fn` are looked through."""
    decorated = SimpleNamespace(fn=SimpleNamespace(fn=module_function))
    launch = LaunchCase(decorated, (1,), (TensorSpec((4,), "fp32"),), {"B": 1}, num_warps=8, options={"maxnreg": 64})
    case = kernel_case(launch)
    assert (case.file, case.kernel) == (__file__, "module_function")
    assert case.options == {"num_warps": 8, "num_stages": 3, "num_ctas": 1, "maxnreg": 64}
    assert pickle.loads(pickle.dumps(case)) == case


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
    """The kind is in the error code, so it survives pickling."""
    error = CompileFailed.of(kind, "what", where="here")
    assert pickle.loads(pickle.dumps(error)).kind == kind
