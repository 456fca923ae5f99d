"""Slots filled and read through files: every trial in turn, equal contents for two sides, faults as answers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton")

from kopt_kb.launch.kernel.judgement import trials_of  # noqa: E402
from kopt_kb.launch.record.contents import Contents, answered, span_of, tensor_of  # noqa: E402
from kopt_kb.launch.record.exchange import Close, CompareSlots, FillSlots, Open, Slot, Window  # noqa: E402
from kopt_kb.launch.record.model import TensorView  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.triton]
SOFTMAX = Path(__file__).resolve().parents[4] / "kernels" / "softmax.py"
SHAPE, SIZE = (8, 64), 8 * 64 * 4


@pytest.fixture
def contents() -> Contents:
    """The reference's side, on the CPU."""
    if torch.cuda.is_available():
        pytest.skip("contents would be made on the GPU")
    return Contents()


def _offer(key: str, folder: Path, count: int = 2) -> Open:
    slots = tuple(
        Slot(
            (Window("x", SIZE, path=str(folder / f"{key}{number}.in")),),
            (Window("out", SIZE, path=str(folder / f"{key}{number}.out")),),
        )
        for number in range(count)
    )
    view = TensorView("out", 0, SHAPE, (64, 1), "fp32")
    return Open(key, str(SOFTMAX), SHAPE, "fp32", (view,), slots)


def _softmax(folder: Path, key: str, slot: int, factor: float = 1.0) -> bytes:
    raw = (folder / f"{key}{slot}.in").read_bytes()
    x = torch.frombuffer(bytearray(raw), dtype=torch.float32).reshape(SHAPE)
    (folder / f"{key}{slot}.out").write_bytes((torch.softmax(x, -1) * factor).numpy().tobytes())
    return raw


def test_a_check_goes_through_every_trial_and_then_begins_again(contents: Contents, tmp_path: Path) -> None:
    """Second runs follow their first; a right kernel passes all of them, a wrong one fails by name."""
    assert answered(contents, _offer("c", tmp_path)).error == ""
    runs = sum(one.parts for one in trials_of("softmax"))
    kinds: list[str] = []
    for _ in range(runs // 2 + 1):
        filled = answered(contents, FillSlots("c", (0, 1), check=True))
        kinds += filled.kinds
        for slot in (0, 1):
            _softmax(tmp_path, "c", slot)
        assert [one.problem for one in answered(contents, CompareSlots("c", (0, 1))).results] == ["", ""]
    assert kinds[0] == "random" and kinds[runs] == "random"
    assert {one.split(",")[0] for one in kinds} == {one.name for one in trials_of("softmax")}
    assert "shifted logits, second run" in kinds
    answered(contents, FillSlots("c", (0,)))
    _softmax(tmp_path, "c", 0, 1.1)
    (wrong,) = answered(contents, CompareSlots("c", (0,))).results
    assert "above" in wrong.problem
    assert wrong.rel_l2_err == pytest.approx(0.1, rel=1e-3)
    assert answered(contents, Close("c")).error == ""
    assert "nothing was opened" in answered(contents, CompareSlots("c", (0,))).error


def test_two_sides_get_the_same_contents_and_every_filling_others(contents: Contents, tmp_path: Path) -> None:
    """`like` is equal byte for byte; timed contents are dense and new each time."""
    for key in ("a", "b"):
        answered(contents, _offer(key, tmp_path))
    first = answered(contents, FillSlots("a", (0, 1)))
    assert answered(contents, FillSlots("b", (0, 1), like="a")).seeds == first.seeds
    raw = [_softmax(tmp_path, key, slot) for key in ("a", "b") for slot in (0, 1)]
    assert raw[:2] == raw[2:]
    assert raw[0] != raw[1]
    for key in ("a", "b"):
        assert all(one.problem == "" for one in answered(contents, CompareSlots(key, (0, 1))).results)
    dense = {one.name for one in trials_of("softmax") if one.dense}
    seen = {kind for _ in range(12) for kind in answered(contents, FillSlots("a", (0, 1))).kinds}
    assert seen <= dense
    assert len(seen) > 1
    assert answered(contents, FillSlots("a", (0,))).seeds != first.seeds[:1]


def test_contents_that_are_used_again(contents: Contents, tmp_path: Path) -> None:
    """A pool of eight a problem, its float64 results kept; fresh contents are none of them."""
    answered(contents, _offer("a", tmp_path, 8))
    first = answered(contents, FillSlots("a", tuple(range(8)), again=True)).seeds
    again = answered(contents, FillSlots("a", tuple(range(8)), again=True)).seeds
    assert len(set(first)) == 8 and set(first) == set(again)
    for slot in range(8):
        _softmax(tmp_path, "a", slot, 1.1 if slot == 3 else 1.0)
    for _ in range(2):  # computed, then kept
        results = answered(contents, CompareSlots("a", tuple(range(8)))).results
        assert [bool(one.problem) for one in results] == [slot == 3 for slot in range(8)]
    assert set(answered(contents, FillSlots("a", (0, 1))).seeds).isdisjoint(first)


_WRITES = """
OP = "softmax"

import torch


def make_inputs(shape, dtype, device="cuda", seed=0):
    return (torch.rand(shape, generator=torch.Generator(device).manual_seed(seed), device=device),)


def reference(x):
    wide = x.double() + 1
    x.zero_()
    return wide
"""


def test_a_reference_that_writes_to_its_inputs(contents: Contents, tmp_path: Path) -> None:
    """They are made again from the seed: the next launch gets what the first got."""
    file = tmp_path / "writes.py"
    file.write_text(_WRITES)
    answered(contents, replace(_offer("a", tmp_path, 8), file=str(file)))
    answered(contents, FillSlots("a", tuple(range(8)), again=True))
    before = {(tmp_path / f"a{slot}.in").read_bytes() for slot in range(8)}
    for slot in range(8):
        _softmax(tmp_path, "a", slot)
    answered(contents, CompareSlots("a", tuple(range(8))))
    answered(contents, FillSlots("a", tuple(range(8)), again=True))
    assert {(tmp_path / f"a{slot}.in").read_bytes() for slot in range(8)} == before


def test_what_can_not_be_is_an_answer(contents: Contents, tmp_path: Path) -> None:
    """A slot that was not filled, another size, an output that is not there, a key that nobody opened."""
    offer = _offer("c", tmp_path)
    answered(contents, offer)
    assert "not filled" in answered(contents, CompareSlots("c", (0,))).results[0].problem
    answered(contents, FillSlots("c", (0,)))
    assert "0 bytes" in answered(contents, CompareSlots("c", (0,))).error
    assert "nothing was opened" in answered(contents, FillSlots("other", (0,))).error
    assert "were not filled" in answered(contents, FillSlots("c", (1,), like="c")).error
    small = Slot((Window("x", 8, path=str(tmp_path / "small")),), offer.slots[0].outputs)
    answered(contents, Open("s", offer.file, SHAPE, "fp32", offer.outputs, (small,)))
    assert "the record 8" in answered(contents, FillSlots("s", (0,))).error
    assert "no such file" in answered(contents, Open("n", str(tmp_path / "none.py"), SHAPE, "fp32", (), ())).error


def test_bytes_as_they_lie_in_memory() -> None:
    """A transposed tensor and an expanded one; a result of a narrower type, or beyond its bytes, is none."""
    x = torch.arange(6, dtype=torch.float32).reshape(2, 3)
    assert span_of(x.t()).view(torch.float32).tolist() == [0, 1, 2, 3, 4, 5]
    assert span_of(x[1].expand(4, 3)).view(torch.float32).tolist() == [3, 4, 5]
    assert span_of(x[:0]).numel() == 0
    raw = span_of(x)
    assert tensor_of(raw, TensorView("out", 1, (2,), (3,), "fp32"), (x,)).tolist() == [1, 4]
    assert "fp16" in tensor_of(raw, TensorView("out", 0, (2,), (1,), "fp16"), (x,))
    assert "byte 28 of 24" in tensor_of(raw, TensorView("out", 5, (2,), (1,), "fp32"), (x,))
