"""Outputs cross from one process to another as tensors and nothing else."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="needs torch (extra gpu)")

from kopt_kb.base.errors import BadInput  # noqa: E402
from kopt_kb.launch.kernel.output_file import load_output, release_memory, save_output  # noqa: E402

pytestmark = pytest.mark.torch


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_tensor_comes_back_bit_for_bit(tmp_path: Path, dtype: torch.dtype) -> None:
    """NaN, infinity and minus zero included."""
    out = torch.tensor([[float("nan"), float("inf")], [-0.0, 1.5]], dtype=dtype)
    save_output(out, tmp_path / "0.pt")
    back = load_output(tmp_path / "0.pt", "cpu")
    assert back.dtype == dtype
    assert torch.equal(back.view(torch.uint8), out.view(torch.uint8))


def test_anything_but_a_tensor_is_refused(tmp_path: Path) -> None:
    """A pickle of another kind is not loaded."""
    (tmp_path / "0.pt").write_bytes(pickle.dumps(Path("x")))
    with pytest.raises(Exception, match="(?i)weights|unpickl|legacy|invalid"):
        load_output(tmp_path / "0.pt", "cpu")


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    """A dictionary is no output."""
    torch.save({"out": torch.zeros(1)}, tmp_path / "0.pt")
    with pytest.raises(BadInput, match="dict"):
        load_output(tmp_path / "0.pt", "cpu")


def test_several_results_come_back_in_order(tmp_path: Path) -> None:
    """As a tuple, however they were given; with something else among them they are none."""
    save_output([torch.ones(2), torch.zeros(3, dtype=torch.int64)], tmp_path / "0.pt")
    one, two = load_output(tmp_path / "0.pt", "cpu")
    assert (one.tolist(), two.tolist(), two.dtype) == ([1, 1], [0, 0, 0], torch.int64)
    torch.save([torch.ones(2), 3], tmp_path / "1.pt")
    with pytest.raises(BadInput, match="list"):
        load_output(tmp_path / "1.pt", "cpu")


def test_memory_is_released_without_a_gpu_too() -> None:
    """Nothing happens where there is none."""
    release_memory()
