"""The project file is read strictly: what it means, and what it may not say."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kopt_kb.launch.project.file import Column, ProjectFile, line_of
from kopt_kb.launch.project.toml_file import ProjectFileError

Read = Callable[..., ProjectFile]


def test_the_whole_file(read: Read) -> None:
    """Every key of the small project arrives."""
    found = read()
    assert (found.op, found.dtype, found.shapes, found.kernel_source) == ("gemm", "fp16", (), "ops/gemm.py")
    assert (found.editable, found.protected) == (("ops/*.py",), ("tests/**", "benchmark/**"))
    assert sorted(found.commands) == ["benchmark", "quick", "test"]
    assert found.csv.columns == ("label", "M", "N", "K", "Check", "Forward TFLOPS")
    assert found.csv.forward == Column("Forward TFLOPS", "TFLOPS")
    assert found.scoring.performance_target == "> 30 TFLOPS"
    assert found.is_python and found.quick_command() == found.commands["quick"]


def test_a_benchmark_that_takes_shapes_is_its_own_quick_command(read: Read) -> None:
    """Without it and without a quick command there is none."""
    quick = 'quick = { run = "{python} benchmark/bench_gemm.py --csv {csv} --shapes {shapes}", limit_s = 500 }'
    assert read((quick, "")).quick_command() is None
    takes = ('--csv {csv}", limit_s = 600', '--csv {csv} --shapes {shapes}", limit_s = 600')
    shapes = ('shapes = "all"', 'shapes = ["64x64x64"]')
    found = read((quick, ""), takes, shapes)
    assert found.quick_command() == found.commands["benchmark"]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('op = "gemm"', "", "op is missing"),
        ('op = "gemm"', 'op = "gemm"\nopp = "x"', "opp is no key"),
        ('shapes = "all"', "shapes = []", "shapes is empty"),
        ('shapes = "all"', 'shapes = "64x64x64"', "has to be one of all or a list, not '64x64x64'"),
        ('"ops/*.py"', '"../other/*.py"', "outside the project"),
        ('"ops/gemm.py"', '"/etc/passwd"', "outside the project"),
        ('editable = ["ops/*.py"]', "editable = []", "is empty"),
        ("test = {", "tests = {", "tests is no key"),
        ('unit = "TFLOPS"', 'unit = "TFLOP"', r"\[csv\] forward.unit has to be one of GFLOPS, .*, not 'TFLOP'"),
        (
            'forward = { column = "Forward TFLOPS"',
            'forward = { name = "Forward TFLOPS"',
            r"\[csv\] forward.column is missing",
        ),
        ('shape = ["M", "N", "K"]', 'shape = ["M", "N", "Check"]', "columns of their own"),
        ('metric = "forward"', 'metric = "backward"', "one of forward, combined"),
        ('metric = "forward"', 'metric = "combined"', "no backward column"),
        ('metric = "forward"', 'aggregate = "mean"', "one of geomean"),
        ("[project]\n", f'[project]\nroot = "{300 * "a"}"\n', "too long for a file"),
        ('"ops/gemm.py"', f'"ops/{300 * "é"}.py"', "too long for a file"),
        ('performance_target = "> 30 TFLOPS"', "performance_target = 30", "has to be text, not 30"),
        ('--csv {csv}", limit_s = 600', '--csv {csv} --shapes {shapes}", limit_s = 600', "asks for {shapes}"),
    ],
)
def test_what_it_may_not_say(read: Read, old: str, new: str, words: str) -> None:
    """One line with file and line."""
    with pytest.raises(ProjectFileError, match=words) as caught:
        read((old, new))
    assert caught.value.where.startswith("project.toml:")


def test_core_and_representative_shapes_have_to_be_shapes(read: Read) -> None:
    """Checked against a list; against what the benchmark prints once that is known."""
    shapes = ('shapes = "all"', 'shapes = ["64x64x64"]')
    with pytest.raises(ProjectFileError, match="core_shapes names 32x32x32"):
        read(shapes, ('metric = "forward"', 'core_shapes = ["32x32x32"]'))


def test_the_line_of_a_key() -> None:
    """For errors that only show once more than the file is known."""
    assert line_of(b'[scoring]\n\nmetric = "forward"\n', "p.toml", "scoring", "metric") == "p.toml:3"
