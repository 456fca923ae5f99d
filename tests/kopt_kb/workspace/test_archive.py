"""Claims about archives of strangers: what a header may hold is bounded before it is read."""

from __future__ import annotations

import gzip
import io
import resource
import tarfile
from pathlib import Path

import pytest

from kopt_kb.workspace.archive import UNREADABLE, archived, chunks


def _packed(path: Path, kind: bytes, size: int, body: bytes = b"x") -> Path:
    """Write an archive with a header of a kind that says a size, and so many bytes behind it."""
    member = tarfile.TarInfo("statement.json")
    member.type, member.size = kind, size
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(member.tobuf(tarfile.GNU_FORMAT))
        for _ in range(0, size, 1 << 20):
            file.write((body * (1 << 20))[: 1 << 20])
        file.write(bytes(1024))
    return path


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK])
def test_a_large_header_is_refused_before_it_is_read(tmp_path: Path, kind: bytes) -> None:
    """64 MiB of it in a small file; the memory of this process does not grow by them."""
    path = _packed(tmp_path / "bundle", kind, 64 << 20)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(UNREADABLE), archived(path) as archive:
        archive.next()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 32 << 10


@pytest.mark.parametrize("body", [b"9" * 5000 + b" a=b\n", b"11 size=-5\n", b"0 =\n" * 3000, b"12 path=\xff\xfe\n"])
def test_a_header_of_nonsense_is_unreadable_or_a_name(tmp_path: Path, body: bytes) -> None:
    """Numbers of thousands of digits, negative sizes, no sizes: never another error."""
    raw = io.BytesIO()
    member = tarfile.TarInfo("x")
    member.type, member.size = tarfile.XHDTYPE, len(body)
    raw.write(member.tobuf(tarfile.GNU_FORMAT) + body + bytes(-len(body) % 512))
    raw.write(tarfile.TarInfo("statement.json").tobuf() + bytes(1024))
    path = tmp_path / "bundle"
    path.write_bytes(gzip.compress(raw.getvalue()))
    try:
        with archived(path) as archive:
            assert archive.next() is not None
    except UNREADABLE:
        pass


def test_a_member_is_read_up_to_a_number_of_bytes(tmp_path: Path) -> None:
    """And whole where that allows."""
    path = tmp_path / "bundle"
    with tarfile.open(path, "w:gz") as archive:
        member = tarfile.TarInfo("file")
        member.size = 200_000
        archive.addfile(member, io.BytesIO(b"x" * member.size))
    for most, size in ((1 << 30, 200_000), (100_000, 100_000), (0, 0)):
        with archived(path) as archive:
            found = archive.next()
            assert found is not None and sum(map(len, chunks(archive, found, most))) == size
