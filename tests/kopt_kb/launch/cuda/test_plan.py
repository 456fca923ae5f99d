"""Numbers put into a header: shapes, grids, arguments; what does not fit the machine code is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput, FindingError
from kopt_kb.launch.compile.target import CompileTarget
from kopt_kb.launch.cuda.plan import header_of, plan_of, program_of, steps_of
from kopt_kb.launch.record.model import Fill, Launch, NullArg, ScalarArg, TensorAddress

TARGET = CompileTarget.parse("sm_90")


def _plan(path: Path, shape: tuple[int, ...] = (1000,), dtype: str = "bf16", **config: object):
    return plan_of(header_of(path), shape, dtype, config, {})


def _steps(path: Path):
    plan = _plan(path)
    return steps_of(plan, program_of(plan, path, TARGET), "c" * 64)


def test_steps_of_a_shape(scale: Path, nvrtc: str) -> None:
    """A fill, and two launches with typed arguments, grids and dynamic shared memory."""
    plan = _plan(scale, THREADS=64)
    program = program_of(plan, scale, TARGET)
    fill, twice, joined = steps_of(plan, program, "c" * 64)
    assert isinstance(fill, Fill)
    assert (fill.view.buffer, fill.view.dtype, fill.pattern) == ("half", "fp32", "0000c03f")
    assert isinstance(twice, Launch)
    assert isinstance(joined, Launch)
    assert (twice.grid, twice.block, joined.shared_bytes) == ((16, 1, 1), (64, 1, 1), 256)
    assert twice.arguments[2:] == (ScalarArg("i64", 1000, "elements"), ScalarArg("fp32", 0.5, "0.5"))
    assert isinstance(joined.arguments[0], TensorAddress)
    assert isinstance(joined.arguments[4], NullArg)
    assert joined.arguments[2].view.buffer == "out"  # type: ignore[union-attr]
    assert twice.entry == "_Z5twiceI13__nv_bfloat16Li64EEvPKT_Pfxf"


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('"i64 elements", "fp32 0.5"', '"i32 elements", "fp32 0.5"', r"parameters of \[8, 8, 8, 4\] bytes, the header gives"),
        ('"i64 elements", "fp32 0.5"', '"i64 elements"', r"the header gives \[8, 8, 8\]"),
        ('"fp32 0.5"', '"float32 0.5"', "has no type of a number"),
        ('"fp32 0.5"', '"fp32 half"', "unknown name half"),
        ('"fp32 0.5"', '"fp32 rsqrt(0)"', "divides by 0"),
        ('block = ["THREADS"]', 'block = ["THREADS * 2"]', "blocks of 128 threads, the header launches 256"),
        ('grid = ["BLOCKS"]', 'grid = ["BLOCKS - BLOCKS"]', "every extent is at least 1"),
        ('launch = "twice<{T}, {THREADS}>"', 'launch = "twice<{T}, {WARPS}>"', "{WARPS} in .* stands for nothing"),
        ('half = "fp32[elements]"', 'half = "fp32[elements - 5000]"', r"half has shape \(-4000,\)"),
        ("value = 1.5", "value = 1e300", "is no fp32"),
        ('half = "fp32[elements]"', 'out1 = "fp32[4]"\nhalf = "fp32[K]"', "unknown name K"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(scale: Path, nvrtc: str, old: str, new: str, complaint: str) -> None:
    """With the header's file."""
    text = scale.read_text()
    assert old in text
    scale.write_text(text.replace(old, new))
    with pytest.raises(BadInput, match=complaint) as caught:
        _steps(scale)
    assert str(scale) in str(caught.value)


def test_other_problems_are_refused(scale: Path) -> None:
    """A type it is not for, a tuning value it does not have, a target of somebody else, a kernel that is not there."""
    with pytest.raises(BadInput, match="not for fp16; one of bf16, fp32"):
        _plan(scale, dtype="fp16")
    with pytest.raises(BadInput, match="unknown tuning value WARPS; its tuning values: THREADS"):
        _plan(scale, WARPS=3)
    with pytest.raises(BadInput, match="no whole number"):
        _plan(scale, THREADS="many")
    with pytest.raises(BadInput, match="not for gfx942"):
        program_of(_plan(scale), scale, CompileTarget.parse("gfx942"))
    with pytest.raises(BadInput, match="no such file"):
        header_of(scale.with_name("other.cu"))
    scale.write_text("__global__ void one() {}")
    with pytest.raises(BadInput, match="nothing says how its kernels are launched"):
        header_of(scale)


def test_a_kernel_that_is_not_there_is_the_compilers_to_say(scale: Path, nvrtc: str) -> None:
    """As it says it."""
    scale.write_text(scale.read_text().replace('launch = "joined<{T}>"', 'launch = "apart<{T}>"'))
    with pytest.raises(FindingError, match="apart"):
        program_of(_plan(scale), scale, TARGET)


def test_a_result_keeps_its_name_to_itself(scale: Path) -> None:
    """Whoever reads a record looks for out."""
    text = scale.read_text()
    scale.write_text(text.replace('y = "[elements]"', 'out = "[elements]"').replace("out = \"[elements]\"\n\n[scratch]", "z = \"[elements]\"\n\n[scratch]").replace('"y", "out"', '"out", "z"'))  # fmt: skip
    with pytest.raises(BadInput, match="names of results in a record"):
        _plan(scale)


def test_a_tuned_shape_takes_its_values(scale: Path) -> None:
    """Others keep the header's; what is asked for comes before both."""
    scale.write_text(scale.read_text() + '/* kb-tuned\n"1000" = { THREADS = 64 }\n*/\n')
    assert _plan(scale).names["THREADS"] == 64
    assert _plan(scale, (1001,)).names["THREADS"] == 128
    assert _plan(scale, THREADS=32).names["THREADS"] == 32
