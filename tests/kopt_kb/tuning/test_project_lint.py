"""Only what a change adds counts, and only Python can be judged."""

from __future__ import annotations

import pytest

from kopt_kb.tuning.project_lint import lint_files

KERNEL = "import triton\nfrom .other import helper\n\n@triton.jit\ndef kernel(x):\n    pass\n\n\ndef run(x):\n    kernel[1](x)\n"
OLD = {"a.py": f"{KERNEL}\n\ndef plain(a, b):\n    return a @ b\n", "b.py": "x = 1\n", "c.cu": "int x;\n"}


def test_the_baseline_passes_whatever_it_holds() -> None:
    """Nothing changed, so nothing is added."""
    assert lint_files(OLD, OLD).result == "pass"


@pytest.mark.parametrize(
    ("path", "more", "result", "words"),
    [
        ("a.py", "\n\ndef again(a, b):\n    return b + a\n", "pass", ""),
        ("a.py", "\n\ndef again(a, b):\n    return b @ a\n", "fail", "a.py:18 multiplies matrices with @"),
        ("b.py", "\nimport torch\ny = torch.mm\n", "fail", "b.py:4 delegates to torch.mm"),
        ("b.py", "\ncache = {}\ndef f(t):\n    return cache[t.data_ptr()]\n", "fail", "uses data_ptr()"),
        ("b.py", "\nfrom . import a\n", "pass", ""),
        (
            "b.py",
            "\nimport triton\n@triton.jit\ndef second(x):\n    pass\n",
            "fail",
            "the kernel second is never launched",
        ),
        ("b.py", "\ndef (\n", "fail", "is not valid Python"),
        ("c.cu", "int y;\n", "unavailable", "the lint knows Python, and c.cu is none"),
    ],
)
def test_a_change(path: str, more: str, result: str, words: str) -> None:
    """Neighbours may be imported; library calls, caches on pointers and dead kernels may not come in."""
    found = lint_files(OLD, {**OLD, path: OLD[path] + more})
    assert (found.result, words in found.reason) == (result, True), found.reason


def test_what_is_not_judged_is_said() -> None:
    """A mixed change passes on its Python part and names the rest."""
    found = lint_files(OLD, {**OLD, "b.py": "x = 2\n", "c.cu": "int y;\n"})
    assert (found.result, found.reason) == ("pass", "not judged: c.cu")


def test_a_kernel_that_a_neighbour_launches_is_alive() -> None:
    """It is named in another file of the candidate."""
    new = {**OLD, "b.py": "import triton\n@triton.jit\ndef second(x):\n    pass\n", "d.py": "from b import second\n"}
    assert lint_files(OLD, new).result == "pass"
