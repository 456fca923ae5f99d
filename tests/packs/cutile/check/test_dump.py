"""What tileiras makes is counted and written side by side."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from kopt_kb.cli.main import main
from kopt_kb.launch.compile.remarks import CompilerRemark
from kopt_kb.launch.compile.request import Compilation, CompileRequest
from kopt_kb.packs.cutile.check import dump
from kopt_kb.packs.cutile.check.dump import DumpedKernel, DumpedTiles, operations_of, written

TEXT = """entry @product(%arg0: tile<ptr<f16>>) {
  %0 = make_token : token
  %1:2 = get_index_space_shape %pview : x
  %for = for %i in (%a to %b, step %c) : tile<i32> {
    %tile, %token = load_view_tko weak %pview[%i] token = %0
    %4 = mmaf %tile, %tile, %acc : tile<1xf16>
  }
  %5 = store_view_tko weak %4, %pview[%i]
}
"""


def test_operations_that_tell() -> None:
    """Products, accesses, loops and tokens, each as often as it stands there."""
    assert operations_of(TEXT) == {"mmaf": 1, "load_view_tko": 1, "store_view_tko": 1, "for": 1, "make_token": 1}


def test_files_side_by_side(tmp_path: Path) -> None:
    """A name that is no file's is made one."""
    remark = CompilerRemark("Passed", "Load instruction selected", "TMA Load instruction", (64, 32), "gemm.py", 7)
    kernel = DumpedKernel("a/b", TEXT, {}, (remark,), "SASS", b"ELF")
    paths = written(DumpedTiles("gemm.py", "sm_90", (kernel,)), tmp_path / "made")
    assert [one.name for one in paths] == [f"0.a_b.sm_90.{one}" for one in ("tileir", "sass", "cubin", "remarks")]
    assert "gemm.py:7: Load instruction selected: TMA Load instruction" in paths[3].read_text()


class Pool:
    """Stands for workers that have cuTile: one kernel with one remark."""

    made = (
        Compilation(
            "product", "sm_90", "SASS", "", "", "", {}, {}, {}, {}, {"cuda-tile": "1.7.0"}, {}, dialects={"tile": TEXT}, binary=b"ELF",
            remarks=(CompilerRemark("Passed", "Load instruction selected", "TMA Load instruction", (64, 32), "gemm.py", 7),),
        ),
    )  # fmt: skip

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing to stop."""

    def compile(self, _: CompileRequest) -> tuple[Compilation, ...]:
        """Return the kernel, whatever is asked."""
        return self.made


def test_the_command(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    fits: Callable[[str, object], bool],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Its document, its text, its files; a file of another language."""
    monkeypatch.setattr(dump, "CompilePool", Pool)
    words = ["cutile", "ir", "gemm.py", "--shape", "64x64x64", "--target", "sm_90"]
    assert main([*words, "--json"]) == 0
    assert fits("cutile_ir", json.loads(capsys.readouterr().out))
    assert main([*words, "--out", str(tmp_path / "made")]) == 0
    assert "gemm.py:7" in capsys.readouterr().out
    assert len(list((tmp_path / "made").iterdir())) == 4
    monkeypatch.setattr(Pool, "made", ())
    assert main(words) == 2
    assert "no tile kernel" in capsys.readouterr().err
