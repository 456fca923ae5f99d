"""Files packed by gzip."""

from __future__ import annotations

import gzip
import tracemalloc
from collections import deque

import pytest

from kopt_kb.analysis.readers.common import unpacked
from kopt_kb.analysis.readers.common.errors import ReportError
from kopt_kb.analysis.readers.common.unpacked import open_unpacked


def all_of(path):
    """Return the content, read in pieces."""
    stream = open_unpacked(path)
    found = b"".join(iter(lambda: stream.read(1000), b""))
    stream.close()
    return found


def test_plain_and_packed_files_have_the_same_content(tmp_path):
    """By content, not by suffix."""
    (tmp_path / "a").write_bytes(b"text" * 999)
    (tmp_path / "b").write_bytes(gzip.compress(b"text" * 999))
    assert all_of(tmp_path / "a") == all_of(tmp_path / "b") == b"text" * 999


@pytest.mark.parametrize("change", [lambda one: one[:50], lambda one: one[:40] + b"\xff" * 40, lambda one: one[:-6]])
def test_damage_is_told(tmp_path, change):
    """Cut files and wrong bytes."""
    (tmp_path / "a").write_bytes(change(gzip.compress(bytes(range(256)) * 99)))
    with pytest.raises(ReportError, match="damaged gzip"):
        all_of(tmp_path / "a")


def test_a_bomb_ends_in_small_memory(tmp_path, monkeypatch):
    """A file that unpacks to a thousand times its size is refused long before its end."""
    (tmp_path / "a").write_bytes(gzip.compress(bytes(1 << 26), 9))
    monkeypatch.setattr(unpacked, "_FREE_BYTES", 1 << 20)
    tracemalloc.start()
    stream = open_unpacked(tmp_path / "a")
    with pytest.raises(ReportError, match="256 times"):
        deque(iter(lambda: stream.read(1 << 16), b""), maxlen=0)
    stream.close()
    peak_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak_bytes < 1 << 24
