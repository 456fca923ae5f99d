"""A job of the second compiler and its answer are documents."""

from __future__ import annotations

from kopt_kb.base.wire import canonical, parse, read
from kopt_kb.launch.recompile.job import RecompileAnswer, Recompiled, RecompileJob
from kopt_kb.launch.record.code_request import CodeRequest


def test_both_come_back_equal() -> None:
    """Through bytes."""
    job = RecompileJob((CodeRequest("CUDA", "/k.cu", "", ""),), "sm_90", ("/",), "Test", {"a": 1}, "/tmp/x")
    answer = RecompileAnswer((Recompiled("0.bin"), Recompiled("", "differs", "why", {"k": "0" * 64})), {"nvrtc": "13"})
    for one in (job, answer):
        assert read(type(one), parse(canonical(one.to_json()), where="x"), where="x") == one
