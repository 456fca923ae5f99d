"""Large traces that this script writes, each read in a fresh process: seconds of processor time and the most memory.

python benchmarks/profile_traces.py --megabytes 1000
"""

from __future__ import annotations

import argparse
import gzip
import resource
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

HEAD = """{
  "schemaVersion": 1,
  "deviceProperties": [
    {"id": 0, "name": "NVIDIA H100 80GB HBM3", "computeMajor": 9, "computeMinor": 0}
  ],
  "displayTimeUnit": "ms",
  "traceEvents": ["""
NAMES = [
    f"void at::native::vectorized_elementwise_kernel<4, at::native::Functor{one}>(int, float)" for one in range(40)
]
STEP_US = 20.5


def events(number: int) -> str:
    """Return an operation, its launch call, the arrow between them and the kernel, as Kineto writes them."""
    at = 4470902407392.303 + number * STEP_US
    stream = 7 + number % 3
    return f"""
  {{
    "ph": "X", "cat": "cpu_op", "name": "aten::mul", "pid": 426, "tid": 426,
    "ts": {at:.3f}, "dur": 12.303,
    "args": {{
      "External id": {number},"Record function id": 0, "Ev Idx": {number}
    }}
  }},
  {{
    "ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 426, "tid": 426,
    "ts": {at + 2:.3f}, "dur": 5.120,
    "args": {{
      "External id": {number}, "cbid": 211, "correlation": {number}
    }}
  }},
  {{
    "ph": "s", "id": {number}, "pid": 426, "tid": 426, "ts": {at + 2:.3f},
    "cat": "ac2g", "name": "ac2g"
  }},
  {{
    "ph": "X", "cat": "kernel", "name": "{NAMES[number % len(NAMES)]}", "pid": 0, "tid": {stream},
    "ts": {at + 9:.3f}, "dur": {3 + number % 17}.104,
    "args": {{
      "External id": {number},
      "queued": 0, "device": 0, "context": 1,
      "stream": {stream}, "correlation": {number},
      "registers per thread": 32,
      "shared memory": 0,
      "blocks per SM": 0.060606,
      "warps per SM": 0.242424,
      "grid": [8, 1, 1],
      "block": [128, 1, 1],
      "est. achieved occupancy %": 0
    }}
  }},
  {{
    "ph": "f", "id": {number}, "pid": 0, "tid": {stream}, "ts": {at + 9:.3f},
    "cat": "ac2g", "name": "ac2g", "bp": "e"
  }}"""


def write_chrome(path: Path, megabytes: int) -> int:
    """Write a trace and return its number of kernels."""
    kernels = size = 0
    with gzip.open(path, "wt", compresslevel=1) if path.suffix == ".gz" else path.open("w") as out:
        out.write(HEAD)
        while size < megabytes * 1_000_000:
            text = events(kernels) if not kernels else f",{events(kernels)}"
            size += out.write(text)
            kernels += 1
        out.write("\n  ]\n}\n")
    return kernels


def write_nsys(path: Path, kernels: int) -> None:
    """Write an export with a launch call for each kernel."""
    with sqlite3.connect(path) as base:
        base.executescript(
            "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
            'CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, "end" INT, deviceId INT, streamId INT,'
            " correlationId INT, globalPid INT, demangledName INT, shortName INT, registersPerThread INT,"
            " gridX INT, gridY INT, gridZ INT, blockX INT, blockY INT, blockZ INT);"
            'CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT, "end" INT, globalTid INT,'
            " correlationId INT, nameId INT)"
        )
        base.executemany("INSERT INTO StringIds VALUES (?, ?)", [*enumerate(NAMES), (99, "cudaLaunchKernel_v7000")])
        base.executemany(
            "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, 0, 7, ?, 16777216, ?, ?, 32, 8, 1, 1, 128, 1, 1)",
            ((one * 9000, one * 9000 + 3000 + one % 17, one, one % 40, one % 40) for one in range(kernels)),
        )
        base.executemany(
            "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, 16777217, ?, 99)",
            ((one * 9000 - 5000, one * 9000 - 2000, one) for one in range(kernels)),
        )
    base.close()


def measure(path: Path, kernels: int) -> None:
    """Read a trace and print what it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "kopt_kb", "profile", "read", str(path), "--top", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    found = next(line for line in done.stdout.splitlines() if "kernel launches" in line)
    assert f", {kernels} kernel launches" in found, found
    size_mb = path.stat().st_size / 1e6
    print(f"{path.name:20} {size_mb:8.0f} MB {kernels:9} kernels {seconds:7.1f} s  {size_mb / seconds:6.0f} MB/s  "
          f"{after.ru_maxrss / 1024:6.0f} MiB at most so far", flush=True)  # fmt: skip


def main() -> None:
    """Write, read and remove each trace."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=200, help="size of the JSON before packing")
    parser.add_argument("--kernels", type=int, default=1_000_000, help="kernels of the export")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name in ("trace.json.gz", "trace.json"):
            path = Path(folder) / name
            measure(path, write_chrome(path, args.megabytes))
            path.unlink()
        path = Path(folder) / "report.sqlite"
        write_nsys(path, args.kernels)
        measure(path, args.kernels)


if __name__ == "__main__":
    main()
