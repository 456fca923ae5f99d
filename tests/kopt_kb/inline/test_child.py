"""The child: it imports a function as its request says, calls it, and leaves a script's main part alone."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kopt_kb.inline import child

SCRIPT = (
    "import json, os, pathlib\n"
    "calls = pathlib.Path(__file__).with_name('calls')\n"
    "class Bench:\n"
    "    @staticmethod\n"
    "    def run(n, scale=1):\n"
    "        calls.open('a').write(f'{n * scale} {os.environ.get(\"KOPT_PROFILED\")}\\n')\n"
    "if __name__ == '__main__':\n"
    "    calls.write_text('main')\n"
)


def _request(folder: Path, **changed: Any) -> str:
    (folder / "script.py").write_text(SCRIPT)
    body = {"module": "", "file": str(folder / "script.py"), "name": "Bench.run", "args": [3], "kwargs": {"scale": 2},
            "warmup": 2, "path": [str(folder), *sys.path]}  # fmt: skip
    file = folder / "request.json"
    file.write_text(json.dumps(body | changed))
    return str(file)


@pytest.mark.parametrize("module", ["", "script"])
def test_called_after_its_warmup(tmp_path: Path, module: str) -> None:
    """Twice to warm up, once for the record, marked as a child; in a process that has nothing of the package."""
    words = [sys.executable, "-S", "-I", child.__file__, _request(tmp_path, module=module)]
    subprocess.run(words, check=True, timeout=60)
    assert (tmp_path / "calls").read_text() == "6 1\n" * 3


def test_what_cannot_be_imported(tmp_path: Path) -> None:
    """Ends with the reason on its last line, which the profiler's error quotes."""
    words = [sys.executable, child.__file__, _request(tmp_path, name="Bench.gone")]
    done = subprocess.run(words, check=False, timeout=60, capture_output=True, text=True)
    assert done.returncode and "gone" in done.stderr.strip().splitlines()[-1]
