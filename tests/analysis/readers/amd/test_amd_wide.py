"""Wide tables."""

from __future__ import annotations

import pytest

from kopt_kb.analysis.profile import ReportSource
from kopt_kb.analysis.readers.amd.amd_collect import AmdCollector
from kopt_kb.analysis.readers.amd.amd_devices import Devices
from kopt_kb.analysis.readers.amd.amd_store import DispatchStore
from kopt_kb.analysis.readers.amd.amd_wide import WideReader, read_wide, rows_with_text
from kopt_kb.analysis.readers.common.errors import ReportError

HEAD = "Dispatch_ID,Kernel_Name,GPU_ID,Grid_Size,Workgroup_Size,obj,SQ_WAVES,TCC_HIT[0],wave_size_1,Kernel_ID_1,SQ_WAVES,Start_Timestamp,End_Timestamp"


def read(tmp_path, *lines, **options):
    path = tmp_path / "x.csv"
    path.write_text("\n".join([*lines, ""]))
    collector = AmdCollector(ReportSource("f", "x", "t", "amd"))
    store = DispatchStore(collector)
    count = read_wide(WideReader(path, Devices(), store, **options))
    store.flush()
    return count, list(collector.profiles())


def test_counter_columns_are_told_from_identity_columns(tmp_path):
    """Addresses, merged duplicates and the second of two equal columns are no counters; an empty cell is absent."""
    count, (found,) = read(
        tmp_path,
        HEAD,
        '0,"k(a, b)",2,512,256,0x7f,4,9,64,12,77,10.5,30.75',
        '1,"k(a, b)",2,512,256,0x7f,,9,64,12,77,10,30',
    )
    assert count == 2
    assert {name: one.value for name, one in found.launches[0].raw.items()} == {"SQ_WAVES": 4, "TCC_HIT[0]": 9}
    assert set(found.launches[1].raw) == {"TCC_HIT[0]"}
    assert found.launches[0].duration_s == pytest.approx(20.25e-9)


def test_chosen_counters_take_other_names_and_no_times(tmp_path):
    """The pass of resident waves is kept apart."""
    _, (found,) = read(tmp_path, HEAD, "0,k,2,512,256,0,4,9,64,12,77,10,30", only={"SQ_WAVES": "OTHER"}, times=False)
    assert set(found.launches[0].raw) == {"OTHER"}
    assert found.durations is None


@pytest.mark.parametrize("row", [",k,2,512,256,0,4,9,64,12,77,10,30", "0,k,2,512,256,0,x,9,64,12,77,10,30"])
def test_a_damaged_row_names_its_line(tmp_path, row):
    """No id, or a counter that is no number."""
    with pytest.raises(ReportError) as caught:
        read(tmp_path, HEAD, row)
    assert caught.value.line == 2


def test_commas_of_an_unquoted_name_are_put_back(tmp_path):
    """Old tools don't quote; the surplus belongs to the text column."""
    path = tmp_path / "x.csv"
    path.write_text("Index,KernelName,grd\n0,f(int, int),64\n1,g,64\n")
    assert list(rows_with_text(path, "kernelname"))[1:] == [(2, ["0", "f(int, int)", "64"]), (3, ["1", "g", "64"])]
    path.write_text("Index,KernelName,grd\n0,f\n")
    with pytest.raises(ReportError) as caught:
        list(rows_with_text(path, "kernelname"))
    assert caught.value.line == 2
