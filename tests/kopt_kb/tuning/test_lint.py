"""Ways around a kernel of one's own are found, the package's own are clean; of a project only what a change adds counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.doors import table
from kopt_kb.doors.language import Language
from kopt_kb.doors.pack import Pack
from kopt_kb.tuning.lint import lint_files, lint_source

HEAD = """import torch
import triton
import triton.language as tl


@triton.jit
def k(x_ptr):
    tl.store(x_ptr, 0)


"""

CHEATS = {
    "operator": ("def launch(a, b):\n    k[1](a)\n    return a @ b\n", "@"),
    "torch.mm": ("def launch(a, b):\n    k[1](a)\n    return torch.mm(a, b)\n", "torch.mm"),
    "method": ("def launch(a, b):\n    k[1](a)\n    return a.matmul(b)\n", "matmul"),
    "aten": ("def launch(a, b):\n    k[1](a)\n    return torch.ops.aten.mm(a, b)\n", "torch.ops"),
    "alias": (
        "from torch.nn import functional as F\ndef launch(a):\n    k[1](a)\n    return F.softmax(a)\n",
        "functional",
    ),
    "assigned": ("f = torch.nn.functional\ndef launch(a):\n    k[1](a)\n    return f.rms_norm(a)\n", "functional"),
    "attention in a class": (
        "class M:\n    def f(self, q):\n        k[1](q)\n        return torch.nn.functional.scaled_dot_product_attention(q)\n",
        "scaled_dot_product_attention",
    ),
    "layer": ("def launch(a):\n    k[1](a)\n    return torch.nn.RMSNorm(4)(a)\n", "RMSNorm"),
    "library": ("import flash_attn\ndef launch(a):\n    k[1](a)\n", "flash_attn"),
    "extension": ("from torch.utils.cpp_extension import load\ndef launch(a):\n    k[1](a)\n", "torch"),
    "id cache": ("C = {}\ndef launch(a):\n    k[1](a)\n    return C.setdefault(id(a), a)\n", "id()"),
    "pointer cache": ("C = {}\ndef launch(a):\n    k[1](a)\n    return C[a.data_ptr()]\n", "data_ptr()"),
    "memo": ("import functools\n@functools.lru_cache\ndef launch(a):\n    k[1](a)\n", "lru_cache"),
    "memo alias": ("from functools import cache as c\n@c\ndef launch(a):\n    k[1](a)\n", "memoises"),
    "weak": ("import weakref\nC = weakref.WeakKeyDictionary()\ndef launch(a):\n    k[1](a)\n", "Weak"),
    "dead kernel": ("def launch(a):\n    return a\n", "never launched"),
    "exec": ("def launch(a):\n    k[1](a)\n    exec('1')\n", "exec"),
    "eval": ("def launch(a):\n    k[1](a)\n    return eval('a')\n", "eval"),
    "importlib": ("import importlib\ndef launch(a):\n    k[1](a)\n    importlib.import_module('x')\n", "run time"),
    "getattr": ("def launch(a):\n    k[1](a)\n    return getattr(torch, 'm' + 'm')(a, a)\n", "no literal"),
    "compile": ("def launch(a):\n    k[1](a)\n    return torch.compile(a)\n", "torch.compile"),
    "graph": ("g = torch.cuda.CUDAGraph()\ndef launch(a):\n    k[1](a)\n", "CUDAGraph"),
    "stream": (
        "def launch(a):\n    k[1](a)\n    with torch.cuda.stream(torch.cuda.Stream()):\n        pass\n",
        "stream",
    ),
    "neighbour": ("from .other import f\ndef launch(a):\n    k[1](a)\n", "stand alone"),
    "not python": ("def launch(:\n", "not valid Python"),
}


@pytest.mark.parametrize("name", CHEATS)
def test_cheats_are_found(name: str) -> None:
    """Each names what it is."""
    body, word = CHEATS[name]
    found = lint_source((HEAD + body).encode())
    assert any(word in one.what for one in found), found


def test_the_line_is_named() -> None:
    """The finding stands where the call stands."""
    assert [one.line for one in lint_source((HEAD + CHEATS["operator"][0]).encode())] == [13]


@pytest.mark.parametrize(
    "body",
    [
        "def launch(a, out=None):\n    out = torch.empty_like(a) if out is None else out\n    k[1](a)\n    return out\n",
        "peak_rows = 4\nbenchmark = 1\ndef launch(a):\n    k[1](a)\n",
        "def reference(a, b):\n    return a @ b\ndef launch(a):\n    k[1](a)\n",
        "_PLANS = {}\ndef launch(a):\n    _PLANS.setdefault((tuple(a.shape), a.dtype), 1)\n    k[1](a)\n",
        "def launch(a):\n    pick = k\n    pick[1](a)\n",
    ],
)
def test_honest_code_passes(body: str) -> None:
    """Allocation, names that only sound suspicious, a reference, plans keyed on shape and dtype."""
    assert lint_source((HEAD + body).encode()) == ()


@pytest.mark.parametrize("folder", ["kernels", "kernels/naive"])
def test_the_packages_kernels_pass(repo_root: Path, folder: str) -> None:
    """Every file that declares an operation and launches a kernel is clean."""
    files = [one for one in sorted((repo_root / folder).glob("*.py")) if b"\nOP = " in one.read_bytes()]
    assert files
    assert not {one.name: found for one in files if (found := lint_source(one.read_bytes()))}


def _mine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let one pack bring one language."""
    pack = Pack("mine", "mine", languages=(Language("My DSL", "a test's", mark="mine.dsl.kernel"),))
    monkeypatch.setattr(table, "packs", lambda: table.Packs({"mine": pack}, ()))


def test_kernels_of_other_frameworks_are_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """A product of tiles inside one is no library call; outside it is, and a kernel nobody starts is dead."""
    _mine(monkeypatch)
    kernel = "import mine.dsl as lang\n@lang.kernel\ndef device(a, b):\n    return a @ b\n"
    assert lint_source((kernel + "def launch(x):\n    lang.launch(device, x)\n").encode()) == ()
    outside = lint_source((kernel + "def launch(x):\n    lang.launch(device, x @ x)\n").encode())
    assert [one.line for one in outside] == [6]
    dead = lint_source((kernel + "def launch(x):\n    return x\n").encode())
    assert ["starts no kernel" in dead[0].what, "never launched" in dead[1].what] == [True, True]


@pytest.mark.parametrize("line", ["return reference(x)", "run = reference\n    return run(x)", "return help_me(x)"])
def test_the_reference_is_no_kernel(line: str) -> None:
    """Its body may call any library because it is never timed: what is timed may not call it."""
    source = (
        "import torch\n\ndef reference(x):\n    return torch.softmax(x.double(), -1)\n\n"
        f"def help_me(x):\n    return {'reference(x)' if 'help_me' in line else 'x'}\n\n"
        f"def launch(x):\n    {line}\n"
    )
    assert any("reference" in one.what for one in lint_source(source.encode()))


TILE = "import triton\n@triton.jit\ndef device(x):\n    pass\n"


@pytest.mark.parametrize("framework", ["", "Triton"])
def test_a_file_without_a_kernel_is_none(framework: str) -> None:
    """Plain torch that agrees with the reference is no kernel, whatever its speed."""
    plain = b"import torch\ndef launch(x, *, out=None):\n    return out.copy_(x * torch.rsqrt(x.mean()))\n"
    assert "kernel" in lint_source(plain, framework=framework)[0].what
    assert lint_source((TILE + "def launch(x):\n    device[(1,)](x)\n").encode(), framework=framework) == ()
    assert lint_source(plain, framework="HIP") == ()  # its kernels can't be recognised in a Python file
    assert lint_source(plain, standalone=False) == ()


@pytest.mark.parametrize(
    "line",
    [
        "static_cases(x)",
        "make_inputs(x)",
        "x.addmm_(x, x, beta=0)",
        "x.baddbmm_(x, x)",
        "x.mv(x)",
        "x.inner(x)",
        "x.__matmul__(x)",
        "torch.addmv(x, x, x)",
        "torch._int_mm(x, x)",
        "torch._scaled_mm(x, x)",
        "torch._softmax(x, -1, False)",
        "torch._fused_rms_norm(x)",
        "torch.group_norm(x, 1)",
        "torch.cdist(x, x)",
        "torch.__dict__['mm'](x, x)",
        "vars(torch)['mm'](x, x)",
        "torch.jit.script(device)",
        "torch.cuda.graph(x)",
        "torch.conv_transpose2d(x, x)",
        "torch._C._nn.linear(x, x)",
    ],
)
def test_ways_around_the_names_of_libraries(line: str) -> None:
    """Other spellings of the same work, and functions whose bodies are never looked at."""
    source = f"import torch\n{TILE}def launch(x):\n    device[(1,)](x)\n    {line}\n"
    assert {one.line for one in lint_source(source.encode())} == {8}


def test_a_decorator_of_triton_alone_makes_no_kernel() -> None:
    """The body of a function that only a testing helper decorates is host code."""
    source = f"import torch\n{TILE}@triton.testing.perf_report\ndef host(x):\n    torch.mm(x, x)\n"
    source += "def launch(x):\n    device[(1,)](host(x))\n"
    assert {one.line for one in lint_source(source.encode())} == {8}


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


def test_what_a_header_launches(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel passes; without one, or with a library, a file is refused at the line."""
    _mine(monkeypatch)
    head = b'"""A kernel.\n\n/* kb\nop = "x"\n*/\n"""\n'
    kernel = head + b"import mine.dsl as lang\n@lang.kernel\ndef device(a, b):\n    return a @ b\n"
    assert lint_source(kernel) == lint_source(kernel, framework="My DSL") == ()
    assert "has no Triton kernel" in lint_source(kernel, framework="Triton")[0].what
    found = lint_source(head + b"import torch.utils.cpp_extension\n")
    assert [one.line for one in found] == [1, 7]
    assert lint_source(head + b"def (")[0].what == "is not valid Python"
