"""Large kernel tables read by blocks: the same profiles as row by row, or None."""

from __future__ import annotations

import random

import pytest

from kopt_kb.analysis.profile import ReportSource
from kopt_kb.analysis.readers import read_profiles
from kopt_kb.analysis.readers.amd import rocprofv3_blocks, rocprofv3_csv
from kopt_kb.analysis.readers.amd.amd_devices import Devices
from kopt_kb.analysis.readers.amd.rocprofv3_blocks import read_trace_blocks
from kopt_kb.analysis.readers.amd.rocprofv3_plain import read_plain_trace

NAMES = ["k", "void f<int, 4>(int*, float)", "h(), [clone .kd]", "é_κ(int)"]


def table(amd, rows=500, seed=1):
    """Return a table of several kernels with times of one to fifteen digits."""
    chance = random.Random(seed)
    lines, start = [], 5
    for number in range(1, rows + 1):
        end = start + chance.choice([0, 1, 7, 900, 10**6])
        lines.append(amd.trace_row(number * chance.choice([1]), start, end, chance.choice(NAMES)))
        start = end + chance.choice([1, 50, 10**9])
    return amd.trace_table(*lines)


def both(path):
    """Return what both ways read."""
    source = ReportSource(str(path), "rocprofv3-csv", "rocprofv3", "amd")
    found = [read(path, Devices(), source) for read in (read_trace_blocks, read_plain_trace)]
    return [None if one is None else list(one.profiles()) for one in found]


@pytest.mark.parametrize("block", [1 << 22, 5000, 700])
@pytest.mark.parametrize("seed", range(4))
def test_blocks_of_any_size_give_what_rows_give(tmp_path, amd, monkeypatch, block, seed):
    """Profiles, times, and the launches that are kept, in order."""
    monkeypatch.setattr(rocprofv3_blocks, "_BLOCK_BYTES", block)
    path = tmp_path / "t.csv"
    path.write_text(table(amd, seed=seed))
    by_blocks, by_rows = both(path)
    assert by_blocks == by_rows
    assert sum(one.launch_count for one in by_blocks) == 500


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.rstrip("\n"),
        lambda text: text + '"KERNEL_DISPATCH","Agent 4",1,1,9,3,3,"k",3,1,2,512,0,8,4,16,32,4,1,64,6,1\n',
        lambda text: text.replace(",512,0,8,", ",512,0,8,8,", 1),
        lambda text: text.replace(",512,0,8,", ",512,0,", 1),
        lambda text: text.replace('"k"', '"k""x"', 1).replace('"k"', '"k', 1),
        lambda text: text.replace("900,", "9x0,", 1),
        lambda text: text.replace("Start_Timestamp", "Begin"),
        lambda text: text.split("\n", 1)[0] + "\n" + "\n\n" + text.split("\n", 1)[1],
        lambda text: text[:0],
    ],
)
def test_what_is_not_plain_is_left_to_others(tmp_path, amd, change):
    """None, or the same as row by row; never another number."""
    path = tmp_path / "t.csv"
    path.write_text(change(table(amd, 40)), newline="")
    by_blocks, by_rows = both(path)
    assert by_blocks is None or by_blocks == by_rows


@pytest.mark.parametrize("seed", range(60))
def test_damaged_tables_never_give_another_number(tmp_path, amd, seed):
    """Bytes replaced, removed and repeated at random: None, or what reading cell by cell gives."""
    chance = random.Random(seed)
    data = bytearray(table(amd, 30, seed).encode())
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(data))
        how = chance.randrange(3)
        if how == 0:
            data[at] = chance.choice(b'0,"\n9 -k')
        elif how == 1:
            del data[at : at + chance.randint(1, 9)]
        else:
            data[at:at] = data[at : at + chance.randint(1, 60)]
    path = tmp_path / "t.csv"
    path.write_bytes(bytes(data))
    by_blocks, by_rows = both(path)
    if by_blocks is not None and by_rows is not None:
        assert by_blocks == by_rows


def test_large_tables_take_this_way(tmp_path, amd, monkeypatch):
    """From a size on, and with the same result."""
    path = tmp_path / "1_kernel_trace.csv"
    path.write_text(table(amd, 50))
    before = list(read_profiles(path))
    monkeypatch.setattr(rocprofv3_csv, "_LARGE_BYTES", 10)
    asked = []
    monkeypatch.setattr(
        rocprofv3_blocks, "read_trace_blocks", lambda *args: asked.append(1) or read_trace_blocks(*args)
    )
    assert list(read_profiles(path)) == before
    assert asked
