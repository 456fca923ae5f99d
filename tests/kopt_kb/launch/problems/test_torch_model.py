"""KernelBench files: weights are inputs, the reference is exact, `ModelNew` is called with the same weights."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from kopt_kb.base.errors import BadInput  # noqa: E402
from tests.kopt_kb.launch.problems.conftest import KERNELBENCH, candidate, loaded  # noqa: E402

pytestmark = pytest.mark.torch


def test_inputs_follow_from_the_seed_and_hold_the_weights(bench_file, tmp_path):
    """Tensor, weight and bias; the scalar is no tensor."""
    problem = loaded(bench_file, tmp_path / "r.py")
    one, two = (problem.make_inputs((8, 32), "bf16", "cpu", seed) for seed in (1, 2))
    assert problem.PROBLEM.names == ("x", "model.scale.weight", "model.scale.bias")
    assert [one.dtype for one in one] == [torch.bfloat16] * 3
    assert all(torch.equal(a, b) for a, b in zip(one, problem.make_inputs((8, 32), "bf16", "cpu", 1), strict=True))
    assert not any(torch.equal(a, b) for a, b in zip(one, two, strict=True))
    with pytest.raises(BadInput, match="no shape 4x32"):
        problem.make_inputs((4, 32), "bf16", "cpu", 1)


def test_the_reference_is_float64_of_the_same_inputs(bench_file, tmp_path):
    """By hand in float64, to the last digit that counts."""
    problem = loaded(bench_file, tmp_path / "r.py")
    x, weight, bias = problem.make_inputs((8, 32), "bf16", "cpu", 1)
    y = x.double() @ weight.double().T + bias.double()
    expected = y / torch.sqrt((y**2).mean(1, keepdim=True) + 1e-5)
    found = problem.reference(x, weight, bias)
    assert found.dtype == torch.float64
    assert torch.allclose(found, expected, rtol=1e-14)
    assert problem.published(x, weight, bias).dtype == torch.bfloat16


def test_a_candidate_gets_the_weights_by_name_or_by_order(bench_file, tmp_path):
    """Both answers are those of the reference, whatever ModelNew drew for itself."""
    problem = loaded(bench_file, tmp_path / "r.py")
    inputs = problem.make_inputs((8, 32), "fp32", "cpu", 3)
    for old, new in (("Model", "ModelNew"), ("self.scale", "self.other")):
        text = KERNELBENCH.replace("class Model(", "class ModelNew(").replace(
            *((old, old) if old == "Model" else (old, new))
        )
        launch = problem.launcher(candidate(text, tmp_path / "c.py"))
        assert torch.allclose(launch(*inputs).double(), problem.reference(*inputs), rtol=1e-4, atol=1e-5)
        out = torch.empty(8, 32)
        assert launch(*inputs, out=out) is out


@pytest.mark.parametrize(
    ("change", "says"),
    [(("class Model(", "class Other("), "no class ModelNew"), (("class Model(", "class ModelNew("), "other weights")],
)
def test_a_candidate_that_can_not_be_called_is_refused(bench_file, tmp_path, change, says):
    """Without the class, or with weights of other shapes."""
    problem = loaded(bench_file, tmp_path / "r.py")
    inputs = problem.make_inputs((8, 32), "fp32", "cpu", 3)
    text = KERNELBENCH.replace(*change).replace("nn.Linear(width, width)", "nn.Linear(width, 2 * width)")
    with pytest.raises(BadInput, match=says):
        problem.launcher(candidate(text, tmp_path / "c.py"))(*inputs)


def test_its_own_shape_is_that_of_its_first_tensor(bench_file, tmp_path):
    """Nobody writes it down: get_inputs makes it."""
    assert loaded(bench_file, tmp_path / "r.py").PROBLEM.own_shape() == (8, 32)
