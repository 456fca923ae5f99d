"""A program's record lists launches; what a benchmark times is done at three of its sizes."""

from __future__ import annotations

import pytest

pytestmark = [pytest.mark.torch, pytest.mark.triton]
pytest.importorskip("torch")
triton = pytest.importorskip("triton")

from kopt_kb.launch.compile.device import DeviceFacts  # noqa: E402
from kopt_kb.launch.record.model import VERSION, Buffer, Launch, LaunchRecord, TensorAddress, TensorView  # noqa: E402
from kopt_kb.launch.record.request import ScriptRequest  # noqa: E402
from kopt_kb.launch.record.script import Script, of_script  # noqa: E402
from kopt_kb.launch.record.trace import CallTrace  # noqa: E402

PROGRAM = """
import pathlib
import sys
import triton.testing
seen = []
bench = triton.testing.Benchmark(["n"], [1, 2, 3, 4, 5], "who", ["a", "b"], ["a", "b"], plot_name="p", args={"m": 7})
@triton.testing.perf_report(bench)
def timed(n, m, who):
    times = triton.testing.do_bench(lambda: seen.append((n, m, who)), quantiles=[0.5, 0.2])
    return m / times[0]
timed.run(print_data=True, show_plots=True)
pathlib.Path(sys.argv[1]).write_text(repr(seen))
sys.exit(int(sys.argv[2]))
"""


@pytest.mark.parametrize(("status", "reasons"), [(0, []), (3, ["the program ended with status 3"])])
def test_a_benchmark_runs_at_three_sizes_for_each_line(tmp_path, status, reasons) -> None:
    """First, middle, last; nothing is timed, drawn or printed; the program's words and status are its own."""
    path, out = tmp_path / "bench.py", tmp_path / "seen"
    path.write_text(PROGRAM)
    trace = CallTrace(DeviceFacts("Test", "sm_90"), lenient=True)
    program = Script(ScriptRequest(("bench.py", str(out), str(status)), str(tmp_path)), trace)
    assert program.module.__file__ == str(path)
    program.run()
    assert eval(out.read_text()) == [(n, 7, who) for n in (1, 3, 5) for who in "ab"]
    assert trace.reasons == reasons


def launch(buffer: str, grid: int = 1) -> Launch:
    """A launch on one buffer."""
    view = TensorView(buffer, 0, (4,), (1,), "fp32")
    return Launch("0" * 64, "k", (grid, 1, 1), (32, 1, 1), (1, 1, 1), 0, (TensorAddress(view, "x"),))


def test_each_different_launch_is_listed_once() -> None:
    """Whatever memory it was on; buffers that are no longer named are left out."""
    names = ("a", "b", "c")
    record = LaunchRecord(
        v=VERSION, label="p.py", op="", shape=(), dtype="", target="sm_90",
        buffers=tuple(Buffer(name, "output", 16, 256, changed=True) for name in names), inputs=(), outputs=(),
        steps=(launch("a"), launch("b"), launch("c", 2)), codes={"0" * 64: 9},
        not_replayable="a is computed by randn outside the launches; the program ended with status 3",
    )  # fmt: skip
    listed = of_script(record)
    assert listed.steps == (launch("a"), launch("c", 2))
    assert [(one.name, one.role) for one in listed.buffers] == [("a", "scratch"), ("c", "scratch")]
    assert listed.not_replayable.endswith("besides; the program ended with status 3")
