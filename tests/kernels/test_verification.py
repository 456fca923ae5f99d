"""An unwritten element, a changed input and a result elsewhere are seen; the result's shape is the reference's."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from kopt_kb.kernels.verification import output_shape, produce  # noqa: E402

pytestmark = pytest.mark.torch


def _double(x: Any, *, config: object, out: Any) -> Any:
    return out.copy_(x * 2)


def _one_element(x: Any, *, config: object, out: Any) -> Any:
    out.view(-1)[0] = 2 * x.view(-1)[0]
    return out


def _zeroes_its_input(x: Any, *, config: object, out: Any) -> Any:
    out.copy_(x * 2)
    x.zero_()
    return out


def _idle(x: Any, *, config: object, out: Any) -> Any:
    return out


def _elsewhere(x: Any, *, config: object, out: Any) -> Any:
    return x * 2


@pytest.mark.parametrize(
    ("launch", "nans", "problem"),
    [
        (_double, 0, ""),
        (_one_element, 34, ""),
        (_idle, 35, ""),
        (_zeroes_its_input, 0, "the kernel changed input 0"),
        (_elsewhere, 35, "the launcher did not return the output it was given"),
    ],
)
def test_a_launcher_writes_into_poisoned_memory(launch: Callable[..., Any], nans: int, problem: str) -> None:
    """What it does not write stays NaN; what it may not do is said."""
    out, said = produce(launch, (torch.ones(5, 7),), (5, 7), {"BLOCK": 1})
    assert (int(out.isnan().sum()), said) == (nans, problem)


def test_the_shape_of_a_result_is_that_of_its_reference() -> None:
    """From a file that is no operation of the package: its reference is asked."""

    def make_inputs(shape: tuple[int, ...], dtype: str, device: str, seed: int) -> tuple[Any, ...]:
        return (torch.ones(*shape),)

    kernel = SimpleNamespace(make_inputs=make_inputs, reference=lambda x: x.double().sum(-1))
    assert output_shape(kernel, (5, 7), "fp32", 1, "cpu") == (5,)
