"""The least file that `kb init` takes for a Triton kernel: it names its operation and its launch starts a kernel."""

from __future__ import annotations

DEMO = """OP = "rms_norm"
import triton


@triton.jit
def _kernel(x):
    pass


def launch(x):
    _kernel[(1,)](x)
"""
