"""A profiler that records nothing: it runs the program that it is to watch and hands over a stored report.

The report is a row of what ncu recorded of `dram_rows` on an H100 (benchmarks/limiters), given the names and geometry
that a test asks for.
"""

from __future__ import annotations

import csv
import gzip
import io
import sys
from pathlib import Path

Launched = tuple[str, tuple[int, int, int], tuple[int, int, int]]
"""Name of a kernel, its grid and its block."""

_STORED = Path(__file__).parents[1] / "benchmarks" / "limiters" / "h100" / "forms.raw.csv.gz"
_KERNEL = "dram_rows"

_PROGRAM = """#!{python}
import os, pathlib, subprocess, sys
words = sys.argv[1:]
with open({log!r}, "a") as log:
    print(*words, "on", os.environ.get("CUDA_VISIBLE_DEVICES", "any"), file=log)
if words[0] == "--import":
    sys.stdout.write(pathlib.Path({report!r}).read_text())
    sys.exit(0)
print("==PROF== Connected to process 1")
if {fails!r}:
    print({fails!r})
    sys.exit(1)
if "--log-file" in words and {old!r}:
    print("==ERROR== the option '--log-file' is of a newer version")
    sys.exit(2)
code = subprocess.run(words[words.index({python!r}):]).returncode
if not pathlib.Path({report!r}).read_text():
    print("==WARNING== No kernels were profiled.")
    sys.exit(code)
if "--log-file" in words:
    page = pathlib.Path(words[words.index("--log-file") + 1])
    page.write_text("==PROF== Connected to process 1\\n" + pathlib.Path({report!r}).read_text())
else:
    pathlib.Path(words[words.index("--export") + 1]).write_bytes(b"NVR")
sys.exit(code)
"""


def report(*launches: Launched) -> str:
    """Return a raw page with these launches."""
    rows = list(csv.reader(io.StringIO(gzip.decompress(_STORED.read_bytes()).decode())))
    header, units = rows[:2]
    place = {name: header.index(name) for name in ("ID", "Kernel Name", "Block Size", "Grid Size")}
    stored = next(row for row in rows if row[place["Kernel Name"]].startswith(f"{_KERNEL}("))
    made = []
    for number, (name, grid, block) in enumerate(launches):
        row = list(stored)
        row[place["ID"]], row[place["Kernel Name"]] = str(number), name
        row[place["Grid Size"]], row[place["Block Size"]] = str(grid), str(block)
        made.append(row)
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL).writerows([header, units, *made])
    return text.getvalue()


def install(folder: Path, text: str = "", fails: str = "", *, old: bool = False) -> Path:
    """Put an `ncu` into a folder that hands over this report, or fails with these words; return its log of calls.

    An old one prints no page while it records.
    """
    folder.mkdir(exist_ok=True)
    stored, log = folder / "stored.csv", folder / "calls.txt"
    stored.write_text(text)
    log.touch()
    tool = folder / "ncu"
    tool.write_text(_PROGRAM.format(python=sys.executable, log=str(log), report=str(stored), fails=fails, old=old))
    tool.chmod(0o755)
    return log
