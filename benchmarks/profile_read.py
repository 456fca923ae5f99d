"""Times the reading of profiler reports, each in a fresh process, with the memory of reader and child.

Run: python benchmarks/profile_read.py FILE_OR_FOLDER... [--repeat 3] [--json]
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path

_CHILD = """
import json, resource, sys, time
start = time.perf_counter()
from kopt_kb.analysis.readers import read_profiles
loaded = time.perf_counter()
profiles = list(read_profiles(sys.argv[1]))
classes = [one.sol_class for one in profiles]
done = time.perf_counter()
used = lambda who: resource.getrusage(who).ru_maxrss * 1024
print(json.dumps({
    "import_s": loaded - start, "read_s": done - loaded, "kernels": len(profiles),
    "launches": sum(one.launch_count for one in profiles), "reader_bytes": used(resource.RUSAGE_SELF),
    "child_bytes": used(resource.RUSAGE_CHILDREN),
}))
"""


def measure(path: Path, repeat: int) -> dict[str, object]:
    """Return the median times and the largest memory of several fresh processes."""
    runs = []
    for _ in range(repeat):
        done = subprocess.run([sys.executable, "-c", _CHILD, str(path)], capture_output=True, text=True, check=False)
        if done.returncode:
            return {"file": str(path), "error": done.stderr.strip().splitlines()[-1]}
        runs.append(json.loads(done.stdout))
    medians = {key: statistics.median(run[key] for run in runs) for key in ("import_s", "read_s")}
    largest = {key: max(run[key] for run in runs) for key in ("kernels", "launches", "reader_bytes", "child_bytes")}
    size_bytes = path.stat().st_size
    return {"file": str(path), "size_bytes": size_bytes, **medians, **largest, "repeat": repeat}


def main() -> int:
    """Print one line a report; returns 1 when one can't be read."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    files = [
        file
        for path in arguments.paths
        for file in (sorted(path.rglob("*")) if path.is_dir() else [path])
        if file.is_file() and file.suffix != ".json"
    ]
    results = [measure(file, arguments.repeat) for file in files]
    if arguments.json:
        print(json.dumps(results, indent=1))
    else:
        for one in results:
            print(_line(one))
    return 1 if any("error" in one for one in results) else 0


def _line(one: dict[str, object]) -> str:
    name = Path(str(one["file"])).name
    if "error" in one:
        return f"{name:34} {one['error']}"
    mega = {key: float(str(one[key])) / 1e6 for key in ("size_bytes", "reader_bytes", "child_bytes")}
    return (
        f"{name:34} {mega['size_bytes']:9.3f} MB  read {float(str(one['read_s'])):7.3f} s"
        f"  launches {one['launches']:>5}  reader {mega['reader_bytes']:4.0f} MB  child {mega['child_bytes']:4.0f} MB"
    )


if __name__ == "__main__":
    sys.exit(main())
