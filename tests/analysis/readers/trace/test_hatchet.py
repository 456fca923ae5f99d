"""Trees of proton."""

from __future__ import annotations

import json

import pytest

from kopt_kb.analysis.readers.common.errors import ReportError
from kopt_kb.analysis.readers.read import reader_of
from kopt_kb.analysis.readers.trace.hatchet import read_hatchet


def node(name, *children, **metrics):
    """Return a node of a tree."""
    return {"frame": {"name": name, "type": "function"}, "metrics": metrics, "children": list(children)}


def kernel(name, time_ns, count=1, kind="CUDA"):
    """Return a node of a kernel."""
    return node(name, **{"time (ns)": time_ns, "count": count, "device_id": "0", "device_type": kind})


def written(path, *elements):
    """Write a tree."""
    path.write_text(json.dumps(list(elements)))
    return path


def test_the_recording_has_the_launches_of_the_program(traces, tmp_path):
    """Eight additions, a product, a sum and a fill, with the times of the file and the device's target."""
    path = traces.recorded("proton_h100.hatchet", tmp_path)
    trace = read_hatchet(path)
    assert reader_of(path).id == "proton-hatchet"
    found = {one.function: (one.launch_count, one.durations.total_s) for one in trace.profiles}
    assert found["add_kernel"] == (8, pytest.approx(16640e-9))
    assert len(found) == 4
    assert {one.target for one in trace.profiles} == {"sm_90"}
    assert trace.devices == ()


def test_one_kernel_over_several_paths_is_added_up(tmp_path):
    """Scopes do not make kernels."""
    path = written(tmp_path / "t", node("ROOT", node("a", kernel("k", 10, 2)), node("b", kernel("k", 30, 3))))
    (profile,) = read_hatchet(path).profiles
    assert (profile.launch_count, profile.durations.total_s, profile.duration_s) == (5, pytest.approx(4e-8), 8e-9)
    assert "mean" in profile.notes[0]


def test_hip_devices_are_of_amd(tmp_path):
    """The device type says whose it is."""
    path = written(tmp_path / "t", node("ROOT", kernel("k", 10, kind="HIP")), {"HIP": {"0": {"arch": "gfx942"}}})
    trace = read_hatchet(path)
    assert (trace.source.vendor, trace.profiles[0].target) == ("amd", "gfx942")


@pytest.mark.parametrize(
    "document",
    [
        [node("ROOT")],
        [node("ROOT", kernel("k", 0)), {"CUDA": 3}],
        [node("ROOT", kernel("k", "x")), {"CUDA": {"0": 3}}],
        [node("ROOT", kernel("k", 5, count=-1))],
        [{"frame": 3, "metrics": [], "children": {}}],
    ],
)
def test_trees_without_times_are_told(tmp_path, document):
    """Nothing is invented for them."""
    with pytest.raises(ReportError, match="without times"):
        read_hatchet(written(tmp_path / "t", *document))


def test_depth_is_bounded(tmp_path):
    """A tree of any depth ends in one line."""
    (tmp_path / "t").write_text('[{"frame": 1, "metrics": 1, "children": ' + '[{"children": ' * 5000)
    with pytest.raises(ReportError, match="too deep"):
        read_hatchet(tmp_path / "t")
