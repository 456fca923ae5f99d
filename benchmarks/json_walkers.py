"""Walk a large trace element by element with this package's walker and with ijson: processor time and most memory.

python benchmarks/json_walkers.py --megabytes 100
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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=100)
    parser.add_argument("--walk", nargs=2, metavar=("FILE", "WHICH"))
    args = parser.parse_args()
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
