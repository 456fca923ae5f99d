"""Claims about constants of kernels as documents."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

pytest.importorskip("triton")

from triton.experimental.gluon.language import BlockedLayout
from triton.language import constexpr, float16

from kopt_kb.launch.recompile.constants import StrangeConstantError, constant_of, document_of

pytestmark = pytest.mark.triton
LAYOUT = BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])


def back(value: Any) -> Any:
    """Return a constant that went through a document."""
    return constant_of(json.loads(json.dumps(document_of(value))), lambda name: f"kernel {name}")


@pytest.mark.parametrize("value", [None, True, 3, 2.5, -math.inf, "word", float16, (1, (2, float16)), LAYOUT])
def test_a_constant_survives(value: Any) -> None:
    """Numbers, words, types, tuples and layouts come back equal."""
    assert back(value) == value


def test_a_kernel_is_named_and_a_constexpr_unwrapped() -> None:
    """A kernel among constants is looked up by its module and name."""

    class Kernel:
        arg_names = ("x",)
        fn = document_of

    assert back(Kernel()) == f"kernel {document_of.__module__}:document_of"
    assert back(constexpr(7)) == 7


def test_what_is_neither_is_refused() -> None:
    """An object of somebody's, a made-up form, a layout of no such name."""
    assert document_of(object()) == {"unknown": "object"}
    for one in ({"unknown": "object"}, {"other": 1}, {"layout": "Popen", "module": "subprocess", "fields": {}}):
        with pytest.raises(StrangeConstantError):
            constant_of(one, str)
