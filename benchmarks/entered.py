"""Prints how many files and functions of the project a whole `kb` command enters, counted by a profile hook.

Usage: python benchmarks/entered.py                    one simulated round after a baseline, on one shape
       python benchmarks/entered.py WORD...            any command, such as: audit kernel_opt_norm

A file counts when its module is imported or a function of it runs; a function counts when it runs (comprehensions and
class bodies do not). The hook counts the main thread of the command, and no children.
"""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from types import CodeType, FrameType

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = tuple(str(ROOT / name) + os.sep for name in ("kopt_kb", "analysis", "kernels"))


def counted(words: list[str]) -> tuple[int, Counter[str], Counter[str]]:
    """Run a command here; return its exit code, and by file how many functions ran and how often."""
    seen: dict[CodeType, int] = {}

    def hook(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            seen[frame.f_code] = seen.get(frame.f_code, 0) + 1

    sys.setprofile(hook)
    try:
        from kopt_kb.cli.main import main

        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            code = main(words)
    finally:
        sys.setprofile(None)
    functions: Counter[str] = Counter()
    calls: Counter[str] = Counter()
    for one, count in seen.items():
        path = str(Path(one.co_filename).resolve())
        if path.startswith(FOLDERS):
            is_function = (one.co_flags & 0x2 and not one.co_name.startswith("<")) or one.co_name == "<lambda>"
            functions[path] += bool(is_function)
            calls[path] += count if is_function else 0
    return code, functions, calls


def simulated_round(folder: Path) -> list[str]:
    """Make a workspace with a measured baseline; return the command that does one round in it."""
    kb = [sys.executable, "-m", "kopt_kb"]
    demo = str(ROOT / "kernels" / "naive" / "rms_norm.py")
    init = ["init", "norm", "--platform", "H200_SXM", "--framework", "Triton", "--kernel-demo", demo]
    subprocess.run(
        [*kb, *init, "--shape", "1024x512", "--dtype", "bf16", "--parent", str(folder)],
        check=True,
        capture_output=True,
        cwd=ROOT,
    )
    tune = ["tune", "run", str(folder / "kernel_opt_norm"), "--simulate", "--yes"]
    subprocess.run([*kb, *tune, "--budget-rounds", "0"], check=True, capture_output=True, cwd=ROOT)
    return [*tune, "--budget-rounds", "1"]


def main() -> None:
    """Count the command of the command line, or one simulated round."""
    with tempfile.TemporaryDirectory() as folder:
        words = sys.argv[1:] or simulated_round(Path(folder))
        if sys.argv[1:]:
            code, functions, calls = counted(words)
        else:  # in a process of its own: what was imported to get here does not count
            print(subprocess.run([sys.executable, __file__, *words], check=True, capture_output=True, text=True).stdout)
            return
    ran = sum(1 for count in functions.values() if count)
    print(f"kb {' '.join(words[:2])}: exit {code}")
    print(f"{len(functions)} files imported or entered, {ran} of them with a function that ran")
    print(f"{sum(functions.values())} functions, {sum(calls.values())} calls")


if __name__ == "__main__":
    main()
