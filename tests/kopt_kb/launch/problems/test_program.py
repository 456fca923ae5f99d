"""What a program launches, by calls, with estimates of their times."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("numpy")

from kopt_kb.base.wire import canonical
from kopt_kb.kernels.launch_case import TensorSpec
from kopt_kb.launch.compile.request import Compilation
from kopt_kb.launch.problems import program
from kopt_kb.launch.problems.program import ProgramCall, calls_of_program
from kopt_kb.launch.record.request import MakerRequest, ScriptRequest
from kopt_kb.launch.record.statics import STATICS, StaticLaunch, Statics
from kopt_kb.wiki.registry import Registry

pytestmark = pytest.mark.core

COPY = """module {
  tt.func public @NAME(%x_ptr: !tt.ptr<f32>, %out_ptr: !tt.ptr<f32>) {
    %0 = tt.get_program_id x : i32
    %c1024 = arith.constant 1024 : i32
    %1 = arith.muli %0, %c1024 : i32
    %2 = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
    %3 = tt.splat %1 : i32 -> tensor<1024xi32>
    %4 = arith.addi %3, %2 : tensor<1024xi32>
    %5 = tt.splat %x_ptr : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
    %6 = tt.addptr %5, %4 : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
    %7 = tt.load %6 : tensor<1024x!tt.ptr<f32>>
    %8 = tt.splat %out_ptr : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
    %9 = tt.addptr %8, %4 : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
    tt.store %9, %7 : tensor<1024x!tt.ptr<f32>>
    tt.return
  }
}
"""


def copying(name: str, call: str, elements: int, times: int = 1, ir: str = COPY) -> StaticLaunch:
    """A launch that copies floats."""
    tensor = TensorSpec((elements,), "fp32")
    made = Compilation(
        name, "sm_90", "", "", ir.replace("NAME", name), "", {}, {}, {}, {}, {}, {}, (elements // 1024,),
        (("x_ptr", tensor), ("out_ptr", tensor)),
    )  # fmt: skip
    return StaticLaunch("0" * 64, times, made, "/f.py" if call else "", call)


def test_launches_of_one_call_are_one_row_and_the_longest_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its seconds are those of all its launches; what can't be counted is last, without an estimate."""
    launches = (
        copying("one", "f(x=fp32[1024])", 1024),
        copying("two", "g(x=fp32[4096])", 4096, times=3),
        copying("one", "g(x=fp32[4096])", 4096),
        copying("bare", "", 1024),
        copying("odd", "h()", 1024, ir="module { strange }"),
    )

    def recorded(asked: MakerRequest, out: Path) -> Any:
        out.mkdir()
        (out / STATICS).write_bytes(canonical(Statics(asked, launches).to_json()))
        assert isinstance(asked.what, ScriptRequest)
        assert asked.what.calls and asked.statics
        return SimpleNamespace(not_replayable="a program's launches; the program was recorded up to a.py:3: ValueError")

    monkeypatch.setattr(program, "make_record", recorded)
    found, ended = calls_of_program(ScriptRequest(("a.py",), "."), Registry.open().platform("H100_SXM"))
    assert ended == "the program was recorded up to a.py:3: ValueError"
    assert [one.kernels for one in found] == [("two", "one"), ("one",), ("bare",), ("odd",)]
    assert found[0].seconds == pytest.approx(16 * (found[1].seconds or 0))
    assert [(one.call, one.times) for one in found[2:]] == [("", 1), ("h()", 1)]
    assert found[3].seconds is None


def test_a_call_is_known_by_its_function_and_its_kernels() -> None:
    """Not by its arguments."""
    call = ProgramCall("/f.py", "Norm.apply(x=fp16[4])", ("_norm",), 1, None)
    assert call.is_named("Norm.apply") and call.is_named("_norm")
    assert not call.is_named("x")
