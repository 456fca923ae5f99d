"""Pickled values with their length in front: how a worker and its parent talk."""

from __future__ import annotations

import pickle
import struct
from typing import BinaryIO

__all__ = ["read_frame", "write_frame"]

_LENGTH = struct.Struct("<Q")


def write_frame(stream: BinaryIO, value: object) -> None:
    """Write one pickled value with its length in front."""
    data = pickle.dumps(value)
    stream.write(_LENGTH.pack(len(data)) + data)
    stream.flush()


def read_frame(stream: BinaryIO) -> object:
    """Return the next value; raises `EOFError` when the other side is gone."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        raise EOFError
    (length,) = _LENGTH.unpack(head)
    data = stream.read(length)
    if len(data) < length:
        raise EOFError
    return pickle.loads(data)  # noqa: S301 - both ends are this package
