"""A file that a user named is read to its end or refused with a cause."""

from __future__ import annotations

import errno
import io
import os
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.base.files import check_new, open_input, read_input, read_json, read_words, write_new, write_output


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


@pytest.mark.parametrize(
    ("name", "code"),
    [("there", "KB113"), ("folder", "KB113"), ("dangling", "KB113"), ("none/new", "KB110"), ("there/new", "KB110"),
     ("/dev/full", "KB113"), ("nul\0byte", "KB118"), ("x" * 5000, "KB118"), ("", "KB110")],
)  # fmt: skip
def test_a_new_file_is_never_written_over_another(name: str, code: str, tmp_path: Path) -> None:
    """Refused before anything is computed, and left as it was."""
    (tmp_path / "there").write_text("mine")
    (tmp_path / "folder").mkdir()
    (tmp_path / "dangling").symlink_to(tmp_path / "elsewhere")
    path = str(tmp_path / name) if name else ""
    for refuse in (check_new, lambda path: write_new(path, b"x")):
        with pytest.raises(BadInput) as caught:
            refuse(path)
        assert caught.value.error_code == code
    assert (tmp_path / "there").read_text() == "mine"
    assert not (tmp_path / "elsewhere").exists()


def test_a_new_file_is_whole_or_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk leaves nothing behind."""
    write_new(tmp_path / "new", b"data")
    assert (tmp_path / "new").read_bytes() == b"data"
    real = Path.open

    class Full(io.BytesIO):
        def write(self, _: object) -> int:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def full(self: Path, mode: str) -> io.BytesIO:
        real(self, mode).close()
        return Full()

    monkeypatch.setattr(Path, "open", full)
    with pytest.raises(BadInput, match="No space left") as caught:
        write_new(tmp_path / "other", b"data")
    assert caught.value.error_code == "KB112"
    assert not (tmp_path / "other").exists()


def test_an_output_is_written_over_only_where_that_is_forced(tmp_path: Path) -> None:
    file = tmp_path / "out.py"
    write_output(str(file), "first", force=False)
    with pytest.raises(BadInput) as caught:
        write_output(str(file), "second", force=False)
    assert (caught.value.error_code, file.read_text()) == ("KB113", "first")
    write_output(str(file), "second", force=True)
    assert file.read_text() == "second"
    with pytest.raises(BadInput) as caught:
        write_output(str(tmp_path / "none" / "out.py"), "", force=True)
    assert caught.value.error_code == "KB112"
