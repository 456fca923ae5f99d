"""Mutates AMD profiler reports and checks what the readers make of them.

Run: python benchmarks/fuzz_amd_readers.py CORPUS [--mutations 10000] [--seed 0] [--only SUBSTRING]

A mutated report must read, with the launches of untouched lines as before, or end in an error of the project with exit
code 2 that names the file, within seconds and without growing memory. Anything else is printed with its seed and the
process exits with 1.
"""

from __future__ import annotations

import argparse
import random
import resource
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from kopt_kb.analysis.readers import read_profiles
from kopt_kb.base.errors import KoptError

GLOBS = (
    "rocprofv3-csv/*_trace_*.csv", "rocprofv3-csv/*/*counter_collection.csv", "rocprofv3-csv/*/kernel_trace*.csv",
    "rocprofv3-json/*results.json", "rocpd/*.db", "rocprof-v1/*.csv", "rocprof-v1/*/results.stats.csv",
    "rocprof-v1/*/*.db", "rocprof-compute/*/pmc_perf.csv", "rocprof-compute-db/*.db", "att/*.csv", "att/*/code.json",
)  # fmt: skip
FOLDERS = {"pmc_perf.csv": ("sysinfo.csv", "timestamps.csv"), "code.json": ("filenames.json",)}
SLOWEST_S = 20.0
_JUNK = (
    b'"',
    b",",
    b"\n",
    b"\r\n",
    b"\x00",
    b"0",
    b"-",
    b".",
    b"\xff\xfe",
    b"9" * 30,
    b"nan",
    b'""',
    b"\x80",
    b"[{",
    b"]}",
)


def mutate(data: bytes, rng: random.Random) -> tuple[bytes, int, int]:
    """Return the data with one random damage, and the bytes of the original that it touched."""
    at = rng.randrange(len(data))
    if rng.random() < 0.2:
        at = rng.randrange(min(len(data), 4096))
    span = min(len(data) - at, rng.choice((1, 1, 2, 4, 16, 200)))
    match rng.choice(("flip", "set", "remove", "repeat", "insert", "cut")):
        case "flip":
            return data[:at] + bytes([data[at] ^ (1 << rng.randrange(8))]) + data[at + 1 :], at, at + 1
        case "set":
            return data[:at] + rng.randbytes(span) + data[at + span :], at, at + span
        case "remove":
            return data[:at] + data[at + span :], at, at + span
        case "repeat":
            return data[: at + span] + data[at:], at, at + span
        case "insert":
            return data[:at] + rng.choice(_JUNK) + data[at:], at, at + 1
        case _:
            return data[:at], at, len(data)


def by_line(path: Path) -> dict[int, tuple[object, ...]]:
    """Return what each launch of a table says, by the line of its first row."""
    found: dict[int, tuple[object, ...]] = {}
    for profile in read_profiles(path):
        for launch in profile.launches:
            if launch.place.at.startswith("line "):
                raw = tuple(sorted((name, metric.value) for name, metric in launch.raw.items()))
                found[int(launch.place.at.split()[1])] = (launch.name, launch.id, launch.duration_s, raw)
    return found


class Original:
    """A report as it reads undamaged."""

    def __init__(self, path: Path, folder: Path) -> None:
        self.path = path
        self.data = path.read_bytes()
        self.home = Path(tempfile.mkdtemp(dir=folder))
        for name in FOLDERS.get(path.name, ()):
            if (path.parent / name).is_file():
                shutil.copy(path.parent / name, self.home / name)
        self.damaged = self.home / path.name
        self.damaged.write_bytes(self.data)
        self.report = self.home if path.name in FOLDERS else self.damaged
        self.launches = by_line(self.report) if path.suffix == ".csv" else {}
        self.lines = sorted(self.launches)

    def faults(self, start: int, end: int, got: dict[int, tuple[object, ...]]) -> list[str]:
        """Return the launches of untouched lines that are gone or changed.

        A damaged dispatch id can join a launch of another line: as many launches as lines were touched may differ.
        """
        first = self.data.count(b"\n", 0, max(start - 1, 0)) + 1
        last = self.data.count(b"\n", 0, end + 1) + 1
        if first == 1:
            return []
        values = Counter(got.values())
        ends = [*(line - 1 for line in self.lines[1:]), self.data.count(b"\n")]
        untouched = [line for line, stop in zip(self.lines, ends, strict=True) if stop < first or line > last]
        differing = [line for line in untouched if values[self.launches[line]] == 0]
        return [f"line {line} changed" for line in differing] if len(differing) > last - first + 1 else []


def check(original: Original, seed: int) -> tuple[str, list[str]]:
    """Return the outcome of one mutation and its faults."""
    data, start, end = mutate(original.data, random.Random(seed))
    original.damaged.write_bytes(data)
    begin_s = time.perf_counter()
    try:
        got = by_line(original.report)
    except KoptError as error:
        told = str(error)
        plain = error.exit_code == 2 and str(original.home) in told and "\n" not in told
        outcome, faults = "refused", [] if plain else [f"vague: {told}"]
    else:
        outcome, faults = "read", original.faults(start, end, got) if original.launches else []
    took_s = time.perf_counter() - begin_s
    return outcome, faults if took_s < SLOWEST_S else [*faults, f"took {took_s:.0f} s"]


def main() -> int:
    """Run the mutations; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--mutations", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    outcomes: Counter[str] = Counter()
    failures = 0
    with tempfile.TemporaryDirectory() as name:
        paths = [path for pattern in GLOBS for path in sorted(arguments.corpus.glob(pattern))]
        originals = [Original(one, Path(name)) for one in paths if arguments.only in str(one)]
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for index in range(arguments.mutations):
            original, seed = originals[index % len(originals)], arguments.seed + index
            outcome, faults = check(original, seed)
            outcomes[outcome] += 1
            failures += bool(faults)
            for fault in faults:
                print(f"{original.path.name} seed {seed}: {fault}")
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(f"{arguments.mutations} mutations of {len(originals)} reports: {dict(outcomes)}, {failures} failures")
    print(f"memory grew by {grown:.0f} MB")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
