"""Caches that host code holds, found by their keys."""

from __future__ import annotations

import pytest

from kopt_kb.packs.training_step.caches import cache_uses, role_of

W1 = """
_CACHE = {}
def quantized(weight):
    key = (id(weight), weight._version, weight.shape)
    if key not in _CACHE:
        _CACHE[key] = quantize(weight)
    return _CACHE[key]
"""
W2 = """
from collections import OrderedDict
class Op:
    def __init__(self):
        self.seen = OrderedDict()
    def forward(self, x):
        q = self.seen.get((id(x), x._version))
        if q is None:
            q = quantize(x)
            self.seen[(id(x), x._version)] = q
        return q
"""


@pytest.mark.parametrize(
    ("source", "parts", "line"),
    [
        (W1, {"id(weight)", "weight version", "layout"}, 5),
        (W2, {"id(activation)", "version"}, 7),
        ("_C = dict()\ndef f(dy):\n    _C[dy.data_ptr()] = g(dy)\n", {"id(grad_out)"}, 3),
        ("_C = {}\ndef f(a_scale):\n    return _C.setdefault(id(a_scale), g(a_scale))\n", {"id(scale)"}, 3),
        ("_C = {}\ndef f(x):\n    _C[x.shape] = g(x)\n", {"layout"}, 3),
        ("import functools\n@functools.lru_cache(None)\ndef f(x):\n    return x.shape\n", {"id(activation)"}, 3),
        ("from functools import cache\n@cache\ndef f(x: 'torch.Tensor', n: int):\n    ...\n", {"id(activation)"}, 3),
        ("import weakref\ndef f(x):\n    r = weakref.ref(x)\n", {"id(activation)"}, 3),
        ("import weakref\n_C = weakref.WeakKeyDictionary()\ndef f(w):\n    _C[w] = g(w)\n", {"id(weight)"}, 4),
    ],
)
def test_keys_are_taken_apart(source: str, parts: set[str], line: int) -> None:
    """Also through names, methods and attributes."""
    (found,) = cache_uses(source.encode())
    assert ({one.part for one in found.key}, found.line) == (parts, line)


@pytest.mark.parametrize(
    "source",
    [
        "def f(x):\n    mine = {}\n    mine[id(x)] = 1\n",
        "import functools\n@functools.cache\ndef sms(device: int):\n    return 7\n",
        "T = {'a': 1}\ndef f(x):\n    return x\n",
    ],
)
def test_what_is_no_cache(source: str) -> None:
    """A dictionary of one call, a table, and a memo of a number."""
    assert cache_uses(source.encode()) == ()


def test_buffers_by_shape_keep_no_result() -> None:
    """Memory that is allocated once is no result."""
    (found,) = cache_uses(b"_C = {}\ndef f(x):\n    _C[x.shape] = torch.empty(x.shape)\n")
    assert not found.holds_results


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("w", "weight"), ("w1", "weight"), ("expert_weights", "weight"), ("weight_scale", "weight"), ("x", "activation"),
        ("a_scale", "scale"), ("grad_out", "grad_out"), ("dy", "grad_out"), ("window", "activation"), ("row", "activation"),
    ],
)  # fmt: skip
def test_roles_by_name(name: str, role: str) -> None:
    """What no name says is an activation."""
    assert role_of(name) == role
