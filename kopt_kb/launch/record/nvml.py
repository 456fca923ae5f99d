"""Why a GPU is slowed down, as NVIDIA's management library says (nvmlDeviceGetCurrentClocksThrottleReasons).

The library comes with the driver and is called through ctypes; where it is absent nothing is known.
"""

from __future__ import annotations

import contextlib
import ctypes
from typing import Any

__all__ = ["SPOILS", "Throttle", "reasons_of"]

_REASONS = {
    0x4: "power cap", 0x8: "hardware slowdown", 0x20: "software thermal", 0x40: "hardware thermal", 0x80: "power brake",
}  # fmt: skip
"""Bits of the mask (NVML API reference, "Clocks Throttle Reasons") that lower a clock under load."""

SPOILS = frozenset(_REASONS.values()) - {"power cap"}
"""Reasons that spoil a quad. A power cap is how large products run, on both sides alike; it is only noted."""


def reasons_of(bits: int) -> tuple[str, ...]:
    """Return the names of the reasons in a mask."""
    return tuple(name for bit, name in _REASONS.items() if bits & bit)


class Throttle:
    """The reasons of one device, named by the 16 bytes of its UUID."""

    def __init__(self, uuid: bytes) -> None:
        self._library: Any = None
        self._device = ctypes.c_void_p()
        text = uuid.hex()
        parts = (text[:8], text[8:12], text[12:16], text[16:20], text[20:])
        with contextlib.suppress(OSError, AttributeError):
            library = ctypes.CDLL("libnvidia-ml.so.1")
            name = ("GPU-" + "-".join(parts)).encode()
            if not library.nvmlInit_v2() and not library.nvmlDeviceGetHandleByUUID(name, ctypes.byref(self._device)):
                self._library = library

    def reasons(self) -> tuple[str, ...]:
        """Return the reasons at present; none where the library does not say."""
        if self._library is None:
            return ()
        bits = ctypes.c_ulonglong()
        failed = self._library.nvmlDeviceGetCurrentClocksThrottleReasons(self._device, ctypes.byref(bits))
        return () if failed else reasons_of(bits.value)
