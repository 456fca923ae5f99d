"""Throttle reasons: names of bits, and a library that is or is not there."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest

from kopt_kb.launch.record.nvml import SPOILS, Throttle, reasons_of


def test_names_of_bits() -> None:
    """Idle and application clocks are no reasons; a power cap spoils nothing."""
    assert reasons_of(0x1 | 0x2) == ()
    assert reasons_of(0x4 | 0x40) == ("power cap", "hardware thermal")
    assert "power cap" not in SPOILS
    assert set(reasons_of(0x8 | 0x20 | 0x40 | 0x80)) == SPOILS


def test_no_library_knows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine without NVIDIA's driver."""

    def absent(_: str) -> Any:
        raise OSError("libnvidia-ml.so.1: cannot open shared object file")

    monkeypatch.setattr(ctypes, "CDLL", absent)
    assert Throttle(bytes(16)).reasons() == ()


class _Library:
    """The three calls; a device is found by its UUID."""

    def __init__(self, bits: int, status: int = 0) -> None:
        self.bits, self.status, self.asked = bits, status, b""

    def nvmlInit_v2(self) -> int:  # noqa: N802 - the library's names
        return 0

    def nvmlDeviceGetHandleByUUID(self, name: bytes, _: Any) -> int:  # noqa: N802
        self.asked = name
        return 0

    def nvmlDeviceGetCurrentClocksThrottleReasons(self, _: Any, bits: Any) -> int:  # noqa: N802
        bits._obj.value = self.bits
        return self.status


@pytest.mark.parametrize(("status", "reasons"), [(0, ("software thermal",)), (3, ())])
def test_reasons_of_a_device(monkeypatch: pytest.MonkeyPatch, status: int, reasons: tuple[str, ...]) -> None:
    """Named by its UUID in NVIDIA's form; a call that fails says nothing."""
    library = _Library(0x20, status)
    monkeypatch.setattr(ctypes, "CDLL", lambda _: library)
    assert Throttle(bytes(range(16))).reasons() == reasons
    assert library.asked == b"GPU-00010203-0405-0607-0809-0a0b0c0d0e0f"
