"""References in pieces: the same values in any number of them, within a small bound of memory."""

from __future__ import annotations

import importlib
import math
from types import SimpleNamespace
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton")

from kopt_kb.launch.kernel.blocked import ReferenceMemoryError, available_bytes, reference_result, result_shape  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.triton]

SHAPES = {
    "attention": (2, 4, 33, 16), "cross_entropy": (13, 50), "elementwise": (17, 9), "layer_norm": (13, 40),
    "matmul": (13, 22, 50), "reduction": (13, 40), "rms_norm": (13, 40), "softmax": (13, 40), "swiglu": (17, 9),
}  # fmt: skip


def _counted(name: str) -> tuple[Any, list[int]]:
    module = importlib.import_module(f"kopt_kb.kernels.{name}")
    calls: list[int] = []

    def attention(q: Any, k: Any, v: Any, *, causal: bool = True, first: int = 0) -> Any:
        calls.append(q.numel())
        return module.reference(q, k, v, causal=causal, first=first)

    def plain(*inputs: Any) -> Any:
        calls.append(inputs[0].numel())
        return module.reference(*inputs)

    return SimpleNamespace(OP=module.OP, reference=attention if name == "attention" else plain), calls


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("most_bytes", [20_000, 5_000, 1])
def test_pieces_give_the_same_values_as_the_whole(name: str, most_bytes: int) -> None:
    """Every packaged operation, in few pieces and in as many as there can be."""
    module = importlib.import_module(f"kopt_kb.kernels.{name}")
    inputs = module.make_inputs(SHAPES[name], "fp32", "cpu", 3)
    cut, calls = _counted(name)
    whole = module.reference(*inputs)
    assert torch.allclose(reference_result(cut, inputs, most_bytes=most_bytes), whole, rtol=1e-13, atol=1e-13)
    # Of one call that only asks for the shape the tensors have no memory; a sum over rows holds nothing to cut.
    assert len(calls) > 2 or name == "reduction" or most_bytes > 1


def test_grouped_heads_are_cut_with_their_keys() -> None:
    """Four query heads over two key heads: no piece takes a part of a group."""
    module, _ = _counted("attention")
    q, k, v = importlib.import_module("kopt_kb.kernels.attention").make_inputs((2, 4, 9, 8), "fp32", "cpu", 5)
    inputs = (q, k[:, :2].contiguous(), v[:, :2].contiguous())
    whole = module.reference(*inputs)
    assert torch.allclose(reference_result(module, inputs, most_bytes=1), whole, rtol=1e-13, atol=1e-13)


def test_full_attention_without_the_keyword_is_cut_by_head_only() -> None:
    """A reference of one's own that does not know where a piece begins is not cut along its queries."""
    seen: list[tuple[int, ...]] = []

    def reference(q: Any, k: Any, v: Any) -> Any:
        seen.append(tuple(q.shape))
        return torch.softmax(q.double() @ k.double().mT / math.sqrt(8), -1) @ v.double()

    module = SimpleNamespace(OP="attention", reference=reference)
    inputs = tuple(torch.randn(2, 3, 9, 8) for _ in range(3))
    found = reference_result(module, inputs, most_bytes=1)
    assert torch.allclose(found, reference(*inputs), rtol=1e-13, atol=1e-13)
    assert (1, 1, 9, 8) in seen
    assert all(one[2] == 9 for one in seen)


def test_a_result_of_one_number_is_never_cut() -> None:
    """The mean of parts' means is another number."""
    module = SimpleNamespace(OP="cross_entropy", reference=lambda x, t: x.double().gather(1, t[:, None]).mean())
    x, target = torch.randn(7, 5), torch.arange(7) % 5
    assert float(reference_result(module, (x, target), most_bytes=1)) == pytest.approx(
        float(module.reference(x, target))
    )


@pytest.mark.parametrize(("op", "words"), [("softmax", "in pieces"), ("nothing", "no way to cut it")])
def test_memory_that_runs_out_names_the_shape_and_what_to_do(op: str, words: str) -> None:
    """It is an outcome of its own, and more pieces are tried first."""
    tried: list[int] = []

    def reference(x: Any) -> Any:
        if x.is_meta:
            return x.double()
        tried.append(x.shape[0])
        raise MemoryError

    with pytest.raises(ReferenceMemoryError) as caught:
        reference_result(SimpleNamespace(OP=op, reference=reference), (torch.ones(8, 3),))
    assert "8x3" in caught.value.what
    assert words in caught.value.what
    assert "smaller shape" in caught.value.fix
    assert tried == ([8, 2, 1] if op == "softmax" else [8])


def test_other_errors_are_the_references_own() -> None:
    """Nothing is tried again."""
    module = SimpleNamespace(OP="softmax", reference=lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        reference_result(module, (torch.ones(2, 2),))
    assert result_shape(module, (torch.ones(2, 2),)) is None
    assert available_bytes(torch.device("cpu")) > 1 << 20
