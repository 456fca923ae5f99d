"""Timelines on the terminal and in documents, and traces joined with counters."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from kopt_kb.analysis.profile import ReportSource
from kopt_kb.analysis.profile.events import EventLog, TimedKind
from kopt_kb.cli.kit.timeline import judged_timelines, render_timelines
from kopt_kb.cli.main import main

TRACES = Path(__file__).resolve().parents[3] / "data" / "traces"


@pytest.fixture
def nsys(tmp_path):
    """The recorded export."""
    path = tmp_path / "report.sqlite"
    path.write_bytes(gzip.decompress((TRACES / "nsys_h100.sqlite.gz").read_bytes()))
    return path


def test_a_trace_is_told_as_text(nsys, capsys):
    """Device, limit with evidence, busy and idle shares, copies, streams, gaps, then the kernels."""
    assert main(["profile", "read", str(nsys)]) == 0
    text = capsys.readouterr().out
    for part in (
        "GPU 0 (NVIDIA H100 80GB HBM3): 362.5 ms from first to last event, busy 2.744 %, 63 kernel launches",
        "Limit: launches",
        "trace_thresholds.md:",
        "Device-to-Host: 5 x, 20.97 MB in 9.389 ms, 2.234 GB/s",
        "longest gaps:",
        "Primary bottleneck: launch-bound",
    ):
        assert part in text


def test_documents_have_timelines_and_all_shares(capsys):
    """`--top` leaves kernels out and changes no share."""
    path = str(TRACES / "torch_h100.json.gz")
    assert main(["profile", "read", path, "--json", "--top", "1"]) == 0
    short = json.loads(capsys.readouterr().out)
    assert main(["profile", "read", path, "--json"]) == 0
    whole = json.loads(capsys.readouterr().out)
    assert len(short["kernels"]) == 1
    assert short["kernels"][0]["time_share"] == whole["kernels"][0]["time_share"] < 0.5
    (timeline,) = whole["timelines"]
    assert timeline["verdicts"][0]["limiter"] == "launches"
    assert (timeline["device"], timeline["launches"]) == ("0", 178)


def test_top_shares_are_of_all_kernels_in_text_too(capsys):
    """Two of many kernels are not the whole."""
    path = str(TRACES / "proton_h100.hatchet")
    assert main(["profile", "read", path, "--top", "1"]) == 0
    assert "69.39 %" in capsys.readouterr().out


def test_counters_of_another_report_judge_the_kernels_of_a_trace(tmp_path, capsys):
    """Times and launches are the trace's, what limits comes from the counters, and no kernel stands twice."""
    zoo = Path(__file__).resolve().parents[3] / "data" / "zoo" / "memory.csv"
    assert main(["profile", "read", str(zoo), "--json"]) == 0
    counted = json.loads(capsys.readouterr().out)["kernels"]
    one = counted[0]
    event = {"ph": "X", "cat": "kernel", "name": one["demangled"], "pid": 0, "tid": 7, "ts": 0, "dur": 123.0,
             "args": {"device": 0, "stream": 7, "grid": one["grid"], "block": one["block"]}}  # fmt: skip
    trace = tmp_path / "trace.json"
    trace.write_text(json.dumps({"traceEvents": [event, {**event, "ts": 200}]}))
    for order in ([str(trace), str(zoo)], [str(zoo), str(trace)]):
        assert main(["profile", "read", *order, "--json"]) == 0
        document = json.loads(capsys.readouterr().out)
        same = [each for each in document["kernels"] if each["demangled"] == one["demangled"]]
        (joined,) = [each for each in same if each["duration_s"] == pytest.approx(123e-6)]
        assert joined["launches"] == 2
        assert joined["verdict"]["limiter"] == one["verdict"]["limiter"]
        assert len(document["kernels"]) == len(counted)


def test_names_of_kernels_cannot_reach_the_terminal(tmp_path, capsys):
    """Neither in tables nor in commands to paste; a name of any length stays a short command."""
    event = {"ph": "X", "cat": "kernel", "name": "\x1b[31m" + "A" * 100_000, "pid": 0, "tid": 7, "ts": 0, "dur": 50,
             "args": {"stream": "\x1b[2J"}}  # fmt: skip
    (tmp_path / "t.json").write_text(json.dumps({"traceEvents": [event]}))
    assert main(["profile", "read", str(tmp_path / "t.json")]) == 0
    text = capsys.readouterr().out
    assert "Record: ncu" in text
    assert "\x1b" not in text
    assert max(map(len, text.splitlines())) < 2000


def test_names_of_files_and_streams_cannot_reach_the_terminal():
    """Escapes, and many devices are cut."""
    log = EventLog(ReportSource("t", "f", "tool", "nvidia"))
    for number in range(10):
        device = log.device(f"\x1b[31m{number}")
        kind = log.kind(TimedKind("kernel", "\x1b[2Jk", device))
        log.add(device, kind, log.stream("\x07"), 0, 10)
        log.add(device, kind, log.stream("\x08"), 20, 30)
    text = render_timelines(judged_timelines("f\x1b", log.trace().devices))
    assert "2 more devices" in text
    assert all(one.isprintable() for line in text.splitlines() for one in line)
