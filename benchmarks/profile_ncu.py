"""Reading an `.ncu-rep` against reading every metric of it with ncu_report, each in a fresh process.

python benchmarks/profile_ncu.py REPORT [--times 25]

A report of the wanted size is made by repeating the blocks of a real one (its frames say where they are).
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from kopt_kb.analysis.readers.nvidia.ncu_frames import blocks

EVERY_METRIC = """
import sys, ncu_report
context = ncu_report.load_report(sys.argv[1])
for number in range(context.num_ranges()):
    actions = context.range_by_idx(number)
    for index in range(actions.num_actions()):
        action = actions.action_by_idx(index)
        for name in action.metric_names():
            metric = action.metric_by_name(name)
            if metric is None:
                continue
            kind = metric.kind()
            metric.unit()
            if kind == 2:
                metric.as_string()
            elif kind in (3, 4):
                metric.as_double()
            elif kind in (5, 6):
                metric.as_uint64()
"""
PROFILES = "import sys; from kopt_kb.analysis.readers import read_profiles; list(read_profiles(sys.argv[1]))"


def repeated(report: Path, times: int, out: Path) -> int:
    """Write a report whose blocks stand `times` times and return its results."""
    data, found = report.read_bytes(), blocks(report)
    if not found:
        raise SystemExit(f"{report}: no frames that are known")
    out.write_bytes(data[: found[0].start] + data[found[0].start :] * times)
    return times * sum(one.results for one in found)


def measured(code: str, report: Path) -> tuple[float, float]:
    """Return processor seconds and wall seconds of a program on a report, children included."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run([sys.executable, "-c", code, str(report)], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, time.monotonic() - start


def main() -> None:
    """Measure both, one after the other, three times."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("report", type=Path)
    parser.add_argument("--times", type=int, default=25)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        large = Path(folder) / "large.ncu-rep"
        results = repeated(args.report, args.times, large)
        print(f"{large.stat().st_size / 1e6:.0f} MB, {results} kernels")
        for _ in range(3):
            every, ours = measured(EVERY_METRIC, large), measured(PROFILES, large)
            pair = (("every metric", every), ("profiles", ours))
            told = [f"{name} {one[0]:.2f} s ({one[1]:.2f} s wall)" for name, one in pair]
            print(f"{', '.join(told)}, {ours[0] / every[0]:.2f} x processor, {ours[1] / every[1]:.2f} x wall")


if __name__ == "__main__":
    main()
