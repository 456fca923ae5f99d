"""Claims about the second compiler's choice of what makes a code object again."""

from __future__ import annotations

from pathlib import Path

from kopt_kb.launch.recompile.job import RecompileJob
from kopt_kb.launch.recompile.worker import recompiled
from kopt_kb.launch.record.code_request import CodeRequest


def test_options_that_replace_code_and_unknown_languages_are_refused(tmp_path: Path) -> None:
    """Before anything is compiled."""
    requests = (
        CodeRequest("CUDA", "/k.cu", "", "", options={"ir_override": "a.ptx"}),
        CodeRequest("CUDA", "/k.cu", "", "", refused=("extern_libs",)),
        CodeRequest("Nobody's", "/k.py", "k", "k"),
    )
    answer = recompiled(RecompileJob(requests, "sm_90", (), "", {}, str(tmp_path)))
    assert [one.reason for one in answer.made] == ["option", "option", "language"]
    assert answer.made[0].detail == "compiled with ir_override"
    assert list(tmp_path.iterdir()) == []
