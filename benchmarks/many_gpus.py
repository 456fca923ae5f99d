"""One and several GPUs of a machine: configurations a minute with records already made, and the winners.

Usage: python benchmarks/many_gpus.py --out DIR [--budget-s 120] [--devices 0,1] [--configs 160] [--shape MxNxK]

Records of a matrix product's configurations are made first. Then they are ranked by one device and by all of them, in
turn and twice each, every judge warm; the best of each ranking are timed again on the first device, and the winners
against each other. many_gpus.json in DIR is written after every step. With `--simulate` fake devices take the place of
GPUs: that tests the script and measures nothing.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import json
import math
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from kopt_kb.base.errors import MissingTool  # noqa: E402
from kopt_kb.launch.counts.device_facts import device_facts  # noqa: E402
from kopt_kb.launch.judge.device import DeviceJudging  # noqa: E402
from kopt_kb.launch.judge.makers import Makers  # noqa: E402
from kopt_kb.launch.judge.pool import DevicePool, pinned  # noqa: E402
from kopt_kb.launch.judge.ranking import Ranked, Ranking  # noqa: E402
from kopt_kb.launch.judge.shelf import Asked, RecordTarget, Shelf  # noqa: E402
from kopt_kb.launch.kernel.declared import packaged_file  # noqa: E402
from kopt_kb.launch.record.bounds import unfit_result  # noqa: E402
from kopt_kb.wiki.registry import Registry  # noqa: E402

SPACE: dict[str, list[object]] = {
    "BLOCK_M": [64, 128, 256], "BLOCK_N": [64, 128, 256], "BLOCK_K": [32, 64], "GROUP_M": [1, 8], "num_warps": [4, 8],
    "num_stages": [2, 3, 4, 5],
}  # fmt: skip
START: dict[str, object] = {
    "BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 64, "GROUP_M": 8, "num_warps": 8, "num_stages": 3,
}  # fmt: skip
LAUNCHES, NEAR, AGAIN, BEST = (2, 5), 1.15, 24, 8
SHARES = {"records": 0.35, "ranking": 0.85}
"""Of the budget: until when records are made, and until when they are ranked."""


class Kept:
    """What was found, written after every step."""

    def __init__(self, out: Path) -> None:
        self._file = out / "many_gpus.json"
        self.found: dict[str, Any] = {}

    def add(self, **more: object) -> None:
        """Keep and print some of it."""
        self.found |= more
        self._file.write_text(json.dumps(self.found, indent=1) + "\n")
        print(json.dumps(more), flush=True)


def configs(count: int) -> list[dict[str, object]]:
    """Return the start and so many others, the same each time."""
    every = [dict(zip(SPACE, one, strict=True)) for one in itertools.product(*SPACE.values())]
    random.Random(1).shuffle(every)
    return [START, *(one for one in every if one != START)][:count]


def records(args: argparse.Namespace, folder: Path, product: str, until: float) -> Iterator[tuple[str, Path]]:
    """Yield (configuration, record) of those that are made in time, the start's first."""
    platform = Registry.open().platform(product)
    path = packaged_file("gemm")
    assert path is not None
    with Makers() as makers:
        shelf = Shelf(
            folder, makers, RecordTarget(platform.identity.target, product, device_facts(platform)), most=10_000
        )
        asked = [Asked(path.read_bytes(), args.shape, "bf16", one) for one in configs(args.configs)]
        first = shelf.keep(asked[0], shelf.begin(asked[0]).result())
        yield json.dumps(asked[0].config, sort_keys=True), first.folder if first.record else Path()
        for one, made in shelf.stream(iter(asked[1:]), shelf.ahead, lambda: time.monotonic() >= until):
            if made.record is not None and not made.record.not_replayable and not unfit_result(made.record):
                yield json.dumps(one.config, sort_keys=True), made.folder
        shelf.close()


def ranked(
    pool: Sequence[DeviceJudging], made: dict[str, Path], reference: Path, until: float, passes: int
) -> tuple[dict[str, float], dict[str, object]]:
    """Rank all records, so many times each; return configuration → time, and what it took."""
    names, begin = list(made), time.monotonic()
    found: list[Ranked] = []
    with Ranking(pool, made[names[0]], reference, LAUNCHES, until, NEAR) as ranking:
        for number, name in itertools.product(range(passes), names):
            ranking.submit(f"{number} {name}".encode(), made[name])
            found += ranking.ready(2 * len(pool))
        found += ranking.ready(0)
        seconds = time.monotonic() - begin
    times: dict[str, list[float]] = {}
    for one in filter(lambda one: math.isfinite(one.time_s), found):
        times.setdefault(one.key.decode().partition(" ")[2], []).append(one.time_s)
    answered = sum("within the seconds" not in one.problem for one in found)
    right = sum(map(len, times.values()))
    return {name: statistics.median(some) for name, some in times.items()}, {
        "devices": len(pool), "answered": answered, "wrong": answered - right, "seconds": round(seconds, 3),
        "per_minute": round(60 * answered / seconds, 1), "by_device": ranking.counts, "lost": ranking.lost,
    }  # fmt: skip


def winner(first: DeviceJudging, times: dict[str, float], made: dict[str, Path], reference: Path, until: float) -> str:
    """Return the best of the best, timed again in turn on one device."""
    best = sorted(times, key=times.__getitem__)[:BEST]
    again = first.time([made[one] for one in best], reference, AGAIN, until, again=True)
    medians = {one: statistics.median(found.times_s) for one, found in zip(best, again, strict=True) if found.times_s}
    return min(medians, key=medians.__getitem__)


def simulated(clock: Path, count: int) -> tuple[list[DeviceJudging], dict[str, Path], Path]:
    """Return fake devices and records whose names are their times."""
    spec = importlib.util.spec_from_file_location("fake_gpu", ROOT / "tests" / "fake_gpu.py")
    assert spec is not None
    assert spec.loader is not None
    fake: ModuleType = importlib.util.module_from_spec(spec)
    sys.modules["fake_gpu"] = fake
    spec.loader.exec_module(fake)
    folder = clock / "records"
    folder.mkdir()
    made = {str(us): fake.store(folder, f"plusone__us{us}") for us in range(100, 100 + 3 * count, 3)}
    return [DeviceJudging(fake.programs(clock / f"clock-{n}")) for n in range(2)], made, Path("reference.py")


def measure(args: argparse.Namespace, kept: Kept, folder: Path, end: float) -> int:
    """Take the steps; return the exit status."""
    begin = time.monotonic()
    if args.simulate:
        pool, made, reference = simulated(folder, args.configs)
        machine = pool[0].machine()
    else:
        path = packaged_file("gemm")
        assert path is not None
        reference = path
        pool = [DeviceJudging(pinned(one)) for one in args.devices.split(",")]
        machine = DevicePool(pool[0], pool[1:]).machine()
        product = args.platform or ("H200_SXM" if "H200" in machine.name else "H100_SXM")
        until = begin + SHARES["records"] * args.budget_s
        made = {name: one for name, one in records(args, folder, product, until) if one != Path()}
    kept.add(
        device=machine.name, driver=machine.driver, devices=len(pool), cores=len(os.sched_getaffinity(0)),
        shape=args.shape, records=len(made), records_s=round(time.monotonic() - begin, 1), simulated=args.simulate,
    )  # fmt: skip
    incumbent = next(iter(made.values()))
    for one in pool:  # references are imported, clocks have risen from rest
        one.time([incumbent], reference, AGAIN, end, again=True)
    kept.add(warm_s=round(time.monotonic() - begin, 1))
    rounds: list[dict[str, object]] = []
    times: dict[int, dict[str, float]] = {}
    by = begin + SHARES["ranking"] * args.budget_s
    for number, many in enumerate((1, len(pool), 1, len(pool))):
        left = by - time.monotonic()
        until = time.monotonic() + left * (0.33 if many == 1 else 0.25) if number < 3 else by
        times[many], took = ranked(pool[:many], made, reference, until, args.passes)
        rounds.append(took)
        kept.add(rankings=rounds)
    rates = {many: [float(str(one["per_minute"])) for one in rounds if one["devices"] == many] for many in times}
    gain = statistics.mean(rates[len(pool)]) / statistics.mean(rates[1])
    kept.add(configurations_a_minute=rates, gain=round(gain, 3), aim_gain=1.8)
    winners = {many: winner(pool[0], found, made, reference, end) for many, found in times.items() if found}
    folders = [made[one] for one in winners.values()]
    last = [statistics.median(one.times_s) for one in pool[0].time(folders, reference, AGAIN, end)]
    apart = max(last) / min(last) - 1
    kept.add(
        winners={str(many): name for many, name in winners.items()}, winners_us=[round(one * 1e6, 2) for one in last],
        apart_pct=round(100 * apart, 2), aim_apart_pct=2.0, seconds=round(time.monotonic() - begin, 1),
    )  # fmt: skip
    for one in pool:
        one.close()
    return 0 if gain >= 1.8 and apart <= 0.02 else 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--budget-s", type=float, default=120.0)
    parser.add_argument("--devices", default="0,1")
    parser.add_argument("--configs", type=int, default=160)
    parser.add_argument("--passes", type=int, default=3, help="how often each record is ranked")
    parser.add_argument("--shape", default="4096x4096x4096")
    parser.add_argument("--platform", default="")
    parser.add_argument("--simulate", action="store_true")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    kept = Kept(args.out)
    with tempfile.TemporaryDirectory(prefix="kb-many-") as folder:
        try:
            return measure(args, kept, Path(folder), time.monotonic() + args.budget_s)
        except MissingTool as error:
            kept.add(error=str(error))
            return int(error.exit_code)
        except TimeoutError as error:
            kept.add(error=f"the budget is over: {error}")
            return 1


if __name__ == "__main__":
    sys.exit(main())
