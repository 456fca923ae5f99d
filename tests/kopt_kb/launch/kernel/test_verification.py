"""An unwritten element, a changed input and a result elsewhere are seen; the result's shape is the reference's."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from kopt_kb.launch.kernel.verification import output_shape, produce  # noqa: E402

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


def test_an_operation_names_the_storage_type_of_its_result() -> None:
    """A product of fp8 leaves bf16: an output of the inputs' type could not hold it."""
    given = (torch.ones(2, 2, dtype=torch.float8_e4m3fn),)
    kinds = [produce(_idle, given, (2, 2), op=op)[0].dtype for op in ("fp8_gemm", "gemm", "")]
    assert kinds == [torch.bfloat16, torch.float8_e4m3fn, torch.float8_e4m3fn]


def test_the_shape_of_a_result_is_that_of_its_reference() -> None:
    """From a file that is no operation of the package: its reference is asked."""

    def make_inputs(shape: tuple[int, ...], dtype: str, device: str, seed: int) -> tuple[Any, ...]:
        return (torch.ones(*shape),)

    kernel = SimpleNamespace(make_inputs=make_inputs, reference=lambda x: x.double().sum(-1))
    assert output_shape(kernel, (5, 7), "fp32", 1, "cpu") == (5,)


def test_a_launcher_of_several_results_returns_its_own() -> None:
    """They are what it gave; a changed input is seen there too. Indices do not choose the type of an output."""
    made, _ = produce(lambda x, **_: (x + 1, x.sum()), (torch.ones(2),), None)
    assert [one.tolist() for one in made] == [[2, 2], 2]
    assert produce(lambda x, **_: (x.zero_(), x), (torch.ones(2),), None)[1] == "the kernel changed input 0"
    out, _ = produce(lambda *_, out, **__: out, (torch.zeros(2, dtype=torch.int64), torch.ones(2)), (2,))
    assert out.dtype == torch.float32
    two = SimpleNamespace(make_inputs=lambda *_: (torch.ones(4),), reference=lambda x: (x.double(), x.double()))
    assert output_shape(two, (4,), "fp32", 0, "cpu") is None
