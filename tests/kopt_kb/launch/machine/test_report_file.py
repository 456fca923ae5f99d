"""Reports as bytes and back: files, folders, and archives that try to get out."""

from __future__ import annotations

import io
import os
import tarfile
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.machine.report_file import MOST_BYTES, pack_report, suffix_of, unpack_report


def test_a_file_is_its_own_bytes(tmp_path: Path) -> None:
    """Whatever it holds; its name's end follows from how it begins."""
    file = tmp_path / "r"
    file.write_bytes(b"NVR\0binary")
    data = pack_report(file)
    assert data == b"NVR\0binary"
    (tmp_path / "to").mkdir()
    assert unpack_report(data, tmp_path / "to").read_bytes() == data
    assert [suffix_of(one) for one in (data, b"SQLite format 3\0", b' {"a": 1}', b"\x1f\x8b\x08", b'"ID"')] == [
        ".ncu-rep", ".db", ".json", ".json.gz", ".csv",
    ]  # fmt: skip


def test_a_folder_comes_back_file_by_file(tmp_path: Path) -> None:
    """The same files give the same bytes, however old they are."""
    root = tmp_path / "made"
    (root / "pass_1").mkdir(parents=True)
    (root / "b.csv").write_text("b")
    (root / "pass_1" / "a.csv").write_text("a")
    data = pack_report(root)
    os.utime(root / "b.csv", (1, 1))
    assert pack_report(root) == data
    assert suffix_of(data) == ".tar"
    (tmp_path / "to").mkdir()
    back = unpack_report(data, tmp_path / "to")
    assert {one.relative_to(back).as_posix(): one.read_text() for one in back.rglob("*.csv")} == {
        "b.csv": "b", "pass_1/a.csv": "a",
    }  # fmt: skip


def test_what_is_no_report_is_an_error_of_the_system(tmp_path: Path) -> None:
    """Nothing there, an empty folder, links, pipes, and more than is kept."""
    (tmp_path / "empty").mkdir()
    for missing in ("nothing", "empty"):
        with pytest.raises(FileNotFoundError):
            pack_report(tmp_path / missing)
    (tmp_path / "link").symlink_to("/etc")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "zero").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "pipe")
    big = tmp_path / "big"
    with big.open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    for odd in ("link", "folder", "pipe", "big"):
        with pytest.raises(OSError, match="is|holds|larger|more"):
            pack_report(tmp_path / odd)


@pytest.mark.parametrize("name", ["../out", "/abs", "a/../../out"])
def test_an_archive_that_leads_out_is_refused(tmp_path: Path, name: str) -> None:
    """Nothing is written beside the folder."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        member = tarfile.TarInfo(name)
        member.size = 1
        archive.addfile(member, io.BytesIO(b"x"))
    (tmp_path / "to").mkdir()
    with pytest.raises(BadInput, match="is no file of the report"):
        unpack_report(made.getvalue(), tmp_path / "to")
    assert not (tmp_path / "out").exists()


def test_a_link_in_an_archive_and_a_cut_one_are_refused(tmp_path: Path) -> None:
    """With one line each."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        member = tarfile.TarInfo("a")
        member.type, member.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(member)
    (tmp_path / "to").mkdir()
    with pytest.raises(BadInput, match="is no file of the report"):
        unpack_report(made.getvalue(), tmp_path / "to")
