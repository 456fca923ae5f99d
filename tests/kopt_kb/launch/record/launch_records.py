"""One record of three steps with every kind of argument, for tests of the schema and of its bounds."""

from __future__ import annotations

from kopt_kb.launch.record.model import (
    VERSION,
    Buffer,
    Copy,
    Fill,
    Input,
    Launch,
    LaunchRecord,
    NullArg,
    ScalarArg,
    TensorAddress,
    TensorMapArg,
    TensorView,
)

CODE = "a" * 64
X = TensorView("x", 0, (4, 8), (8, 1), "bf16")
OUT = TensorView("out", 0, (4, 8), (8, 1), "bf16")
STEP = Launch(
    CODE, "kernel", (4, 1, 1), (128, 1, 1), (1, 1, 1), 0,
    (TensorAddress(X, "x"), TensorMapArg(OUT, (4, 8), 9, 3), ScalarArg("i32", 8, "n"), NullArg("scratch")),
)  # fmt: skip
RECORD = LaunchRecord(
    v=VERSION, label="l", op="rms_norm", shape=(4, 8), dtype="bf16", target="sm_90",
    buffers=(Buffer("x", "input", 64, 256, False), Buffer("out", "output", 64, 256, True)),
    inputs=(Input("x", X),), outputs=(OUT,), steps=(Fill(OUT, "0000"), Copy(X, OUT), STEP), codes={CODE: 10},
)  # fmt: skip
