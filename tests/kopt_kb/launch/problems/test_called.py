"""The table of a call is a document: written into a reference file, read by whoever judges."""

from __future__ import annotations

from kopt_kb.base.wire import read
from kopt_kb.launch.problems.called import CalledTable
from kopt_kb.problem.table import ProblemTable, StatedTensor, Workload


def test_a_call_is_read_as_it_was_written() -> None:
    """Arguments, what of them is a result, and whether the function returns any."""
    inputs = (StatedTensor("x", (4,), "float16"), StatedTensor("eps", None))
    table = ProblemTable("scale", ("D0",), {}, inputs, (), {"4": Workload({"eps": 1e-6})}, "fp16", entry="scale")
    call = CalledTable(table, ("x",), (), returns=False)
    assert read(CalledTable, call.to_json(), where="call") == call
