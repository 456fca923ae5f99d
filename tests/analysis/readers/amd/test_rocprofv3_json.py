"""rocprofv3 JSON reports."""

from __future__ import annotations

import pytest

from kopt_kb.analysis.profile import Dim3
from kopt_kb.analysis.readers import ReportError, read_profiles, reader_of
from kopt_kb.analysis.readers.amd.rocprofv3_json import ROCPROFV3_JSON


def write(tmp_path, text):
    path = tmp_path / "x.json"
    path.write_text(text)
    return path


def test_names_agents_and_shapes_are_resolved(tmp_path, amd):
    """1000 work-items in groups of 256 are 4 blocks; the agent's handle leads to gfx950."""
    path = write(tmp_path, amd.json_document([(1, 3, 1000, 1200), (2, 3, 2000, 2400)]))
    assert reader_of(path) is ROCPROFV3_JSON
    (found,) = read_profiles(path)
    assert (found.name, found.target, found.device) == ("k(int)", "gfx950", "AMD Instinct MI350X")
    assert (found.launch_count, found.grid, found.duration_s) == (2, Dim3(4), pytest.approx(300e-9))
    assert found.metrics["registers_per_thread"] == 8


def test_instances_of_a_counter_are_added_up(tmp_path, amd):
    """Records of one counter are its instances; the traced dispatch is the same launch."""
    path = write(tmp_path, amd.json_document([(1, 3, 1000, 1200)], [(1, 3, 1000, 1200, ((5, 3.0), (5, 4.0)))]))
    (found,) = read_profiles(path)
    assert (found.launch_count, found.metrics["warps_launched"]) == (1, 7.0)


def test_records_may_stand_before_their_names(tmp_path, amd):
    """The document is walked twice."""
    text = amd.json_document([(1, 3, 1000, 1200)])
    start = text.index('"buffer_records"')
    moved = text[:start].rstrip(", ") + text[-3:]
    body = text[start:-3]
    path = write(tmp_path, moved.replace('{"metadata"', "{" + body + ', "metadata"'))
    assert next(read_profiles(path)).name == "k(int)"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"kernel_id": 3, "dispatch_id"', '"kernel_id": 4, "dispatch_id"'),
        ('"dispatch_id": 1', '"dispatch_id": -1'),
        ('"dispatch_id": 1', '"dispatch_id": "x"'),
        ('{"handle": 77}, "kernel_id"', '[], "kernel_id"'),
        ('"workgroup_size": {"x": 256', '"workgroup_size": {"w": 256'),
        ('"kernel_symbols": [', '"kernel_symbols": [7, '),
        ("}]}}]}", "}]}}"),
    ],
)
def test_damage_is_told_with_its_place(tmp_path, amd, old, new):
    """Missing names, wrong types and cut text end with exit code 2."""
    text = amd.json_document([(1, 3, 1000, 1200)])
    assert old in text
    with pytest.raises(ReportError, match="at character") as caught:
        list(read_profiles(write(tmp_path, text.replace(old, new))))
    assert caught.value.exit_code == 2


def test_a_document_without_dispatches_is_refused(tmp_path, amd):
    """Empty is never success."""
    with pytest.raises(ReportError, match="no kernel dispatch"):
        list(read_profiles(write(tmp_path, amd.json_document())))
