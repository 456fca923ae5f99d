"""The least record that can be replayed, for tests of what makes, stores and replays records."""

from __future__ import annotations

import hashlib

from kopt_kb.launch.record.model import VERSION, Buffer, Input, Launch, LaunchRecord, TensorAddress, TensorView

CODE = b"\x7fELF\x02\x01\x01\x00\x07" + bytes(9) + b"\xbe\x00" + bytes(28) + b"\x5a" + bytes(15)
"""The head of an ELF file for sm_90."""

DIGEST = hashlib.sha256(CODE).hexdigest()


def small_record(**changes: object) -> LaunchRecord:
    """Return one launch on one input and one output of four bytes, with some members changed."""
    x, out = TensorView("x", 0, (4,), (1,), "u8"), TensorView("out", 0, (4,), (1,), "u8")
    step = Launch(DIGEST, "k", (1, 1, 1), (32, 1, 1), (1, 1, 1), 0, (TensorAddress(x), TensorAddress(out)))
    members: dict[str, object] = {
        "v": VERSION, "label": "l", "op": "elementwise", "shape": (4,), "dtype": "bf16", "target": "sm_90",
        "buffers": (Buffer("x", "input", 4, 256, False), Buffer("out", "output", 4, 256, True)),
        "inputs": (Input("x", x),), "outputs": (out,), "steps": (step,), "codes": {DIGEST: len(CODE)},
    }  # fmt: skip
    return LaunchRecord(**{**members, **changes})  # type: ignore[arg-type]
