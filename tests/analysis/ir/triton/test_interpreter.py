"""The IR counter agrees with triton's own interpreter, which executes the Python source instead of the IR."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.triton, pytest.mark.torch]

LAUNCHES = {
    "vadd": (5, {"n": 5003}),
    "softmax": (3, {"cols": 700}),
    "rmsnorm": (3, {"cols": 700}),
    # The optimiser folds an addition into the dot's accumulator; the interpreter runs what was written.
    "flash.3.6.0.source": ((2, 2), {"seq": 200}),
    "column_sums": (2, {"rows": 70, "cols": 100}),
    "while_countable": (3, {"n": 1000}),
    "select_pointer": (4, {"n": 1000, "split": 2}),
    "gemm_wrapped": (4, {"m": 200, "n": 136, "k": 72}),
    "gemm_desc": (4, {"m": 200, "n": 136, "k": 72}),
    "gemm_block_pointers": (4, {"m": 200, "n": 136, "k": 72}),
    "gemm_persistent": (3, {"m": 200, "n": 136, "k": 72}),
}


@pytest.fixture(scope="module")
def interpreted():
    """Totals of every case, from one child process with the interpreter switched on."""
    pytest.importorskip("torch")
    pytest.importorskip("triton")
    script = Path(__file__).with_name("interpreter_meter.py")
    environment = {**os.environ, "TRITON_INTERPRET": "1"}
    done = subprocess.run([sys.executable, "-W", "ignore", script], env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", LAUNCHES)
def test_bytes_and_operations_equal_the_interpreters(interpreted, count, name):
    """Requested and distinct bytes both ways, matrix and vector FLOPs, special functions."""
    grid, args = LAUNCHES[name]
    kernel, seen = count(name, grid, args), interpreted[name.partition(".")[0]]
    assert kernel.exactness == "exact"
    assert (kernel.read.requested.value, kernel.written.requested.value) == (seen["read"], seen["written"])
    assert kernel.read.compulsory.value == seen["read_distinct"]
    assert kernel.written.compulsory.value == seen["written_distinct"]
    for engine in ("matrix", "vector"):
        assert sum(f.amount.value for f in kernel.executed if f.engine == engine) == seen.get(engine, 0), engine
    assert sum(special.executed.value for special in kernel.special) == seen.get("special", 0)
