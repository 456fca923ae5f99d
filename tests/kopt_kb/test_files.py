"""A file that a user named is read to its end or refused with a cause."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kopt_kb.errors import BadInput
from kopt_kb.files import open_input, read_input, read_json, read_words


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("nothing", "KB110"),
        ("file/below", "KB110"),
        ("folder", "KB111"),
        ("/dev/zero", "KB111"),
        ("/proc/self/mem", "KB111"),
        ("nul\0byte", "KB118"),
        ("x" * 5000, "KB118"),
        ("loop", "KB118"),
    ],
)
def test_what_can_not_be_opened_has_its_cause(name: str, code: str, tmp_path: Path) -> None:
    """No file, a folder, a device, one that refuses to be read, and names that are none."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("x")
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(BadInput) as caught:
        read_input(tmp_path / name)
    assert caught.value.error_code == code
    assert len(str(caught.value)) < 600


def test_a_file_is_read_up_to_its_limit(tmp_path: Path) -> None:
    """The limit itself passes."""
    path = tmp_path / "file"
    path.write_bytes(b"12345")
    assert read_input(path, 5) == b"12345"
    with pytest.raises(BadInput, match="KB114"):
        read_input(path, 4)


def test_a_pipe_is_a_file() -> None:
    """`kb isa <(command)` hands over such a name."""
    source, sink = os.pipe()
    os.write(sink, b"words")
    os.close(sink)
    assert read_input(f"/dev/fd/{source}") == b"words"
    os.close(source)


def test_text_and_documents(tmp_path: Path) -> None:
    """UTF-8 with or without a mark; JSON that nests no deeper than Python reads."""
    path = tmp_path / "file"
    path.write_bytes(b'\xef\xbb\xbf{"a": "\xc3\xbc"}')
    assert read_words(path) == '{"a": "ü"}'
    assert read_json(path) == {"a": "ü"}
    for data, code in ((b"\xff", "KB115"), (b"{", "KB116"), (b"[" * 100_000, "KB116")):
        path.write_bytes(data)
        with pytest.raises(BadInput, match=code):
            read_json(path)


def test_an_open_file_streams(tmp_path: Path) -> None:
    """Nothing is read before it is asked for."""
    path = tmp_path / "file"
    path.write_bytes(b"a\nb\n")
    with open_input(path) as stream:
        assert next(stream) == b"a\n"
