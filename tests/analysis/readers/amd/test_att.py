"""Thread traces."""

from __future__ import annotations

import json

import pytest

from kopt_kb.analysis.readers import ReportError, read_profiles

HEAD = '"CodeObj","Vaddr","Instruction","Hitcount","Latency","Stall","Idle","Source"'
ROWS = [
    '1,64,"; k",0,0,0,0,""',
    '1,64,"s_load_dwordx2 s[2:3], s[0:1], 0x0",4,20,8,0,""',
    '1,72,"global_store",4,90,70,0,"a.hip:3"',
]


def test_instructions_come_by_falling_stall_and_nothing_is_scaled(tmp_path):
    """The comment row names the kernel; the profile has hot spots and no amounts."""
    path = tmp_path / "stats_ui_output_agent_5_dispatch_3.csv"
    path.write_text("\n".join([HEAD, *ROWS, ""]))
    (found,) = read_profiles(path)
    assert (found.name, found.metrics, found.durations) == ("k", {}, None)
    assert [(one.address, one.hits, one.latency_cycles, one.stall_cycles) for one in found.hot_spots] == [
        (72, 4, 90, 70),
        (64, 4, 20, 8),
    ]
    assert found.place.at == "dispatch 3"
    assert "not scaled" in found.notes[0]


def test_a_folder_gives_the_same(tmp_path):
    """code.json has the rows, filenames.json the decoder."""
    code = [
        ["; k", 0, 0, "", 1, 64, 0, 0, 0, 0],
        ["s_nop 0", 0, 1, "", 1, 68, 4, 20, 8, 0],
        ["x", 0, 2, "", 1, 72, 4, 90, 70, 0, "new"],
    ]
    (tmp_path / "code.json").write_text(json.dumps({"code": code, "version": "x"}))
    (tmp_path / "filenames.json").write_text(json.dumps({"version": "3.0.0", "gfxv": "vega"}))
    (found,) = read_profiles(tmp_path)
    assert [one.stall_cycles for one in found.hot_spots] == [70, 8]
    assert (found.name, found.source.tool_version, found.target) == ("k", "decoder 3.0.0", "")


@pytest.mark.parametrize(("row", "line"), [('1,64,"s_nop",x,0,0,0,""', 2), ('1,64,"s_nop",1', 2)])
def test_a_damaged_row_names_its_line(tmp_path, row, line):
    """Exit code 2 with file and line."""
    path = tmp_path / "x.csv"
    path.write_text(f"{HEAD}\n{row}\n")
    with pytest.raises(ReportError) as caught:
        list(read_profiles(path))
    assert (caught.value.line, caught.value.exit_code) == (line, 2)


def test_a_trace_without_instructions_is_refused(tmp_path):
    """Empty is never success."""
    path = tmp_path / "x.csv"
    path.write_text(HEAD + "\n")
    with pytest.raises(ReportError, match="no instruction"):
        list(read_profiles(path))
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "filenames.json").write_text("{}")
    (tmp_path / "t" / "code.json").write_text('{"code": [["s_nop", 0]]}')
    with pytest.raises(ReportError, match="damaged row"):
        list(read_profiles(tmp_path / "t"))
