"""Stream kernels compute what their names say, in Triton's interpreter."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytest.importorskip("triton", reason="triton is not installed")

PROBE = """
from kopt_kb.kernels.streams import PATTERNS, stream
for pattern, (reads, writes) in PATTERNS.items():
    run, moved, is_right = stream(pattern, 12 * 1000 + 5, {"BLOCK": 256, "num_warps": 4}, device="cpu")
    assert not is_right(), pattern
    run()
    assert is_right(), pattern
    assert moved % (4 * (reads + writes)) == 0 and 0 <= 12005 - moved < 4 * (reads + writes), (pattern, moved)
print("ok")
"""

AGAIN = """
from kopt_kb.kernels.streams import empty, repeated
for sms, programs in ((3, 2), (4, 1)):
    config = {"BLOCK": 64, "num_warps": 4, "programs": programs}
    run, moved, is_right = repeated(2048, 10000, config, sms, device="cpu")
    assert not is_right()
    run()
    assert is_right()
    assert moved >= 10000 and moved % 2048 == 0, moved
empty()
print("ok")
"""


@pytest.mark.triton
def test_every_pattern_is_right_and_counts_its_bytes() -> None:
    """Wrong before it ran, right after, bytes are whole elements of every array."""
    env = {**os.environ, "TRITON_INTERPRET": "1"}
    done = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, env=env, check=False)
    assert done.stdout.strip() == "ok", done.stderr[-600:]


@pytest.mark.triton
def test_reading_over_and_over_sums_what_it_says_it_reads() -> None:
    """Whole passes, also where the programs do not divide the blocks; an empty launch runs."""
    env = {**os.environ, "TRITON_INTERPRET": "1"}
    done = subprocess.run([sys.executable, "-c", AGAIN], capture_output=True, text=True, env=env, check=False)
    assert done.stdout.strip() == "ok", done.stderr[-600:]
