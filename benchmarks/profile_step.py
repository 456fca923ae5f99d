"""How much of the kernel time of public torch traces has a roof, and what `kb profile step` costs beside json.load.

Traces are the user's files, and results print their names. The last line of a group says how many of its traces reach
90 %. A trace whose device no page names needs its product, NAME-PART=ID.

python benchmarks/profile_step.py --developed a.json.gz b.json.gz --held c.json.gz --product A100-PG509=A100_SXM_40GB
python benchmarks/profile_step.py --speed big.json --times 8
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import tempfile
import time
from pathlib import Path

from kopt_kb.base.errors import KoptError
from kopt_kb.packs.step_ranking.report import StepReport
from kopt_kb.packs.step_ranking.step import step_report
from kopt_kb.wiki.registry import Registry

ENOUGH = 0.9
SHIFT_US = 10_000_000
SHIFT_IDS = 1 << 28


def read(path: Path, registry: Registry, products: dict[str, str]) -> StepReport:
    """Return a trace's report; its product is named where its device is one that no page names."""
    found = step_report(path, registry)
    wanted = next((one for part, one in products.items() if part in (found.device or path.name)), "")
    return step_report(path, registry, registry.platform(wanted)) if wanted and not found.platform else found


def group(title: str, paths: list[Path], registry: Registry, products: dict[str, str]) -> None:
    """Print the coverage of each trace."""
    reached = 0
    print(f"\n{title}")
    for path in paths:
        try:
            found = read(path, registry, products)
        except KoptError as error:
            print(f"{path.name}: refused, {error}")
            continue
        reached += found.covered >= ENOUGH
        why: dict[str, float] = {}
        for one in found.unroofed:
            if not one.is_transfer:
                word = "collectives" if one.category == "communication" else one.why
                why[word] = why.get(word, 0.0) + one.total_s
        rest = [f"{100 * s / found.kernel_s:.1f} % {word}" for word, s in sorted(why.items(), key=lambda one: -one[1])]
        product = found.platform or "no product"
        print(
            f"{path.name}: {100 * found.covered:.1f} % of {1e3 * found.kernel_s:.1f} ms on {product}"
            f" ({found.step[:40]}, {found.steps} steps)" + (f"; without: {', '.join(rest[:3])}" if rest else "")
        )
    print(f"{reached} of {len(paths)} have a roof for at least {100 * ENOUGH:.0f} %")


def grown(path: Path, times: int, folder: Path) -> Path:
    """Return a trace whose events are there several times, later and with other identifiers each time."""
    document = json.loads(path.read_text())
    made = folder / "grown.json"
    with made.open("w") as stream:
        head = {key: value for key, value in document.items() if key != "traceEvents"}
        stream.write(json.dumps(head)[:-1] + ', "traceEvents": [\n')
        for turn in range(times):
            for at, event in enumerate(document["traceEvents"]):
                args = event.get("args")
                shifted = {**event, "ts": event["ts"] + turn * SHIFT_US} if "ts" in event else event
                if isinstance(args, dict):
                    ids = {key: args[key] + turn * SHIFT_IDS for key in ("correlation", "External id") if key in args}
                    shifted = {**shifted, "args": {**args, **ids}}
                stream.write((",\n" if turn or at else "") + json.dumps(shifted))
        stream.write("]}")
    return made


def speed(path: Path, registry: Registry, products: dict[str, str]) -> None:
    """Print CPU seconds of json.load and of the report."""
    begun = time.process_time()
    with path.open() as stream:
        json.load(stream)
    loaded = time.process_time() - begun
    asked = next((registry.platform(one) for one in products.values()), None)
    begun = time.process_time()
    step_report(path, registry, asked)
    taken = time.process_time() - begun
    size = path.stat().st_size / 1e6
    print(f"\n{size:.0f} MB: json.load {loaded:.2f} s, report {taken:.2f} s, {taken / loaded:.2f} times")


def main() -> int:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--developed", nargs="*", type=Path, default=[])
    parser.add_argument("--held", nargs="*", type=Path, default=[])
    parser.add_argument("--product", action="append", default=[], metavar="PART=ID")
    parser.add_argument("--speed", type=Path)
    parser.add_argument("--times", type=int, default=1)
    args = parser.parse_args()
    products = dict(one.split("=", 1) for one in args.product)
    registry = Registry.open()
    print(
        " ".join(
            ["python benchmarks/profile_step.py", *(Path(one).name if "/" in one else one for one in sys.argv[1:])]
        )
    )
    print(f"Python {platform.python_version()}, {platform.machine()}")
    if args.developed:
        group("Developed with:", args.developed, registry, products)
    if args.held:
        group("Set aside until the rules stood:", args.held, registry, products)
    if args.speed:
        with tempfile.TemporaryDirectory() as folder:
            path = args.speed if args.times == 1 else grown(args.speed, args.times, Path(folder))
            speed(path, registry, products)
    return 0


if __name__ == "__main__":
    sys.exit(main())
