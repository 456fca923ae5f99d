"""A wrong result, an unwritten element and a changed input never pass."""

from __future__ import annotations

import json
import math
from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch")

from kopt_kb.errors import BadInput, MissingTool  # noqa: E402
from kopt_kb.kernels.verification import verify  # noqa: E402

pytestmark = pytest.mark.torch


def _double(x, *, config=None, out=None):
    return out.copy_(x * 2)


def _idle(x, *, config, out):
    return out


def _elsewhere(x, *, config, out):
    return x * 2


def _inputs(shape, dtype, device, seed):
    return (torch.randn(*shape, generator=torch.Generator().manual_seed(seed)),)


KERNEL = SimpleNamespace(OP="elementwise", make_inputs=_inputs, reference=lambda x: x.double() * 2, launch=_double)


def _verify(launch, **more):
    arguments = {"seeds": (1, 2), "device": "cpu", "launch": launch} | more
    return verify(KERNEL, [(5, 7), (3, 2)], "fp32", **arguments)


def test_a_right_kernel_passes_on_each_shape_and_seed():
    """Two shapes and two seeds are four checks."""
    found = _verify(None)
    assert found.passed
    assert [(check.shape, check.seed) for check in found.checks] == [
        ((5, 7), 1), ((5, 7), 2), ((3, 2), 1), ((3, 2), 2)
    ]  # fmt: skip
    assert found.rel_l2_err((5, 7)) == 0.0


def test_a_kernel_that_skips_an_element_fails():
    """The output was poisoned with NaN before the run."""

    def launch(x, *, config, out):
        out.view(-1)[1:] = (x * 2).view(-1)[1:]
        return out

    found = _verify(launch)
    assert not found.passed
    assert "never written" in found.checks[0].problem
    assert math.isnan(found.rel_l2_err((5, 7)))


def test_a_kernel_that_writes_infinity_fails():
    """Infinity is not a large number here."""

    def launch(x, *, config, out):
        out.copy_(x * 2)[0, 0] = math.inf
        return out

    assert not _verify(launch).passed


def test_a_kernel_that_does_nothing_fails():
    """Memory of an earlier run can't stand in for a result."""
    assert not _verify(_idle).passed


def test_a_kernel_that_changes_its_input_fails():
    """Even when the result is right."""

    def launch(x, *, config, out):
        out.copy_(x * 2)
        x.zero_()
        return out

    assert "changed input 0" in _verify(launch).checks[0].problem


def test_a_kernel_that_returns_another_tensor_fails():
    """A launcher that allocates its own result escapes the poison."""
    assert "did not return the output" in _verify(_elsewhere).checks[0].problem


def test_an_error_beyond_the_tolerance_fails_and_one_within_passes():
    """fp32 allows 1e-5: 1e-3 is too much, 1e-6 is not."""

    def scaled(factor):
        def launch(x, *, config, out):
            return out.copy_(x * 2 * factor)

        return launch

    assert not _verify(scaled(1.001)).passed
    assert _verify(scaled(1.000001)).passed


def test_nothing_to_verify_is_an_error_not_a_pass():
    """No seeds or no shapes check nothing."""
    with pytest.raises(BadInput, match="nothing to verify"):
        _verify(None, seeds=())


def test_a_missing_gpu_is_named():
    """Verification on cuda does not move to the CPU by itself."""
    if torch.cuda.is_available():
        pytest.skip("this machine has a GPU")
    with pytest.raises(MissingTool, match="no GPU"):
        _verify(None, device="cuda")


def test_json_holds_no_nan():
    """A failed check's numbers become null."""
    data = _verify(_idle).to_json()
    assert json.loads(json.dumps(data, allow_nan=False))["checks"][0]["rel_l2_err"] is None
    assert data["passed"] is False
