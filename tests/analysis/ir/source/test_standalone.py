"""Claims about the part of a file that one function reaches."""

from __future__ import annotations

import ast

import pytest

from kopt_kb.analysis.ir.source.standalone import reduced
from kopt_kb.base.errors import BadInput

SOURCE = b'''# Licence: MIT
"""What the file is."""
from __future__ import annotations

import torch
import triton
import triton.language as tl
from beside import plot

try:
    from fast import helper
except ImportError:
    def helper(x): return OTHER

OTHER = 3
TABLE = {}
TABLE["a"] = 1
x = torch.randn(8)


# what the kernel does
@triton.jit
def kernel(p, N: tl.constexpr):
    x = tl.load(p)
    tl.store(p, x)


def entry(x, size=TABLE["a"]):
    kernel[(1,)](helper(x), N=size)
    return x


class Function(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return entry(x)


def unused():
    return plot

triton.set_allocator(None)
print(entry(x))
if __name__ == "__main__":
    unused()
'''


def test_what_a_function_reaches_is_kept_as_it_is_written() -> None:
    """Constants, branches with their other names, comments above; not what only shares a name with a local variable."""
    text = reduced(SOURCE, "entry", "a.py").source.decode()
    ast.parse(text)
    assert text.startswith("# Licence: MIT\n")
    assert "# what the kernel does\n@triton.jit" in text
    assert "except ImportError" in text and "OTHER = 3" in text and 'TABLE["a"] = 1' in text
    assert "set_allocator" in text and "from __future__" in text
    assert not any(word in text for word in ("randn", "print", "unused", "plot", "Function", "__main__"))


def test_lines_that_importing_the_file_would_run_are_told() -> None:
    """Definitions, and what stands behind `__main__`, run nothing."""
    lines = SOURCE.decode().splitlines()
    found = reduced(SOURCE, "Function.apply", "a.py")
    assert "class Function" in found.source.decode()
    kept = found.source.decode().splitlines()
    assert kept == [lines[one - 1] for one in found.lines]
    assert [lines[first - 1] for first, _ in found.left_out] == ["x = torch.randn(8)", "print(entry(x))"]


@pytest.mark.parametrize(
    ("source", "what"), [(b"def f(:", "not valid Python"), (b"def f(): ...", "no function g")], ids=["python", "name"]
)
def test_a_file_without_the_function_is_refused(source: bytes, what: str) -> None:
    """With the place, and the functions that it has."""
    with pytest.raises(BadInput, match=what):
        reduced(source, "g", "a.py")
