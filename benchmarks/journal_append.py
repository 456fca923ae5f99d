"""Prints how long a durable append and a full read of the journal take.

Usage: python benchmarks/journal_append.py [EVENTS] [FOLDER]
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

from kopt_kb.workspace.journal.disk import Files
from kopt_kb.workspace.journal.journal import Journal, read_journal

NOTE = {"topic": "tip", "text": "ab" * 32, "by": "benchmark"}


class NoSync(Files):
    """The same calls without waiting for the device: what the program itself costs."""

    def fsync(self, fd: int) -> None:
        pass


def append_times_s(path: Path, events: int, files: Files) -> list[float]:
    times_s = []
    with Journal.create(path, files=files) as journal:
        for _ in range(events):
            start_s = time.perf_counter()
            journal.append("note_added", NOTE)
            times_s.append(time.perf_counter() - start_s)
    return times_s


def main() -> None:
    events = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    parent = sys.argv[2] if len(sys.argv) > 2 else None
    with tempfile.TemporaryDirectory(dir=parent) as folder:
        for name, files in (("durable", Files()), ("without fsync", NoSync())):
            path = Path(folder) / f"{name}.jsonl"
            times_s = append_times_s(path, events, files)
            median_ms, worst_ms = statistics.median(times_s) * 1e3, max(times_s) * 1e3
            print(f"append, {name}: median {median_ms:.3f} ms, worst {worst_ms:.3f} ms, {events} events")
        start_s = time.perf_counter()
        read = read_journal(path)
        took_s = time.perf_counter() - start_s
        print(f"read: {len(read)} events in {took_s * 1e3:.1f} ms, {took_s / len(read) * 1e6:.1f} us an event")


if __name__ == "__main__":
    main()
