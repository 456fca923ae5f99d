"""Record other people's launchers and count: how many become records, how many do not, and why.

    python benchmarks/record_foreign.py benchmarks/record_foreign.txt --platform H100_SXM --path DIR [--path DIR ...]

The list has one call a line: `module:function NAME=VALUE ...`, as `kb record --call` and `--arg` take them; `#` begins
a comment. `--path` names folders with the unpacked packages; nothing of theirs is part of this project.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

_TIMEOUT_S = 360.0


def main() -> int:
    """Record every call of the list and print one line each, then the counts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("calls", metavar="FILE", help="list of calls, one a line")
    parser.add_argument("--platform", metavar="NAME", default="H100_SXM", help="product to record for")
    parser.add_argument("--path", metavar="DIR", action="append", default=[], help="folder to import from; repeatable")
    parser.add_argument("--only", metavar="TEXT", default="", help="only calls whose line contains the text")
    args = parser.parse_args()
    paths = [str(Path(one).resolve()) for one in args.path]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([*paths, os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)}
    kinds: Counter[str] = Counter()
    packages: Counter[tuple[str, str]] = Counter()
    for call, arguments in calls(Path(args.calls).read_text(encoding="utf-8")):
        if args.only in " ".join((call, *arguments)):
            kind, why = record(call, arguments, args.platform, env)
            kinds[kind] += 1
            packages[call.split(".")[0], kind] += 1
            print(f"{kind:<16}{call}  {why}", flush=True)
    for (package, kind), count in sorted(packages.items()):
        print(f"{package}: {count} {kind}")
    print(", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())) + f", of {sum(kinds.values())} calls")
    return 0


def calls(text: str) -> list[tuple[str, list[str]]]:
    """Return the calls of a list with their arguments."""
    lines = [shlex.split(line, comments=True) for line in text.splitlines()]
    return [(words[0], words[1:]) for words in lines if words]


def record(call: str, arguments: list[str], platform: str, env: dict[str, str]) -> tuple[str, str]:
    """Return `recorded`, `not replayable` or `refused` for a call, and why."""
    given = [word for one in arguments for word in ("--arg", one)]
    with tempfile.TemporaryDirectory(prefix="record-foreign-") as scratch:
        out = str(Path(scratch) / "record")
        command = [sys.executable, "-m", "kopt_kb", "record", "--call", call, *given]
        command += ["--platform", platform, "--out", out, "--json"]
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)
    if done.returncode in (0, 1) and done.stdout.startswith("{"):
        body = json.loads(done.stdout)
        if body.get("steps"):
            launches = sum(one["step"] == "launch" for one in body["steps"])
            why = body.get("not_replayable", "")
            host = f"besides: {', '.join(body['host'])}" if body.get("host") else ""
            return ("not replayable" if why else "recorded"), f"{launches} launches; {why or host}"
    text = " ".join((done.stderr or done.stdout).split())
    return "refused", text[:240]


if __name__ == "__main__":
    sys.exit(main())
