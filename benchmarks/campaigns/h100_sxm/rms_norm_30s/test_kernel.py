"""Correctness of kernel.py on every shape of this workspace, by its reference and tolerance.

    pytest test_kernel.py        or: python test_kernel.py, which prints the largest relative error
"""

import io
import json
import sys
from contextlib import redirect_stdout
from pathlib import Path

from kopt_kb.cli.main import main
from kopt_kb.workspace.workspace import Workspace

HERE = Path(__file__).resolve().parent
STATE = Workspace.open(HERE).state()
DEVICE = "cuda"


def verdict(shape):
    """Return exit code and document of `kb verify kernel` on one shape."""
    kernel = next(path for path in (HERE / "kernel.cu", HERE / "kernel.py") if path.is_file())
    words = ["verify", "kernel", str(kernel), "--op", STATE.problem.op, "--dtype", STATE.problem.dtype]
    if (HERE / "reference.py").is_file():
        words += ["--reference", str(HERE / "reference.py")]
    with redirect_stdout(io.StringIO()) as printed:
        code = main([*words, "--shape", shape, "--device", DEVICE, "--json"])
    return code, json.loads(printed.getvalue())


def test_kernel():
    """Every shape passes within the workspace's tolerance."""
    limit = float(STATE.problem.tolerance.rel_l2_err)
    for shape in STATE.problem.shape_names:
        code, found = verdict(shape)
        error = found.get("rel_l2_err") if isinstance(found, dict) else None
        print(f"{shape}: max rel_err {error}, {'PASS' if code == 0 else 'FAIL'}")
        assert code == 0, found
        assert error is None or error <= limit, f"{shape}: {error} is above {limit}"


if __name__ == "__main__":
    DEVICE = sys.argv[1] if len(sys.argv) > 1 else DEVICE
    test_kernel()
