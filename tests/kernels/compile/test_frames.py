"""Claims about the protocol between a worker and its parent."""

from __future__ import annotations

import io

import pytest

from kopt_kb.kernels.compile.frames import read_frame, write_frame


def test_values_come_back_in_order():
    """Two frames, two values."""
    stream = io.BytesIO()
    write_frame(stream, {"a": 1})
    write_frame(stream, [b"x" * 100_000])
    stream.seek(0)
    assert read_frame(stream) == {"a": 1}
    assert read_frame(stream) == [b"x" * 100_000]


@pytest.mark.parametrize("cut", [0, 3, 12])
def test_a_cut_stream_is_the_end(cut):
    """A dead writer is an EOFError, wherever it died."""
    stream = io.BytesIO()
    write_frame(stream, "value")
    with pytest.raises(EOFError):
        read_frame(io.BytesIO(stream.getvalue()[:cut]))
