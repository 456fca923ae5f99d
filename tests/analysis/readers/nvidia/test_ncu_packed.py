"""Packed reports: frames of Zstandard around an `.ncu-rep`."""

from __future__ import annotations

import random

import pytest

from kopt_kb.analysis.readers import ReportError, read_profiles, reader_of
from kopt_kb.analysis.readers.nvidia.ncu_packed import is_packed, loadable, whole_frames

pyarrow = pytest.importorskip("pyarrow", reason="packing for the test needs pyarrow")


def packed(data):
    """Return bytes packed as one frame."""
    return pyarrow.compress(data, codec="zstd", asbytes=True)


CONTENT = [
    b"", b"x", b"a" * 500_000, random.Random(1).randbytes(300_000), b"NVR\x00" + bytes(range(256)) * 2000
]  # fmt: skip


@pytest.mark.parametrize("content", CONTENT, ids=range(len(CONTENT)))
def test_whole_frames_pass_and_every_cut_is_seen(tmp_path, content):
    """Raw, repeated and compressed blocks; one frame or two; cut anywhere or followed by anything."""
    data = packed(content)
    path = tmp_path / "a"
    for whole in (data, data + data, data + b"\x50\x2a\x4d\x18\x03\x00\x00\x00abc"):
        path.write_bytes(whole)
        whole_frames(path)
    cuts = {1, 3, 4, 5, 8, len(data) // 2, len(data) - 1}
    for wrong in [data[:cut] for cut in cuts if 0 < cut < len(data)] + [data + b"x", data + b"text"]:
        path.write_bytes(wrong)
        with pytest.raises(ReportError, match="truncated or damaged"):
            whole_frames(path)


def test_a_name_with_the_suffix_is_made_where_there_is_none(tmp_path):
    """The library goes by the suffix; plain files keep their names."""
    plain, other, named = tmp_path / "a", tmp_path / "b", tmp_path / "c.ncu-repz"
    plain.write_bytes(b"NVR\x00")
    for one in (other, named):
        one.write_bytes(packed(b"NVR\x00"))
    assert (is_packed(plain), is_packed(other)) == (False, True)
    with loadable(plain) as first, loadable(other) as second, loadable(named) as third:
        assert (first, third) == (plain, named)
        assert (second.suffix, second.read_bytes()) == (".ncu-repz", other.read_bytes())
    assert not second.exists()


def test_other_packed_files_are_told(tmp_path):
    """What unpacks to no report."""
    pytest.importorskip("ncu_report", reason="reading .ncu-rep needs ncu-report")
    path = tmp_path / "a.zst"
    path.write_bytes(packed(b"hello\n" * 99))
    with pytest.raises(ReportError, match=r"packed by zstd that is no \.ncu-repz"):
        list(read_profiles(path))


@pytest.mark.corpus
@pytest.mark.parametrize("name", ["report.ncu-repz", "report.bin"])
def test_a_packed_report_is_read_like_the_plain_one(profile_corpus, tmp_path, name):
    """The same kernels with the same metrics; a cut one is refused instead of read in part."""
    pytest.importorskip("ncu_report", reason="reading .ncu-rep needs ncu-report")
    plain = profile_corpus / "ncu-rep" / "a100_cutlass_gemm.ncu-rep"
    path = tmp_path / name
    data = packed(plain.read_bytes())
    path.write_bytes(data)
    assert reader_of(path).id == "ncu-rep"
    found, expected = list(read_profiles(path)), list(read_profiles(plain))
    assert [one.metrics for one in found] == [one.metrics for one in expected]
    assert len(list(read_profiles(path, source=True))) == len(expected)
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(ReportError, match="truncated or damaged"):
        list(read_profiles(path))
