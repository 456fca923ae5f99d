"""Large reports are shared out among children by bytes."""

from __future__ import annotations

import struct

import pytest

from kopt_kb.analysis.readers import read_profiles
from kopt_kb.analysis.readers.nvidia import ncu_children
from kopt_kb.analysis.readers.nvidia.ncu_children import Part, result_parts
from kopt_kb.analysis.readers.nvidia.ncu_frames import blocks


def message(payload):
    return struct.pack("<I", len(payload)) + payload


def block(results, size):
    """A block of fewer than 128 results and payload bytes."""
    return message(bytes([2 << 3, results, 5 << 3, size])) + b"x" * size


@pytest.fixture
def report(tmp_path):
    file = tmp_path / "a.ncu-rep"
    file.write_bytes(b"NVR\x00" + message(b"\x08\x07") + block(0, 9) + block(1, 99) + block(3, 99) + block(1, 99))
    return file


def test_a_small_report_is_one_part(report):
    """Five results in one child."""
    assert result_parts(report) == [Part(0, 5)]


def test_parts_end_where_their_bytes_are_reached(report, monkeypatch):
    """Blocks stay whole, and every result is in exactly one part."""
    monkeypatch.setattr(ncu_children, "_PART_BYTES", 300)
    assert result_parts(report) == [Part(0, 4), Part(4, 5)]


def test_a_report_without_results_is_one_empty_part(tmp_path):
    """The reader then says that there is no kernel."""
    file = tmp_path / "a.ncu-rep"
    file.write_bytes(b"NVR\x00" + message(b"\x08\x07"))
    assert result_parts(file) == [Part(0, 0)]


def test_an_unknown_version_is_read_whole(tmp_path):
    """Without frames nothing is announced."""
    file = tmp_path / "a.ncu-rep"
    file.write_bytes(b"NVR\x00" + message(b"\x08\x09"))
    (part,) = result_parts(file)
    assert not part.announced


@pytest.mark.corpus
def test_several_children_give_what_one_gives(profile_corpus, monkeypatch):
    """Ten launches in ten parts are the same ten launches."""
    pytest.importorskip("ncu_report", reason="reading .ncu-rep needs ncu-report")
    file = profile_corpus / "ncu-rep" / "rtx2060s_ten_launches.ncu-rep"
    whole = list(read_profiles(file))
    monkeypatch.setattr(ncu_children, "_PART_BYTES", 120_000)
    assert 1 < len(result_parts(file)) <= len(blocks(file))
    assert list(read_profiles(file)) == whole
