"""Walk a large trace element by element with this package's walker and with ijson: processor time and most memory.

python benchmarks/json_walkers.py --megabytes 100
python benchmarks/json_walkers.py --hostile    what each makes of documents that profilers and others write
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def walk(path: Path, which: str) -> int:
    """Return how many elements `traceEvents` has; each is taken whole."""
    if which == "own":
        from kopt_kb.analysis.readers.common.json_stream import JsonStream

        count = 0
        with JsonStream(path) as stream:
            for key in stream.members():
                if key == "traceEvents":
                    for _ in stream.elements():
                        stream.value()
                        count += 1
                else:
                    stream.skip()
        return count
    import ijson

    with path.open("rb") as file:
        return sum(1 for _ in ijson.get_backend(which).items(file, "traceEvents.item", use_float=True))


HOSTILE = {
    "a byte order mark": b'\xef\xbb\xbf{"traceEvents": [1]}',
    "NaN, as Python writes it": b'{"traceEvents": [NaN]}',
    "bytes that are not UTF-8 in a name": b'{"traceEvents": ["k\xff"]}',
    "a 64-bit handle": b'{"traceEvents": [18446744073709551615]}',
    "40 kB of brackets": b'{"traceEvents": [' + b"[" * 20_000 + b"]" * 20_000 + b"]}",
    "cut": b'{"traceEvents": [1, {"x": ',
    "damaged": b'{"traceEvents": [1, {"x": }]}',
}
"""Documents, each with one thing that real reports or attackers hold."""


def hostile() -> None:
    """Print what each walker makes of each document, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        for name, content in HOSTILE.items():
            path.write_bytes(content)
            for which in ("own", "yajl2_c"):
                command = [sys.executable, __file__, "--walk", str(path), which]
                done = subprocess.run(command, capture_output=True, text=True, check=False)
                print(f"{name:<36}{done.stdout.rstrip() or f'{which:<8} refused: {_refusal(done.stderr, folder)}'}")


def _refusal(text: str, folder: str) -> str:
    """Return the message of the error that ended a child."""
    begins = [line for line in text.splitlines() if "Error: " in line]
    return begins[-1].partition("Error: ")[2].replace(f"{folder}/", "")[:100]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=100)
    parser.add_argument("--walk", nargs=2, metavar=("FILE", "WHICH"))
    parser.add_argument("--hostile", action="store_true")
    args = parser.parse_args()
    if args.hostile:
        hostile()
        return 0
    if args.walk:
        begin = time.process_time()
        count = walk(Path(args.walk[0]), args.walk[1])
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        print(f"{args.walk[1]:<8} {time.process_time() - begin:6.2f} s  {peak:4} MiB  {count} elements")
        return 0
    from profile_traces import write_chrome

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        write_chrome(path, args.megabytes)
        for which in ("own", "own", "yajl2_c", "yajl2_c", "python"):
            subprocess.run([sys.executable, __file__, "--walk", str(path), which], check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
