"""Claims about what a Triton file lets be set, and where that stands."""

from __future__ import annotations

import pytest

from kopt_kb.analysis.ir.source.candidates import neighbours, own_configurations
from kopt_kb.analysis.ir.source.settings import with_settings
from kopt_kb.analysis.ir.source.tunables import tunables_of

HEAD = """
import triton
import triton.language as tl
from triton import Config, autotune

WARPS = 4
"""
KERNEL = """
@triton.jit
def kernel(x, n, BLOCK: tl.constexpr, GROUP_M: "tl.constexpr", KIND: tl.constexpr, num_stages: tl.constexpr, TILE_X: tl.constexpr, K_STAGES: tl.constexpr):
    for at in range(0, n, BLOCK):
        tl.dot(tl.load(x + at + tl.arange(0, BLOCK)), x)
"""


def of(launcher: str, kernel: str = KERNEL, marks: str = "") -> dict[str, tuple[str, object, str]]:
    """Return name → (role, value, place) of the kernel's knobs."""
    found = tunables_of((HEAD + marks + kernel.lstrip() + launcher).encode())["kernel"]
    return {one.name: (one.role, one.value, one.place) for one in found.knobs}


def test_literals_are_followed_to_where_they_stand() -> None:
    """A number of the launch, a local variable, a default, a constant of the file; what is computed is no knob."""
    launcher = """
def run(x, group=8):
    block = 128
    kernel[(1,)](x, 5, block, GROUP_M=group, KIND="relu", TILE_X=triton.cdiv(5, 2), num_warps=WARPS, K_STAGES=2)
"""
    assert of(launcher) == {
        "BLOCK": ("block", 128, "literal"), "GROUP_M": ("group", 8, "literal"), "K_STAGES": ("stages", 2, "literal"),
        "num_warps": ("warps", None, "literal"), "maxnreg": ("registers", None, "keyword"),
    }  # fmt: skip


@pytest.mark.parametrize(
    "launcher",
    [
        "def run(x):\n    b = 1\n    b += 1\n    kernel[(1,)](x, 5, b, **more)\n",
        "def run(x):\n    for b in (1, 2):\n        kernel[(1,)](x, 5, b, **more)\n",
        "def run(x, b):\n    kernel[(1,)](x, 5, b, **more)\n",
        "def run(x):\n    kernel[(1,)](x, 5, True, **more)\n",
    ],
    ids=["changed", "loop", "given", "truth"],
)
def test_what_no_single_literal_says_is_no_knob(launcher: str) -> None:
    """Nor is an option that may stand among words that are handed on."""
    assert of(launcher) == {}


def test_of_several_launches_none_is_changed() -> None:
    """They may mean different things."""
    assert of("def run(x):\n    kernel[(1,)](x, 5, 64)\n    kernel[(2,)](x, 5, 64)\n") == {}


def test_configurations_are_read_where_they_are_literal() -> None:
    """With the name that the file has for a configuration, and the first one's hook."""
    marks = (
        '@autotune([Config({"BLOCK": 64}, 8, num_stages=2, pre_hook=zero), Config(kwargs={"BLOCK": 32})], key=["n"])\n'
    )
    launcher = "def run(x):\n    wrap(kernel)[(1,)](x, 5)\n"
    found = tunables_of((HEAD + marks + KERNEL.lstrip() + launcher).encode())["kernel"]
    assert found.own == ({"BLOCK": 64, "num_warps": 8, "num_stages": 2}, {"BLOCK": 32})
    assert (found.maker, found.hook, found.loops, found.multiplies) == ("Config", "zero", True, True)
    assert found.roles["BLOCK"] == ("block", "arange at line 11")
    assert found.roles["TILE_X"] == ("block", "by its name")
    assert found.roles["KIND"][0] == "choice"


@pytest.mark.parametrize(
    "configs",
    [
        "made()",
        "[Config({'BLOCK': b}) for b in (1, 2)]",
        "[Config({'BLOCK': n})]",
        "[1]",
        "[Config({'BLOCK': (1, 2)})]",
    ],
    ids=["function", "loop", "name", "number", "tuple"],
)
def test_computed_configurations_are_known_to_a_run_alone(configs: str) -> None:
    """The place of the expression is kept, and nothing is said of its values."""
    marks = f"@triton.autotune(configs={configs}, key=[])\n"
    found = tunables_of((HEAD + marks + KERNEL.lstrip() + "def run(x):\n    kernel[(1,)](x, 5)\n").encode())["kernel"]
    assert (found.own, found.knobs) == (None, ())
    assert found.configs is not None
    assert found.maker in {"Config", "triton.Config"}


@pytest.mark.parametrize("source", [b"def f(:", b"import torch\n", KERNEL.encode()], ids=["python", "other", "unused"])
def test_a_file_that_launches_nothing_has_none(source: bytes) -> None:
    """Nor has one that is no Python."""
    assert tunables_of(source) == {}


RULES = """@triton.heuristics({
    "BLOCK": lambda args: triton.next_power_of_2(args["n"]), "TILE_X": lambda args: 64,
    "num_warps": lambda args: 8 if args["n"] > 4096 else 4, "KIND": kind_of,
})
"""


def test_a_rule_of_heuristics_is_a_place() -> None:
    """A launch option that it computes, a number that it says; a block that it computes stays, and no keyword beats it."""
    launcher = "def run(x):\n    kernel[(1,)](x, 5, GROUP_M=8, K_STAGES=2)\n"
    found = of(launcher, marks=RULES)
    assert found == {
        "TILE_X": ("block", 64, "literal"), "num_warps": ("warps", None, "literal"), "GROUP_M": ("group", 8, "literal"),
        "K_STAGES": ("stages", 2, "literal"), "maxnreg": ("registers", None, "keyword"),
    }  # fmt: skip
    source = (HEAD + RULES + KERNEL.lstrip() + launcher).encode()
    made = with_settings(source, {"kernel.num_warps": 2, "kernel.TILE_X": 128}).decode()
    assert '"num_warps": lambda args: 2, "KIND"' in made and '"TILE_X": lambda args: 128,' in made
    (warps,) = (one for one in neighbours(source, (4096,)) if one.name == "kernel.num_warps")
    assert warps.origin == "beside what line 9 computes (an option; of a heuristic)"
    assert set(warps.values) >= {2, 4, 8}


def test_a_rule_below_a_tuner_overrides_its_configurations() -> None:
    """Triton hands on what the rule says; of two configurations that differ in that alone, one is left to try."""
    tuner = "@triton.autotune(configs=[triton.Config({}, num_warps=2), triton.Config({}, num_warps=4)], key=[])\n"
    rule = '@triton.heuristics({"num_warps": lambda args: 8})\n'
    launcher = "def run(x):\n    kernel[(1,)](x, 5, 64, 8, GROUP_M=8)\n"
    source = (HEAD + tuner + rule + KERNEL.lstrip() + launcher).encode()
    assert own_configurations(source) == ()
    assert tunables_of(source)["kernel"].own == ({}, {})
    assert of(launcher, marks=tuner + rule)["num_warps"] == ("warps", 8, "literal")
    assert len(own_configurations(source.replace(rule.encode(), b""))) == 1


def test_rules_that_are_named_elsewhere_are_left_alone() -> None:
    """Nobody reads them here."""
    launcher = "def run(x):\n    kernel[(1,)](x, 5, 64, 8, GROUP_M=8)\n"
    assert "num_warps" in of(launcher, marks="@triton.heuristics(values=RULES)\n")
    found = of(launcher, marks='@triton.heuristics(values={"num_warps": warps})\n')
    assert "num_warps" not in found and "BLOCK" in found
