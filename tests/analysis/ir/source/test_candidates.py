"""Claims about the settings that are worth trying."""

from __future__ import annotations

from kopt_kb.analysis.ir.source.candidates import neighbours, own_configurations, register_limits

MARK = '@triton.autotune(configs={configs}, key=["n"])\n'
SOURCE = """import triton
import triton.language as tl

{mark}@triton.jit
def kernel(x, n, BLOCK: tl.constexpr, GROUP_M: tl.constexpr, EVEN: tl.constexpr):
    for at in range(0, n, BLOCK):
        {body}(tl.arange(0, BLOCK), x)

def run(x):
    kernel[(1,)](x, 5{more})
"""


def source(configs: str = "", more: str = "", body: str = "tl.store") -> bytes:
    """Return a file with these configurations, or these arguments of its launch."""
    mark = MARK.format(configs=configs) if configs else ""
    return SOURCE.format(mark=mark, more=more, body=body).encode()


def test_several_configurations_of_its_own_come_as_one_choice() -> None:
    """Those that a run made where the file computes them; one alone is no choice."""
    two = source('[triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 32}, num_warps=8)]')
    (values,) = own_configurations(two)
    assert (values.name, values.values) == ("kernel.config", ("BLOCK=64", "BLOCK=32 num_warps=8"))
    assert values.origin == "2 configurations of its own @autotune, line 4"
    made = source("made()")
    assert own_configurations(made) == ()
    (values,) = own_configurations(made, {"kernel": ({"BLOCK": 64}, {"BLOCK": 32})})
    assert values.values == ("BLOCK=64", "BLOCK=32")
    assert own_configurations(source('[triton.Config({"BLOCK": 64})]')) == ()


def test_neighbours_follow_what_a_value_means() -> None:
    """Blocks double and halve below the problem's elements, stages and groups have steps of their own."""
    found = {one.name: one.values for one in neighbours(source(more=", 64, 4, True, num_warps=8"), (10, 11))}
    assert found == {
        "kernel.BLOCK": (32, 64, 128), "kernel.GROUP_M": (1, 2, 4, 8, 16), "kernel.num_warps": (4, 8, 16),
        "kernel.num_stages": (2, 3, 4),
    }  # fmt: skip
    few = {one.name: one.values for one in neighbours(source(more=", 64, num_stages=1, **options"), (4096,))}
    assert few == {"kernel.BLOCK": (16, 32, 64, 128, 256), "kernel.num_stages": (1, 2, 3)}
    multiplied = {one.name: one.values for one in neighbours(source(more=", 16", body="tl.dot"), (4096,))}
    assert multiplied["kernel.BLOCK"] == (16, 32)


def test_of_several_configurations_the_first_has_neighbours() -> None:
    """Of those that the file computes each value is written, since the file says none."""
    made = {"kernel": ({"BLOCK": 64, "EVEN": True, "num_warps": 32}, {"BLOCK": 32})}
    found = {one.name: one.values for one in neighbours(source("made()"), (4096,), made)}
    assert found == {"kernel.BLOCK": (32, 64, 128), "kernel.EVEN": (True,), "kernel.num_warps": (16, 32)}
    assert neighbours(source("made()"), (4096,)) == ()


def test_registers_are_limited_where_nobody_does() -> None:
    """Beside the warps; a kernel of several configurations is none yet."""
    found = {one.name: one.values for one in register_limits(source(more=", 64, num_warps=8"))}
    assert found["kernel.maxnreg"][:2] == (None, 64)
    assert found["kernel.num_warps"] == (4, 8, 16)
    assert register_limits(source(more=", 64, maxnreg=64, **options")) == ()
    assert register_limits(source("made()")) == ()
