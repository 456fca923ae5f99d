"""The reference process: raw inputs from a seed, and distances of outputs from float64."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kopt_kb.base.wire import canonical
from kopt_kb.launch.record.model import TensorView
from kopt_kb.launch.record.reference import CompareFile, Prepare

pytestmark = pytest.mark.torch
LAUNCHERS = Path(__file__).resolve().parents[3] / "data" / "launchers.py"


@pytest.fixture
def ask() -> Iterator[Any]:
    """Asks one running reference process."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("triton")
    if torch.cuda.is_available():
        pytest.skip("the inputs would be made on the GPU")
    child = subprocess.Popen(
        [sys.executable, "-P", "-m", "kopt_kb.launch.record.reference"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip

    def line(what: Any) -> dict[str, Any]:
        child.stdin.write(canonical(what.to_json()).decode() + "\n")
        child.stdin.flush()
        return json.loads(child.stdout.readline())

    with child:
        yield line


def test_inputs_and_distances(ask: Any, tmp_path: Path) -> None:
    """The sum rounded to fp32 passes; one wrong element fails; NaN has no distance."""
    import torch

    prepared = ask(Prepare(str(LAUNCHERS), (1000,), "fp32", 5, str(tmp_path)))
    x, y = (torch.frombuffer(bytearray(Path(one).read_bytes()), dtype=torch.float32) for one in prepared["files"])
    assert not torch.equal(x, y)
    view, file = TensorView("out", 0, (1000,), (1,), "fp32"), tmp_path / "0.bin"
    file.write_bytes((x + y).numpy().tobytes())
    right = ask(CompareFile(str(file), view))
    assert right["problem"] == ""
    assert right["rel_l2_err"] < 1e-6
    wrong = x + y
    wrong[7] += 1
    file.write_bytes(wrong.numpy().tobytes())
    assert "above" in ask(CompareFile(str(file), view))["problem"]
    wrong[7] = float("nan")
    file.write_bytes(wrong.numpy().tobytes())
    assert ask(CompareFile(str(file), view))["rel_l2_err"] is None
    assert "shape" in ask(CompareFile(str(file), TensorView("out", 0, (500,), (1,), "fp32")))["problem"]


def test_a_view_that_the_bytes_do_not_have_is_an_answer(ask: Any, tmp_path: Path) -> None:
    """Narrower elements than the problem's, a view beyond the bytes; wider elements are compared as they are."""
    import torch

    prepared = ask(Prepare(str(LAUNCHERS), (1000,), "bf16", 5, str(tmp_path)))
    x, y = (torch.frombuffer(bytearray(Path(one).read_bytes()), dtype=torch.bfloat16) for one in prepared["files"])
    file = tmp_path / "0.bin"
    file.write_bytes((x.float() + y.float()).numpy().tobytes())
    assert ask(CompareFile(str(file), TensorView("out", 0, (1000,), (1,), "fp32")))["problem"] == ""
    assert "fp8e5" in ask(CompareFile(str(file), TensorView("out", 0, (1000,), (1,), "fp8e5")))["problem"]
    assert ask(CompareFile(str(file), TensorView("out", 500, (1000,), (1,), "fp32")))["problem"]
    assert ask(Prepare(str(LAUNCHERS), (4,), "no type", 5, str(tmp_path)))["error"]


def test_a_reference_file_that_fails_is_an_answer(ask: Any, tmp_path: Path) -> None:
    """The process goes on."""
    broken = tmp_path / "broken.py"
    broken.write_text("raise ValueError('no')\n")
    assert "import fails" in ask(Prepare(str(broken), (4,), "fp32", 1, str(tmp_path)))["error"]
    assert ask(Prepare(str(LAUNCHERS), (4,), "fp32", 1, str(tmp_path)))["error"] == ""


def test_inputs_are_written_as_they_lie_in_memory(ask: Any, tmp_path: Path) -> None:
    """A transposed input and an expanded one: the bytes are the storage's, which the record's strides count in."""
    import torch

    file = tmp_path / "strided.py"
    file.write_text(
        "import torch\n"
        "def make_inputs(shape, dtype, device, seed):\n"
        "    x = torch.arange(6, dtype=torch.float32).reshape(2, 3)\n"
        "    return x.t(), x[1].expand(4, 3)\n"
        "def reference(x, y):\n"
        "    return x.double()\n"
    )
    files = ask(Prepare(str(file), (3, 2), "fp32", 1, str(tmp_path)))["files"]
    read = [torch.frombuffer(bytearray(Path(one).read_bytes()), dtype=torch.float32).tolist() for one in files]
    assert read == [[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [3.0, 4.0, 5.0]]
