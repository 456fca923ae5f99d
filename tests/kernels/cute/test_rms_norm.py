"""The RMS norm in CuTe DSL: one block a row, accesses as wide as rows allow, and a record of it."""

from __future__ import annotations

from typing import Any


def test_its_launch(launched: Any, declared: Any) -> None:
    """A block a row with a sum a warp in shared memory."""
    made = launched("rms_norm", (512, 1001), "fp16", {"THREADS": 512})
    assert (made.grid, made.block, made.shared_bytes) == ((512, 1, 1), (512, 1, 1), 64)
    assert (declared("rms_norm").op, declared("rms_norm").variants) == ("rms_norm", ["kept", "two_pass"])


def test_its_record(recorded: Any) -> None:
    """It compiles without a GPU, also where rows are no multiple of an access."""
    assert "rms_norm_kernel" in recorded("rms_norm", (7, 1001), "fp16").launches[0].entry
