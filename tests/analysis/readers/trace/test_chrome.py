"""Chrome traces of torch.profiler and proton."""

from __future__ import annotations

import gzip
import json

import pytest

from kopt_kb.analysis.profile import Dim3
from kopt_kb.analysis.readers.common.errors import ReportError
from kopt_kb.analysis.readers.read import read_profiles, reader_of
from kopt_kb.analysis.readers.trace.chrome import chrome_log, read_chrome_trace

H100 = {"id": 0, "name": "NVIDIA H100", "computeMajor": 9, "computeMinor": 0}


def test_a_recording_has_the_sums_that_plain_json_gives(traces, tmp_path):
    """Launches and times of each kernel, bytes of copies, and nothing else, against a loop over the same file."""
    path = traces.recorded("torch_h100.json.gz", tmp_path)
    events = json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]
    kernels = [one for one in events if one.get("cat") == "kernel"]
    trace = read_chrome_trace(path)
    assert sum(one.launch_count for one in trace.profiles) == len(kernels) == 178
    expected = sum(one["dur"] for one in kernels) / 1e6
    assert sum(one.durations.total_s for one in trace.profiles) == pytest.approx(expected, rel=1e-6)
    (device,) = trace.devices
    copies = [one for one in events if one.get("cat") in {"gpu_memcpy", "gpu_memset"}]
    assert sum(one.moved_bytes for one in device.copies) == sum(one["args"]["bytes"] for one in copies)
    assert {one.direction for one in device.copies} == {"DtoH", "HtoD", "Memset"}
    assert (device.name, trace.profiles[0].target) == ("NVIDIA H100 80GB HBM3", "sm_90")
    assert trace.source.tool == "torch.profiler"
    softmax = next(one for one in trace.profiles if "softmax" in one.function)
    assert (softmax.grid, softmax.block, softmax.get("registers_per_thread")) == (Dim3(512), Dim3(32, 4), 80)


def test_recorded_idle_time_is_that_of_a_plain_sweep(traces, tmp_path):
    """Busy and idle time against a union made the slow way."""
    path = traces.recorded("torch_h100.json.gz", tmp_path)
    events = json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]
    spans = sorted(
        (round(one["ts"] * 1000), round(one["ts"] * 1000) + round(one["dur"] * 1000))
        for one in events
        if one.get("cat") in {"kernel", "gpu_memcpy", "gpu_memset"}
    )
    busy, end, gaps = 0, spans[0][0], 0
    for start, stop in spans:
        gaps += start > end
        busy += max(0, stop - max(start, end))
        end = max(end, stop)
    (device,) = read_chrome_trace(path).devices
    assert device.busy_s == pytest.approx(busy / 1e9, abs=1e-9)
    assert (device.span_s, device.gaps) == (pytest.approx((end - spans[0][0]) / 1e9), gaps)
    parts = device.host_s + device.device_s + device.unknown_s
    assert parts == pytest.approx(device.span_s - device.busy_s, abs=1e-8)


def test_idle_time_is_split_where_the_launch_call_returns(traces, tmp_path):
    """Ten microseconds idle: six until the call that launches the next kernel returns, four after it."""
    path = traces.chrome(
        tmp_path / "t.json",
        traces.work("kernel", 0, 10, correlation=1),
        traces.call(12, 4, 2),
        traces.work("kernel", 20, 10, correlation=2),
    )
    (device,) = read_chrome_trace(path).devices
    assert (device.host_s, device.device_s, device.unknown_s) == (pytest.approx(6e-6), pytest.approx(4e-6), 0)
    assert device.longest[0].cause == "host"
    assert (device.called_launches, device.short_launches) == (1, 0)


def test_waits_of_the_host_are_told_apart(traces, tmp_path):
    """A gap that begins while the host synchronises is of that cause."""
    path = traces.chrome(
        tmp_path / "t.json",
        traces.work("kernel", 0, 10, correlation=1),
        traces.call(5, 7, 9, name="cudaDeviceSynchronize"),
        traces.call(14, 5, 2),
        traces.work("kernel", 20, 10, correlation=2),
    )
    (device,) = read_chrome_trace(path).devices
    assert device.synchronisation_s == device.host_s == pytest.approx(9e-6)
    assert device.longest[0].cause == "synchronisation"


def test_devices_streams_ranks_and_collectives_are_told_apart(traces, tmp_path):
    """Two devices with a timeline each; what overlaps on two streams counts once."""
    path = traces.chrome(
        tmp_path / "t.json",
        traces.work("kernel", 0, 10),
        traces.work("kernel", 5, 10, "ncclDevKernel_AllReduce", stream=9),
        traces.work("kernel", 0, 4, device=1),
        distributedInfo={"rank": 3, "world_size": 8},
    )
    trace = read_chrome_trace(path)
    first, second = trace.devices
    assert (first.rank, first.device, second.device) == ("3", "0", "1")
    assert (first.busy_s, first.communication_alone_s) == (pytest.approx(15e-6), pytest.approx(5e-6))
    assert [(one.stream, one.events) for one in first.streams] == [("7", 1), ("9", 1)]
    assert {one.function: one.role for one in trace.profiles}["ncclDevKernel_AllReduce"] == "communication"


def test_proton_traces_have_no_device_and_mangled_names(traces, tmp_path):
    """What the recording lacks stays unknown."""
    trace = read_chrome_trace(traces.recorded("proton_h100.chrome_trace", tmp_path))
    assert trace.source.tool == "proton"
    assert [one.device for one in trace.devices] == ["-"]
    launches = {one.function: one.launch_count for one in trace.profiles}
    assert (launches["add_kernel"], launches["vectorized_elementwise_kernel"]) == (8, 1)


def test_bare_arrays_packed_files_and_marks_are_read(traces, tmp_path):
    """The three forms that tools write."""
    events = [traces.work("kernel", 0, 10), traces.work("Memcpy", 10, 1, "Memcpy HtoD (Pageable -> Device)", bytes=8)]
    plain = tmp_path / "a.json"
    plain.write_text("\ufeff" + json.dumps(events), encoding="utf-8")
    packed = tmp_path / "b.bin"
    packed.write_bytes(gzip.compress(json.dumps({"traceEvents": events}).encode()))
    for path in (plain, packed):
        assert reader_of(path).id == "chrome-trace"
        assert [one.name for one in read_profiles(path)] == ["k"]
        assert read_chrome_trace(path).devices[0].copies[0].moved_bytes == 8


def test_amd_traces_are_of_amd(traces, tmp_path):
    """By the runtime's calls, or by the device."""
    hip = traces.chrome(
        tmp_path / "a.json", traces.work("kernel", 0, 10, correlation=1), traces.call(0, 1, 1, name="hipLaunchKernel")
    )
    named = traces.chrome(
        tmp_path / "b.json", traces.work("kernel", 0, 10), deviceProperties=[{"id": 0, "name": "AMD Instinct MI300X"}]
    )
    assert [read_chrome_trace(one).source.vendor for one in (hip, named)] == ["amd", "amd"]
    assert read_chrome_trace(named).profiles[0].target == ""


def test_the_target_is_that_of_the_device(traces, tmp_path):
    """Properties may stand behind the events."""
    path = tmp_path / "t.json"
    path.write_text(json.dumps({"traceEvents": [traces.work("kernel", 0, 10)], "deviceProperties": [H100]}))
    assert read_chrome_trace(path).profiles[0].target == "sm_90"


@pytest.mark.parametrize(
    "change",
    [
        {"ts": None}, {"ts": "1"}, {"ts": 1e400}, {"dur": -1e30}, {"dur": "x"}, {"name": None}, {"name": 3},
        {"args": None}, {"args": []}, {"pid": None}, {"cat": 3}, {"ph": 1}, {"ts": True},
    ],
)  # fmt: skip
def test_wrong_members_are_left_out_or_told(traces, tmp_path, change):
    """No value of any type ends in a crash; the good event beside it is read."""
    path = traces.chrome(tmp_path / "t.json", {**traces.work("kernel", 5, 5), **change}, traces.work("kernel", 20, 10))
    assert sum(one.launch_count for one in read_chrome_trace(path).profiles) in {1, 2}


@pytest.mark.parametrize(
    "details",
    [{"grid": [1, 2]}, {"grid": "x"}, {"grid": [0, 1, 1]}, {"grid": [2**70, 1, 1]}, {"correlation": -5},
     {"correlation": 2**80}, {"correlation": "x"}, {"bytes": "x"}, {"registers per thread": 2**80}, {"device": {}}],
)  # fmt: skip
def test_wrong_details_are_not_taken(traces, tmp_path, details):
    """The event itself is good."""
    path = traces.chrome(tmp_path / "t.json", traces.work("kernel", 5, 5, **{"device": 0, **details}))
    (profile,) = read_chrome_trace(path).profiles
    assert (profile.launch_count, profile.grid) == (1, None)


def test_events_that_end_before_they_start_are_told(traces, tmp_path):
    """They count nowhere, and a note says so."""
    path = traces.chrome(tmp_path / "t.json", traces.work("kernel", 5, -5), traces.work("kernel", 20, 10))
    (profile,) = read_chrome_trace(path).profiles
    assert profile.launch_count == 1
    assert profile.notes == ("1 event(s) end before they start: left out",)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"traceEvents": [', "cut or damaged"),
        ('{"traceEvents": [{"ph": "X", "cat": "kernel"', "cut or damaged"),
        ('{"traceEvents": []}', "without GPU kernels"),
        ('{"traceEvents": {}}', "without GPU kernels"),
        ('{"traceEvents": ' + "[" * 5000 + "]" * 5000 + "}", "too deep"),
        ('{"traceEvents": [{"ph": "X", "cat": "cpu_op", "ts": 1, "dur": 1}]}', "without GPU kernels"),
    ],
)
def test_damage_is_told_in_one_line(tmp_path, text, told):
    """Cut, empty, nested and foreign documents."""
    path = tmp_path / "t.json"
    path.write_text(text)
    with pytest.raises(ReportError, match=told):
        read_chrome_trace(path)


def test_a_watcher_sees_complete_events_of_the_host_but_no_python_frames(traces, tmp_path):
    frame = {"ph": "X", "cat": "python_function", "name": "f", "ts": 0, "dur": 1}
    operator, kernel = {**frame, "cat": "cpu_op", "ts": 2}, {**frame, "cat": "kernel", "ts": 5}
    path = traces.chrome(tmp_path / "t.json", frame, operator, kernel, {**operator, "dur": None})
    seen = []
    log = chrome_log(path, lambda category, event, span: seen.append((category, event["name"], span)))
    assert seen == [("cpu_op", "f", (2000, 3000)), ("kernel", "f", (5000, 6000))]
    assert not log.empty


def test_a_device_without_a_name_under_calls_of_hip_has_no_target_of_nvidia(traces, tmp_path):
    """Recordings of ROCm name no device at times, and number gfx942 as 9.4."""
    device = {"id": 0, "name": "", "computeMajor": 9, "computeMinor": 4}
    events = traces.call(0, 2, 1, "hipLaunchKernel"), traces.work("kernel", 5, 1, correlation=1)
    path = traces.chrome(tmp_path / "t.json", *events, deviceProperties=[device])
    assert [one.target for one in read_chrome_trace(path).profiles] == [""]


def test_devices_numbered_otherwise_than_their_properties_have_the_name_that_all_have(traces, tmp_path):
    events = traces.work("kernel", 5, 1, device=2), traces.work("kernel", 5, 1, device=3)
    path = traces.chrome(tmp_path / "t.json", *events, deviceProperties=[H100, {**H100, "id": 1}])
    assert {one.device for one in read_chrome_trace(path).profiles} == {"NVIDIA H100"}
    path = traces.chrome(tmp_path / "u.json", *events, deviceProperties=[H100, {**H100, "id": 1, "name": "other"}])
    assert {one.device for one in read_chrome_trace(path).profiles} == {""}
