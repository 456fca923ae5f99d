"""Claims about values written into a Triton file."""

from __future__ import annotations

import ast

import pytest

from kopt_kb.analysis.ir.source.settings import config_text, parse_config, settings_of, with_settings
from kopt_kb.base.errors import BadInput

TUNED = b"""import triton
import triton.language as tl

@triton.autotune(configs=made(), key=["n"])
@triton.jit
def kernel(x, n, BLOCK: tl.constexpr):
    tl.arange(0, BLOCK)

def run(x):
    kernel[(1,)](x, 5)

def zero(): "pre_hook"
"""
PLAIN = b"""import triton
import triton.language as tl

@triton.jit
def kernel(x, n, BLOCK: tl.constexpr):
    tl.arange(0, BLOCK)

def run(x):
    kernel[(1,)](
        x, 5, BLOCK=64,
    )
"""


def test_a_configuration_is_one_line_and_back() -> None:
    """Texts with spaces too; the empty one has a name."""
    config = {"BLOCK": 64, "KIND": "a b", "EVEN": True, "x": 0.5}
    assert parse_config(config_text(config)) == config
    assert parse_config(config_text({})) == {}


def test_an_autotuner_is_left_with_one_configuration() -> None:
    """The hook goes with it, and further settings are laid over it; set again, nothing grows."""
    once = with_settings(TUNED, {"kernel.config": "BLOCK=64 num_warps=8"})
    assert b"configs=[triton.Config({'BLOCK': 64}, num_warps=8, pre_hook=list(made())[0].pre_hook)]" in once
    twice = with_settings(once, {"kernel.BLOCK": 128, "kernel.maxnreg": 96, "kernel.num_warps": None})
    assert settings_of(twice) == {"kernel.BLOCK": 128, "kernel.num_warps": 8, "kernel.maxnreg": 96}
    assert twice.count(b"pre_hook=") == 1
    ast.parse(twice)
    assert settings_of(once, {"kernel.BLOCK": 128, "kernel.maxnreg": 96, "kernel.num_warps": None}) == settings_of(
        twice
    )
    assert settings_of(TUNED, {"kernel.config": "BLOCK=64 num_warps=8"}) == settings_of(once)


def test_a_launch_gets_literals_and_keywords() -> None:
    """Behind a comma that stands there already, and without one."""
    changed = with_settings(PLAIN, {"kernel.BLOCK": 32, "kernel.num_warps": 2, "kernel.num_stages": 1})
    assert settings_of(changed) == {"kernel.BLOCK": 32, "kernel.num_warps": 2, "kernel.num_stages": 1}
    bare = with_settings(PLAIN.replace(b"64,\n", b"64\n"), {"kernel.num_warps": 2})
    assert settings_of(bare) == {"kernel.BLOCK": 64, "kernel.num_warps": 2}
    assert with_settings(PLAIN, {"kernel.num_warps": None}) == PLAIN


@pytest.mark.parametrize(
    ("name", "what"), [("other.BLOCK", "no kernel 'other'"), ("kernel.SIZE", "no setting SIZE")], ids=["kernel", "name"]
)
def test_what_has_no_place_is_refused(name: str, what: str) -> None:
    """A setting that nothing heeds would be taken for tried."""
    with pytest.raises(BadInput, match=what):
        with_settings(PLAIN, {name: 1})
