"""Frames of an .ncu-rep find truncation."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kopt_kb.analysis.readers.common.errors import ReportError
from kopt_kb.analysis.readers.nvidia.ncu_frames import blocks, stored_results, tool_version


def field(number, value):
    out = bytearray([number << 3])
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def message(payload):
    return struct.pack("<I", len(payload)) + payload


def report(*results, version=7):
    parts = [b"NVR\x00", message(field(1, version))]
    for count in results:
        parts += [message(field(2, count) + b"\x22\x03abc" + field(5, 300)), b"x" * 300]
    return b"".join(parts)


@pytest.fixture
def write(tmp_path):
    def put(data):
        file = tmp_path / "a.ncu-rep"
        file.write_bytes(data)
        return file

    return put


def test_results_of_all_blocks_are_added(write):
    """Two blocks announce 2 and 3 results."""
    file = write(report(2, 3))
    assert stored_results(file) == 5
    assert [one.results for one in blocks(file)] == [2, 3]
    assert blocks(file)[-1].end == file.stat().st_size


@given(cut=st.integers(1, len(report(2, 3)) - 1))
def test_every_cut_is_found_or_leaves_whole_blocks(tmp_path_factory, cut):
    """A truncated report ends beyond the file, except at the seam of two blocks, where fewer are announced."""
    whole = report(2, 3)
    file = tmp_path_factory.mktemp("cut") / "a.ncu-rep"
    file.write_bytes(whole[:cut])
    seams = {len(report()): 0, len(report(2)): 2}
    if cut in seams:
        assert stored_results(file) == seams[cut]
    else:
        with pytest.raises(ReportError):
            stored_results(file)


def test_another_magic_is_refused(write):
    """Text is no report."""
    with pytest.raises(ReportError, match="magic NVR"):
        stored_results(write(b"==PROF== hello"))


def test_an_unknown_version_is_left_to_the_library(write):
    """Frames are only walked where their layout is known."""
    assert stored_results(write(report(2, version=8))) is None


def test_a_damaged_header_names_its_byte(write):
    """Wire type 3 is not used by this format."""
    data = b"NVR\x00" + message(field(1, 7)) + message(b"\x0b\x01")
    with pytest.raises(ReportError, match="header at byte 10"):
        stored_results(write(data))


@pytest.mark.parametrize(
    ("tail", "version"),
    [
        (b"\n\x15Nsight Compute Target\x12,2025.1.0.0 (build 35237751) (public-release)", "2025.1.0.0"),
        (b"Nsight Compute Target" + b"x" * 200 + b"2025.1.0.0", None),
        (b"/opt/2025.1.0/ncu", None),
    ],
)
def test_the_release_stands_beside_the_programs_name(tmp_path, tail, version):
    """Not any number of the file, such as a path's."""
    file = tmp_path / "a.ncu-rep"
    file.write_bytes(report(1) + tail)
    assert tool_version(file) == version
