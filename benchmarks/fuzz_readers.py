"""Mutates real profiler reports and checks what the readers make of them.

Run: python benchmarks/fuzz_readers.py CORPUS [--mutations 10000] [--seed 0] [--only SUBSTRING]

A mutated report must read as before outside of the touched lines (or blocks of an .ncu-rep, where launches share a
table of metric names, so that a few touched names may be missing everywhere), or end in an error of the project with
exit code 2. Anything else is printed with its seed and the process exits with 1.
"""

from __future__ import annotations

import argparse
import random
import resource
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from kopt_kb.analysis.profile import ProfiledLaunch
from kopt_kb.analysis.readers import read_profiles
from kopt_kb.analysis.readers.nvidia.ncu_frames import blocks
from kopt_kb.base.errors import KoptError

NCU_GLOBS = ("ncu-rep/*.ncu-rep", "ncu-csv/*.csv", "ncu-text/*.txt")
SLOWEST_S = 30.0
_JUNK = [b'"', b",", b"\n", b"\r\n", b"\x00", b"0", b"-", b".", b"\xff\xfe", b"%s" * 9, b"nan", b'""', b"\x80"]


@dataclass(frozen=True)
class Mutation:
    """A mutated report and the bytes of the original that it touched."""

    data: bytes
    start: int
    end: int
    what: str


def mutate(data: bytes, rng: random.Random) -> Mutation:
    """Return one random damage: a changed, removed, repeated or inserted span, or a cut."""
    at = rng.randrange(len(data))
    if data[:4] == b"NVR\x00" and rng.random() < 0.3:
        at = rng.randrange(min(len(data), 4096))
    span = min(len(data) - at, rng.choice((1, 1, 2, 4, 16, 200)))
    match rng.choice(("flip", "set", "remove", "repeat", "insert", "cut")):
        case "flip":
            changed = bytes([data[at] ^ (1 << rng.randrange(8))])
            return Mutation(data[:at] + changed + data[at + 1 :], at, at + 1, "flip")
        case "set":
            changed = bytes(rng.randrange(256) for _ in range(span))
            return Mutation(data[:at] + changed + data[at + span :], at, at + span, "set")
        case "remove":
            return Mutation(data[:at] + data[at + span :], at, at + span, "remove")
        case "repeat":
            return Mutation(data[: at + span] + data[at:], at, at + span, "repeat")
        case "insert":
            return Mutation(data[:at] + rng.choice(_JUNK) + data[at:], at, at + 1, "insert")
        case _:
            return Mutation(data[:at], at, len(data), "cut")


class Original:
    """A report as it reads undamaged, with the place of every launch."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.data = path.read_bytes()
        self.launches = read_launches(path)
        self.framed = self.data[:4] == b"NVR\x00"
        self.spans = self._block_spans() if self.framed else self._line_spans()

    def _block_spans(self) -> list[tuple[int, int]]:
        found = blocks(self.path) or []
        return [(one.start, one.end) for one in found for _ in range(one.results)]

    def _line_spans(self) -> list[tuple[int, int]]:
        offsets = [0]
        for line in self.data.splitlines(keepends=True):
            offsets.append(offsets[-1] + len(line))
        starts = [offsets[int(one.place.at.split()[1]) - 1] for one in self.launches]
        self.table_start = starts[0]
        return list(zip(starts, [*starts[1:], len(self.data)], strict=True))

    def faults(self, mutation: Mutation, got: list[ProfiledLaunch]) -> list[str]:
        """Return what changed outside of the touched bytes."""
        if not self.framed and mutation.start < self.table_start:
            return []
        lines = self.data.count(b"\n", max(0, mutation.start - 1), mutation.end + 1) + 1
        names = 2 + (mutation.end - mutation.start) // 8 if self.framed else 0
        # A damaged process id makes one row a launch of its own, with the same id: the fuller one is the twin.
        by_id = {one.id: one for one in sorted(got, key=lambda one: len(one.raw))}
        found: list[str] = []
        for launch, (start, end) in zip(self.launches, self.spans, strict=True):
            touched = mutation.start <= end and mutation.end >= start
            if touched and (self.framed or mutation.what == "cut"):
                continue
            twin = by_id.get(launch.id)
            if twin is None:
                if not touched or lines < len(launch.raw):
                    found.append(f"launch {launch.id} is gone")
                continue
            differing = [name for name, value in launch.raw.items() if twin.raw.get(name) != value]
            if len(differing) > (lines if touched else names):
                found.append(f"launch {launch.id}: {len(differing)} metrics changed: {differing[:3]}")
        return found


def read_launches(path: Path) -> list[ProfiledLaunch]:
    """Return every launch of a report in file order."""
    launches = [launch for profile in read_profiles(path) for launch in profile.launches]
    if launches and launches[0].place.at.startswith("line"):
        return sorted(launches, key=lambda one: int(one.place.at.split()[1]))
    return sorted(launches, key=lambda one: tuple(int(part) for part in one.id.split("/")))


def check(original: Original, seed: int, folder: Path) -> tuple[str, list[str]]:
    """Return the outcome of one mutation and its faults."""
    mutation = mutate(original.data, random.Random(seed))
    damaged = folder / f"damaged{original.path.suffix}"
    damaged.write_bytes(mutation.data)
    start_s = time.perf_counter()
    try:
        got = read_launches(damaged)
    except KoptError as error:
        told = str(error)
        faults = [] if error.exit_code == 2 and str(damaged) in told and "\n" not in told else [f"vague: {told}"]
        outcome = "refused"
    else:
        outcome, faults = "read", original.faults(mutation, got)
    took_s = time.perf_counter() - start_s
    return outcome, faults if took_s < SLOWEST_S else [*faults, f"took {took_s:.0f} s"]


def main() -> int:
    """Run the mutations; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--mutations", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    paths = (path for pattern in NCU_GLOBS for path in sorted(arguments.corpus.glob(pattern)))
    originals = [Original(one) for one in paths if arguments.only in str(one) and "session" not in one.name]
    outcomes: Counter[str] = Counter()
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for index in range(arguments.mutations):
            original, seed = originals[index % len(originals)], arguments.seed + index
            outcome, faults = check(original, seed, Path(folder))
            outcomes[f"{original.path.name} {outcome}"] += 1
            for fault in faults:
                failures += 1
                print(f"{original.path.name} seed {seed}: {fault}")
    for name, count in sorted(outcomes.items()):
        print(f"{count:6d} {name}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    child = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"{failures} faults, peak {peak:.0f} MB, largest child {child:.0f} MB")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
