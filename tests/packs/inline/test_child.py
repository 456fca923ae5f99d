"""The child: it imports a function as its request says, calls it, and leaves a script's main part alone."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kopt_kb.packs.inline import child

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


TORCH = (
    "import pathlib, types\n"
    "def log(what):\n"
    "    pathlib.Path(__file__).with_name('launched').open('a').write(what + ' ')\n"
    "runtime = types.SimpleNamespace(cudaProfilerStart=lambda: log('<'), cudaProfilerStop=lambda: log('>'))\n"
    "nvtx = types.SimpleNamespace(range_push=lambda name: None, range_pop=lambda: None)\n"
    "cuda = types.SimpleNamespace(is_available=lambda: True, synchronize=lambda: None, cudart=lambda: runtime, nvtx=nvtx)\n"
)
PARTS = (
    "import kopt_kb, torch\n"
    "def whole():\n"
    "    torch.log('setup')\n"
    "    torch.log('work')\n"
    "def parts():\n"
    "    torch.log('setup')\n"
    "    with kopt_kb.annotate('part'), kopt_kb.annotate('inner'):\n"
    "        torch.log('work')\n"
    "    torch.log('rest')\n"
)


@pytest.mark.parametrize(
    ("name", "recorded"), [("whole", "< setup work >"), ("parts", "setup < work > rest")]
)  # what the profiler sees stands between < and >
def test_setup_is_not_recorded(tmp_path: Path, name: str, recorded: str) -> None:
    """A function with parts is recorded in them alone, once where they are nested; one without from begin to end."""
    (tmp_path / "torch.py").write_text(TORCH)
    (tmp_path / "script.py").write_text(PARTS)
    file = tmp_path / "request.json"
    body = {"module": "", "file": str(tmp_path / "script.py"), "name": name, "args": [], "kwargs": {}, "warmup": 1,
            "path": [str(tmp_path), *sys.path]}  # fmt: skip
    file.write_text(json.dumps(body))
    subprocess.run([sys.executable, child.__file__, str(file)], check=True, timeout=60)
    launched = (tmp_path / "launched").read_text()
    assert launched.split("work", 1)[1].strip().removeprefix("rest ") == recorded


def test_what_cannot_be_imported(tmp_path: Path) -> None:
    """Ends with the reason on its last line, which the profiler's error quotes."""
    words = [sys.executable, child.__file__, _request(tmp_path, name="Bench.gone")]
    done = subprocess.run(words, check=False, timeout=60, capture_output=True, text=True)
    assert done.returncode and "gone" in done.stderr.strip().splitlines()[-1]
