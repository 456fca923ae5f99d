"""Machine code compiled ahead: found by what it was compiled of, and by nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.base.errors import MissingTool
from kopt_kb.doors import table
from kopt_kb.doors.language import Language
from kopt_kb.doors.pack import Pack
from kopt_kb.launch.cuda.ahead import CODE_FOLDER, code_ahead, code_key, keep_code
from kopt_kb.launch.cuda.languages import FunctionJob, made_of
from kopt_kb.launch.record.model import TensorView

VIEW = TensorView("x", 0, (4, 8), (8, 1), "fp32")
SOURCE = '"""A kernel."""\n\n\ndef add(x, THREADS):\n    pass\n'


def test_it_stands_in_for_the_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tuned values at the file's end and values that the function does not take change nothing; all else does."""
    file = tmp_path / "kernel.py"
    file.write_text(SOURCE)
    mine = Language("Mine", "mine", header="mine", package="no-such-package", function_code=lambda _: None)
    monkeypatch.setattr(table, "packs", lambda: table.Packs({"mine": Pack("mine", "mine", languages=(mine,))}, ()))
    key = code_key("mine", file, "add", [VIEW], {"THREADS": 32, "M": 4}, "sm_90a")
    keep_code(tmp_path / "code", key, b"\x7fELF", {"compiler": "1"})
    monkeypatch.setenv(CODE_FOLDER, str(tmp_path / "code"))
    file.write_text(SOURCE + '\n"""/* kb-tuned\n"4x8" = { THREADS = 32 }\n*/"""\n')
    made = made_of("mine", FunctionJob(file, "add", [VIEW], {"THREADS": 32, "M": 5}, 90, ["add"]))
    assert (made.binary, made.versions) == (b"\x7fELF", {"compiler": "1"})
    with pytest.raises(MissingTool, match="no-such-package is not installed"):
        made_of("mine", FunctionJob(file, "add", [VIEW], {"THREADS": 64}, 90, ["add"]))
    file.write_text(SOURCE + "\nX = 1\n")
    with pytest.raises(MissingTool):
        made_of("mine", FunctionJob(file, "add", [VIEW], {"THREADS": 32}, 90, ["add"]))
    monkeypatch.delenv(CODE_FOLDER)
    assert code_ahead(key) is None
