"""Problems of a table: drawn inputs, references of a workload, candidates that return or are given their results."""

from __future__ import annotations

from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")

from kopt_kb.problem.table import Workload  # noqa: E402
from tests.kopt_kb.launch.problems.conftest import ROPE, candidate, loaded  # noqa: E402

pytestmark = pytest.mark.torch

GIVEN = """
def run(x, cos, sin, out):
    a, b = x.float().chunk(2, dim=-1)
    out[:, : x.shape[1] // 2] = a * cos - b * sin
    out[:, x.shape[1] // 2 :] = a * sin + b * cos
"""


def test_inputs_have_the_shapes_and_types_of_the_table(rope_file, tmp_path):
    """A constant of a dimension is one too; angles stay within one."""
    problem = loaded(rope_file, tmp_path / "r.py")
    x, cos, sin = problem.make_inputs((6, 16), "bf16", "cpu", 1)
    assert (x.shape, cos.shape, x.dtype, cos.dtype) == ((6, 16), (6, 8), torch.bfloat16, torch.float32)
    assert float(cos.abs().max()) <= 1
    assert not torch.equal(cos, sin)
    assert not torch.equal(x, problem.make_inputs((6, 16), "bf16", "cpu", 2)[0])


@pytest.mark.parametrize("outputs", ["", '[outputs]\nout = "SxD"\n'])
def test_a_candidate_returns_its_result_or_is_given_it(rope_file, tmp_path, outputs):
    """The number of its parameters says which."""
    rope_file.write_text(rope_file.read_text() + outputs)
    problem = loaded(rope_file, tmp_path / "r.py")
    text = GIVEN if outputs else ROPE.replace("def reference", "def rope")
    launch = problem.launcher(candidate(text, tmp_path / "c.py"))
    for shape in ((4, 8), (6, 16)):
        inputs = problem.make_inputs(shape, "bf16", "cpu", 1)
        found = launch(*inputs)
        assert found.dtype == torch.bfloat16
        assert torch.allclose(found.double(), problem.reference(*inputs), atol=2e-2)


def test_inputs_of_several_workloads_keep_their_own_scalars(rope_file, tmp_path):
    """Two cases live side by side: what is called depends on the tensors and not on what was made last."""
    text = rope_file.with_name("rope.py")
    text.write_text("def reference(x, scale):\n    return x * scale\n")
    rope_file.write_text(
        rope_file.read_text().split("[constants]")[0].replace('"4x8", "6x16"', '"4x8"')
        + '[inputs]\nx = "SxD"\nscale = "S"\n'
    )
    problem = loaded(rope_file, tmp_path / "r.py").PROBLEM
    workloads = {"4x8": Workload({"scale": 2.0}), "6x16": Workload({"scale": 3.0})}
    problem._table = replace(problem._table, workloads=workloads)
    (one,), (two,) = (problem.make_inputs(shape, "fp32", "cpu", 1) for shape in ((4, 8), (6, 16)))
    assert torch.equal(problem.reference(one), 2.0 * one.double())
    assert torch.equal(problem.reference(two), 3.0 * two.double())


def test_declared_strides_and_integers(rope_file, tmp_path):
    """A transposed layout and indices below a bound, as the table says."""
    rope_file.with_name("rope.py").write_text("def reference(x, at):\n    return x[:, at.long()]\n")
    head = rope_file.read_text().split("[constants]")[0].replace('"4x8", "6x16"', '"4x8"')
    inputs = 'x = { shape = "SxD", strides = [1, 4] }\nat = { shape = "D", dtype = "int32", low = 0, high = 8 }\n'
    rope_file.write_text(f"{head}[inputs]\n{inputs}")
    x, at = loaded(rope_file, tmp_path / "r.py").make_inputs((4, 8), "bf16", "cpu", 1)
    assert x.stride() == (1, 4)
    assert at.dtype == torch.int32
    assert 0 <= int(at.min()) <= int(at.max()) < 8
