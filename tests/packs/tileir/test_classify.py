"""Kernel types by data flow, on the cases that a search for words gets wrong."""

from __future__ import annotations

import pytest

from kopt_kb.analysis.ir.source.source import Project, parse_module
from kopt_kb.packs.tileir.classify import classify, classify_module

HEAD = "import triton\nimport triton.language as tl\n\n"
LANES = "    o = tl.arange(0, B)\n    x = tl.load(p + o, mask=o < n, other=0.0)\n"


def kind(body: str, *, helpers: str = "", files: dict[str, str] | None = None) -> str:
    text = f"{HEAD}{helpers}\n@triton.jit\ndef k(p, q, n, m, B: tl.constexpr):\n{LANES}{body}"
    module = parse_module(text, "main")
    return classify(Project((files or {}).get), module, "k").classification


CASES = {
    "copy": ("    tl.store(q + o, x)\n", "element-wise"),
    "silu": ("    tl.store(q + o, x * tl.sigmoid(x))\n", "element-wise"),
    "a comment and a string": ("    # tl.dot(x, x) softmax\n    'tl.sum(x) / n'\n    tl.store(q + o, x)\n", "element-wise"),
    "Python's min": ("    tl.store(q + o, x + min(n, m))\n", "element-wise"),
    "a division by a length": ("    tl.store(q + o, tl.exp(x) / n)\n", "element-wise"),
    "softmax backward from stored statistics": ("    s = tl.load(q)\n    tl.store(q + o, tl.exp(x - s) / s)\n", "element-wise"),
    "copies in a loop": (
        "    for i in range(n):\n        v = tl.load(p + i * m + o)\n        tl.store(q + i * m + o, v)\n", "element-wise",
    ),
    "a search for a place": (
        "    lo = 0\n    for i in range(9):\n        mid = (lo + n) // 2\n        v = tl.load(p + mid)\n"
        "        lo = tl.where(v < m, mid, lo)\n    tl.store(q, lo)\n", "element-wise",
    ),
    "pointers that advance by loaded strides": (
        "    s = tl.load(q)\n    for i in range(n):\n        tl.store(q + o, tl.load(p + o))\n        p += s\n", "element-wise",
    ),
    "a picked lane": ("    y = tl.sum(tl.where(o == m, x, 0.0), 0)\n    tl.store(q + o, x * y)\n", "element-wise"),
    "sum": ("    tl.store(q, tl.sum(x, 0))\n", "reduction"),
    "mean": ("    s = tl.sum(x, axis=0)\n    tl.store(q, s / n)\n", "reduction"),
    "logsumexp": ("    a = tl.max(x, 0)\n    tl.store(q, a + tl.log(tl.sum(tl.exp(x - a), 0)))\n", "reduction"),
    "argmax": ("    tl.store(q, tl.argmax(x, 0))\n", "reduction"),
    "scan": ("    tl.store(q + o, tl.cumsum(x, 0) * m)\n", "reduction"),
    "scan by chunks": (
        "    z = 0.0\n    for i in range(n):\n        v = tl.load(p + i * B + o)\n        c = tl.cumsum(v, 0) + z\n"
        "        tl.store(q + i * B + o, c - v)\n        z += tl.sum(v, 0)\n", "reduction",
    ),
    "histogram": ("    tl.atomic_add(q + x, 1)\n", "reduction"),
    "sum in a loop": (
        "    a = tl.zeros([B], tl.float32)\n    for i in range(n):\n        a += tl.load(p + i * m + o)\n"
        "    tl.store(q + o, a)\n", "reduction",
    ),
    "fma in a loop": (
        "    a = x * m\n    for i in range(n):\n        v = tl.load(p + i * m + o)\n        a = tl.fma(v, m, a)\n"
        "    tl.store(q + o, a)\n", "reduction",
    ),
    "running maximum by a branch": (
        "    best = -1.0\n    for i in range(n):\n        v = tl.load(p + i)\n        if v > best:\n            best = v\n"
        "    tl.store(q, best)\n", "reduction",
    ),
    "matrix times vector and a bias": (
        "    w = tl.load(q + o[:, None] * m + o[None, :])\n    y = tl.sum(w * x[None, :], axis=1) + tl.load(q + o)\n"
        "    tl.store(q + o, y)\n", "reduction",
    ),
    "merge of partial results": (
        "    v = tl.load(q + o[:, None] * m + o[None, :])\n    w = tl.exp(x - tl.max(x, 0))\n    w = w / tl.sum(w, 0)\n"
        "    tl.store(q + o, tl.sum(v * w[:, None], 0))\n", "reduction",
    ),
    "sorting by a library": ("    tl.store(q + o, tl.sort(x))\n", "reduction"),
    "rms norm": ("    r = tl.rsqrt(tl.sum(x * x, 0) / n)\n    tl.store(q + o, x * r)\n", "norm-like"),
    "softmax of the language": ("    tl.store(q + o, tl.softmax(x))\n", "norm-like"),
    "quantisation by the largest": ("    s = tl.max(tl.abs(x), 0)\n    tl.store(q + o, (x / s).to(tl.int8))\n", "norm-like"),
    "two passes": (
        "    s = 0.0\n    for i in range(n):\n        s += tl.sum(tl.load(p + i * B + o), 0)\n"
        "    for i in range(n):\n        tl.store(q + i * B + o, tl.load(p + i * B + o) * s)\n", "norm-like",
    ),
    "softmax backward": (
        "    d = tl.load(q + o)\n    tl.store(q + o, x * (d - tl.sum(x * d, 0)))\n", "norm-like",
    ),
    "norm of a sum": (
        "    v = tl.load(q + o[:, None] * m + o[None, :])\n    y = tl.sum(v, 0).reshape((2, m))\n    s = tl.max(y, 1)\n"
        "    tl.store(q + o, (y * s[:, None]).reshape((B,)))\n", "norm-like",
    ),
    "product": ("    tl.store(q + o, tl.dot(x, x))\n", "dot-related"),
    "scaled product": ("    tl.store(q + o, tl.dot_scaled(x, x, 'e4m3', x, x, 'e4m3'))\n", "dot-related"),
    "product under a branch": ("    if m:\n        x = tl.dot(x, x)\n    tl.store(q + o, x)\n", "dot-related"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_types(name: str) -> None:
    body, expected = CASES[name]
    assert kind(body) == expected


def test_a_callee_of_the_file_is_followed() -> None:
    """The product or reduction that decides may stand in a helper."""
    norm = "@triton.jit\ndef scaled(x, n):\n    return x / tl.sum(x, 0)\n"
    assert kind("    tl.store(q + o, scaled(x, n))\n", helpers=norm) == "norm-like"
    unused = "@triton.jit\ndef product(x):\n    return tl.dot(x, x)\n"
    assert kind("    tl.store(q + o, x)\n", helpers=unused) == "element-wise"


def test_callees_of_other_files_through_a_re_export() -> None:
    files = {
        "lib": "from lib.inner import safe\n",
        "lib.inner": HEAD + "@triton.jit\ndef safe(a, b):\n    return tl.dot(a, b)\n",
    }
    assert kind("    tl.store(q + o, safe(x, x))\n", helpers="from lib import safe\n", files=files) == "dot-related"


def test_an_unread_callee_costs_confidence_and_is_named() -> None:
    text = f"{HEAD}from lib import unknown\n@triton.jit\ndef k(p, q, n, B: tl.constexpr):\n{LANES}    tl.store(q + o, unknown(x))\n"
    found = classify(Project(lambda _: None), parse_module(text, "main"), "k")
    assert found.unresolved == ("lib.unknown",)
    assert found.confidence < 0.8


def test_indicators_name_the_deciding_line() -> None:
    text = f"{HEAD}@triton.jit\ndef k(p, q, n, B: tl.constexpr):\n{LANES}    s = tl.sum(x, 0)\n    tl.store(q + o, x / s)\n"
    (found,) = classify_module(Project(lambda _: None), parse_module(text))
    assert [(one.line, one.text) for one in found.indicators] == [
        (9, "tl.store(q + o, x / s)"),
        (8, "s = tl.sum(x, 0)"),
    ]
