"""Two versions of a file on the same inputs, in this process, without kernels."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.launch.kernel import prepared
from kopt_kb.launch.kernel.prepared import compare, main

LAUNCH = """import torch
def make_inputs(shape, dtype, device="cpu"):
    return (torch.ones(shape),)
def launch(x):
    return {"y": x * FACTOR, "more": [x.to(torch.int32)]}
"""


def _files(tmp_path: Path, one: str, two: str) -> tuple[str, str]:
    for name, text in (("one.py", one), ("two.py", two)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    return str(tmp_path / "one.py"), str(tmp_path / "two.py")


def test_equal_and_different(tmp_path: Path) -> None:
    one, two = _files(tmp_path, LAUNCH.replace("FACTOR", "2"), LAUNCH.replace("FACTOR", "2.5"))
    same = compare(one, one, "", (4, 4), "fp16", ())
    assert (same.outputs, same.equal_bits, same.max_difference) == (2, True, 0.0)
    other = compare(one, two, "", (4, 4), "fp16", ())
    assert (other.equal_bits, other.max_difference) == (False, 0.5)


def test_not_a_number_equals_itself_and_shapes_must_agree(tmp_path: Path) -> None:
    nan = "import torch\ndef run(module):\n    return torch.full((2,), float('nan'))\nclass TileirChoice:\n    refused = 'why'\nk = TileirChoice()\n"
    one, two = _files(tmp_path, nan, nan)
    found = compare(one, two, "", (), "", ())
    assert (found.equal_bits, found.refused) == (True, ("k: why",))
    driver = tmp_path / "driver.py"
    driver.write_text(
        "import torch\ndef run(module):\n    return torch.zeros(2 if 'original' in module.__name__ else 3)\n",
        encoding="utf-8",
    )
    assert compare(one, two, str(driver), (), "", ()).max_difference is None


def test_times_by_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    import triton

    monkeypatch.setattr(triton.testing, "do_bench", lambda call, **_: float(call()["y"].numel()))
    one, two = _files(tmp_path, LAUNCH.replace("FACTOR", "2"), LAUNCH.replace("FACTOR", "2"))
    main([one, two, "", "4x4", "fp16", "2,3"])
    line = capsys.readouterr().out.strip()
    assert line.startswith(prepared.MARK)
    assert '"times":[{"original_ms":4.0,"prepared_ms":4.0,"size":2},{"original_ms":9.0' in line


def test_a_driver_that_starts_nothing(tmp_path: Path) -> None:
    one, two = _files(tmp_path, "", "")
    with pytest.raises(AttributeError, match="no run"):
        compare(one, two, "", (), "", ())
