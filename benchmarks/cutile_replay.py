"""Replay cuTile records on this machine's GPU, which needs no cuTile: verified, then against Triton's in contests.

Make the records where cuTile is installed (no GPU needed), one folder for all:
  kb record kernels/cutile/matmul.py --shape 4096x4096x4096 --dtype bf16 --platform H100_SXM --out DIR/ct_matmul.record
  kb record kernels/matmul.py --shape 4096x4096x4096 --dtype bf16 --platform H100_SXM --out DIR/tr_matmul.record
Then: python benchmarks/cutile_replay.py --records DIR --out results.json
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

LIMIT_S = 120


def ran(*words: str) -> dict:
    """Return what a command of kb prints, or why it printed nothing."""
    done = subprocess.run(
        [sys.executable, "-m", "kopt_kb", *words, "--json"],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    try:
        return json.loads(done.stdout)
    except ValueError:
        return {"problem": done.stderr.strip()[-300:], "verdict": "none"}


def main() -> None:
    """Write the results, anew after each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    found: dict = {"verify": {}, "contests": {}}
    for record in sorted(args.records.glob("ct_*.record")):
        name, said = record.stem, ran("verify", "record", str(record))
        wanted = ("label", "trust", "passed", "problem", "rel_l2_err", "checks")
        found["verify"][name] = {one: said.get(one) for one in wanted}
        other = record.with_name(record.name.replace("ct_", "tr_", 1))
        if other.is_dir():
            said = ran("bench", "record", str(other), str(record), "--least-gain", "1")
            told = ("verdict", "reason", "ratio", "quads", "dropped", "seconds", "trust")
            found["contests"][name.removeprefix("ct_")] = {one: said.get(one) for one in told}
        args.out.write_text(json.dumps(found, indent=1) + "\n")
        print(name, found["verify"][name]["passed"], found["contests"].get(name.removeprefix("ct_"), {}).get("ratio"))


if __name__ == "__main__":
    main()
