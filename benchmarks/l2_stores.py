"""Stores that ask the last cache to keep their lines: in contests, and what a flush or a reader behind them then takes.

    python benchmarks/l2_stores.py --out DIR [--budget-s 55]

A sum of two vectors whose stores carry the policy `evict_last` is held against the same sum without, by the contest
that decides in campaigns; the same stores without a policy are the control. Then launches of all of them in turn, as
the judge prepares them: alone; with a flush of twice the cache inside the timed span, which has to write back what the
stores left; with a reader of their output behind; and on a cache that a read behind the judge's flush left full of
lines that need no writing back. DIR/l2_stores.jsonl gets a line for each finding as soon as there is one. It needs a
CUDA GPU, cuda-bindings and torch, and changes no setting of the device.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from kopt_kb.launch.judge.device import DeviceJudging  # noqa: E402
from kopt_kb.launch.judge.judging import Judging  # noqa: E402
from kopt_kb.launch.judge.makers import Makers  # noqa: E402
from kopt_kb.launch.kernel.declared import packaged_file  # noqa: E402
from kopt_kb.launch.record.clock import DeviceBench  # noqa: E402
from kopt_kb.launch.record.cuda_driver import CudaDriver  # noqa: E402
from kopt_kb.launch.record.driver import Driver  # noqa: E402
from kopt_kb.launch.record.judge import stored  # noqa: E402
from kopt_kb.launch.record.request import MakerRequest, OpRequest  # noqa: E402
from kopt_kb.launch.record.turns import LoadedRecord  # noqa: E402

SIZES = (1 << 21, 1 << 19, 1 << 23)
"""Elements of a vector in bf16: 12, 3 and 48 MB of two that are read and one that is written."""
CONTESTS = (("plain", "stores_last"), ("plain", "stores"), ("stores", "stores_last"))
LEAST_GAIN = 0.01
SLOTS = 9
_CONTESTS_SHARE = 0.7
"""Share of the budget after which no further contest is begun."""


def bodies() -> dict[str, str]:
    """Return name → the whole source of each variant."""
    spec = importlib.util.spec_from_file_location("clock_attacks", ROOT / "tests" / "exploits" / "clock.py")
    assert spec is not None
    assert spec.loader is not None
    attacks = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(attacks)
    made = "  const unsigned short made = __bfloat16_as_ushort(sum(x[at], y[at]));\n"
    store = '  asm volatile("st.global.b16 [%0], %1;" :: "l"(out + at), "h"(made) : "memory");'
    hinted = store.replace("st.global.b16 [%0], %1", "st.global.L2::cache_hint.b16 [%0], %1, %2")
    hinted = hinted.replace('"h"(made)', '"h"(made), "l"(policy)')
    found = {"plain": attacks._BODIES["honest"], "stores": made + store}
    for name in ("last", "first", "unchanged"):
        kind = {"unchanged": "evict_unchanged"}.get(name, f"evict_{name}")
        found[f"stores_{name}"] = attacks._POLICY.replace("evict_last", kind) + made + hinted
    return {name: attacks._HEADER % {"flags": ""} + attacks._KERNEL % body for name, body in found.items()}


def recorded(folder: Path, product: str) -> dict[tuple[str, int], Path]:
    """Return (variant, size) → folder of its record; raises what recording one raised."""
    asked, keys = [], []
    for name, source in bodies().items():
        file = folder / f"{name}.cu"
        file.write_text(source, encoding="utf-8")
        for size in SIZES:
            what = OpRequest(str(file), (size,), "bf16", {})
            asked.append((MakerRequest(what, "sm_90", product, {}, ""), folder / f"{name}-{size}"))
            keys.append((name, size))
    with Makers() as makers:
        made = makers.make_all(asked)
    for one in made:
        one.stored()
    return {key: one.folder for key, one in zip(keys, made, strict=True)}


def contests(
    judging: Judging, records: Mapping[tuple[str, int], Path], reference: Path, write: Callable[[object], None],
    ends_at: float,
) -> None:  # fmt: skip
    """Hold the variants against each other, the decisive pair of each size first."""
    for incumbent, candidate in CONTESTS:
        for size in SIZES:
            if time.monotonic() > ends_at:
                return
            sides = {str(size): {"incumbent": records[incumbent, size], "candidate": records[candidate, size]}}
            begin = time.monotonic()
            try:
                found = judging.contest(sides, reference, LEAST_GAIN, ends_at + 5)
            except TimeoutError:
                write({"contest": [incumbent, candidate], "size": size, "problem": "out of time"})
                return
            verdict = found.verdict
            times = {
                side: statistics.median(one) * 1e6 for side, one in found.times_s.get(str(size), {}).items() if one
            }
            told = None if verdict is None else (verdict.verdict, verdict.gain_pct, verdict.reason)
            write({"contest": [incumbent, candidate], "size": size, "verdict": told, "problem": found.problem,
                   "us": times, "seconds": round(time.monotonic() - begin, 2)})  # fmt: skip


class Cache:
    """Launches in turn, and what stands around them."""

    def __init__(self, driver: Driver, write: Callable[[object], None], scratch: Path) -> None:
        self.driver, self.write, self.scratch = driver, write, scratch
        self.bench = DeviceBench(driver)
        self.other = driver.allocate(self.bench._flush_bytes)
        driver.fill(self.other, b"\0", self.bench._flush_bytes)
        self._flushed = self.bench.flush

    def clean_flush(self) -> None:
        """Enqueue the judge's flush, then read as much of another buffer, whose lines need no writing back."""
        self._flushed()
        self.driver.differs(self.other, self.bench._flush, self.bench._flush_bytes, (1, 2), self.bench.small + 1024)

    def compare(self, records: Mapping[str, Path], size: int, ends_at: float) -> None:
        """Write the median span of each variant in each surrounding."""
        loaded: dict[str, LoadedRecord] = {}
        try:
            for name, folder in records.items():
                record, code = stored(folder)
                one = LoadedRecord(record, code, self.bench, slots=SLOTS, travel="ipc", folder=self.scratch)
                loaded[name] = one.__enter__()
                one.seal(range(SLOTS))
            none: Callable[[LoadedRecord], object] = lambda _: None  # noqa: E731
            for how, behind, flush in (
                ("alone", none, self._flushed),
                ("flush behind", lambda _: self._flushed(), self._flushed),
                ("reader behind", self._read, self._flushed),
                ("on clean lines", none, self.clean_flush),
                ("flush behind, on clean lines", lambda _: self._flushed(), self.clean_flush),
            ):
                self.bench.flush = flush  # type: ignore[method-assign]
                if time.monotonic() < ends_at:
                    self._turns(loaded, size, how, behind)
        finally:
            self.bench.flush = self._flushed  # type: ignore[method-assign]
            for one in loaded.values():
                one.__exit__()

    def _read(self, one: LoadedRecord) -> None:
        """Enqueue a reader of the output as a launch left it."""
        place = one._sets[0].place(one._outputs[0])
        self.driver.differs(place, self.other, one._sizes[one._outputs[0]], (1, 2), self.bench.small + 1024)

    def _turns(
        self, loaded: Mapping[str, LoadedRecord], size: int, how: str, behind: Callable[[LoadedRecord], object]
    ) -> None:
        spans: dict[str, list[float]] = {name: [] for name in loaded}
        order = list(loaded)
        for one in loaded.values():
            one._move()
        for _ in range(16):
            random.shuffle(order)
            for name in order:
                one = loaded[name]

                def steps(one: LoadedRecord = one) -> None:
                    one._sets[0].steps()
                    behind(one)

                taken = [one._launched([(one._sets[0], number)], steps).times_s[0] for number in range(SLOTS)]
                spans[name] += taken[1:]
        self.write({"size": size, "how": how, "launches": len(spans[order[0]]),
                    "us": {name: round(statistics.median(each) * 1e6, 3) for name, each in spans.items()},
                    "error_us": {name: round(_error(each) * 1e6, 3) for name, each in spans.items()}})  # fmt: skip


def _error(values: Sequence[float]) -> float:
    """Return the standard error of a median, from the spread of the middle half."""
    ordered = sorted(values)
    quarter = len(ordered) // 4
    return (ordered[-1 - quarter] - ordered[quarter]) / 1.35 * 1.25 / math.sqrt(len(ordered))


def main(argv: Sequence[str] | None = None, judging: Judging | None = None, driver: Driver | None = None) -> int:
    """Make the records, hold the contests, time what stands around launches."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--budget-s", type=float, default=55.0)
    parser.add_argument("--platform", default="H100_SXM")
    args = parser.parse_args(argv)
    args.out.mkdir(parents=True, exist_ok=True)
    begin = time.monotonic()

    def write(line: Any) -> None:
        with (args.out / "l2_stores.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        print(json.dumps(line), flush=True)

    reference = packaged_file("elementwise")
    assert reference is not None
    with tempfile.TemporaryDirectory() as folder:
        records = recorded(Path(folder), args.platform)
        write({"records": len(records), "seconds": round(time.monotonic() - begin, 1)})
        judging = judging or DeviceJudging()
        try:
            write({"device": judging.machine().name})
            contests(judging, records, reference, write, begin + _CONTESTS_SHARE * args.budget_s)
        finally:
            judging.close()
        cache = Cache(driver or CudaDriver(), write, Path(folder))
        for size in SIZES:
            own = {name: path for (name, each), path in records.items() if each == size}
            cache.compare(own, size, begin + args.budget_s)
    return 0


if __name__ == "__main__":
    sys.exit(main())
