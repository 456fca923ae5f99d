"""What the replay clock is worth on one GPU: A/A contests, slower variants, switches, travel, chains, flush, faults.

    python3 benchmarks/replay_clock.py --out DIR [--budget-s 140]

Every part writes its result to DIR/replay_clock.json as soon as it has one; what failed is printed last. It needs a
CUDA GPU, torch, triton, cuda-bindings, and changes no setting of the device.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from clock_records import CASES, Run, faulty, filled, make, reference, variant  # noqa: E402

from kopt_kb.base.errors import MissingTool  # noqa: E402
from kopt_kb.base.wire import plain  # noqa: E402
from kopt_kb.launch.judge.contest import contest  # noqa: E402
from kopt_kb.launch.judge.device import DeviceJudging  # noqa: E402
from kopt_kb.launch.judge.judges import Judges, judges  # noqa: E402
from kopt_kb.launch.judge.pairs import Pair, TimingPlan, planned  # noqa: E402
from kopt_kb.launch.record import trusted  # noqa: E402
from kopt_kb.launch.record.clock import DeviceBench  # noqa: E402
from kopt_kb.launch.record.cuda_driver import CudaDriver  # noqa: E402
from kopt_kb.launch.record.judge import stored  # noqa: E402
from kopt_kb.launch.record.turns import LoadedRecord  # noqa: E402

# ---- the device alone ----------------------------------------------------------------------------


def device(driver: CudaDriver, run: Run) -> dict[str, Any]:
    """Facts, and whether the judge's own kernels do what their twins do."""
    facts = driver.device()
    run.expect(facts.probe, "the driver compiles no PTX: no clock probe, contents by file")
    run.expect(facts.hold, "no stream waits for the host")
    run.expect(facts.ipc, "memory can't be exported")
    told: dict[str, Any] = {"facts": facts, "throttle": driver.throttle()}
    if facts.probe:
        data = bytes(range(256)) * 17 + b"tail!"
        first, second, flag = driver.allocate(8192), driver.allocate(8192), driver.allocate(256)
        driver.write(first, data)
        driver.mask(second, first, len(data), (123, 456))
        told["mask"] = driver.read(second, len(data)) == trusted.masked(data, (123, 456))
        flags = []
        for place in (None, 0, len(data) - 1):
            driver.write(flag, bytes(4))
            if place is not None:
                driver.write(first + place, bytes([data[place] ^ 1]))
            driver.differs(first, second, len(data), (123, 456), flag)
            flags.append(driver.read(flag, 1)[0])
            driver.write(first, data)
        told["differs"] = flags
        run.expect(told["mask"] and flags == [0, 1, 1], f"mask {told['mask']}, differs {flags}")
        for address in (first, second, flag):
            driver.free(address)
    return told


def clock(bench: DeviceBench) -> dict[str, Any]:
    """Known work and probes: medians, spread."""
    turn = bench.known(64)
    clocks = sorted(turn.clocks_hz)
    begin = time.perf_counter()
    for _ in range(100):
        bench.driver.unpin()
    spent, used = {}, bench.driver
    calls: dict[str, Callable[[], object]] = {
        "throttle": used.throttle, "synchronize": used.synchronize,
        "read 64K": lambda: used.read(bench._flush, 1 << 16),
        "write 64K": lambda: used.write(bench._flush, bytes(1 << 16)),
    }  # fmt: skip
    for name, do in calls.items():
        again = time.perf_counter()
        for _ in range(50):
            do()
        spent[name] = round((time.perf_counter() - again) / 50 * 1e6, 1)
    return {
        "us": spent, "unpin_us": (time.perf_counter() - begin) * 1e4,
        "flush_us": statistics.median(turn.times_s) * 1e6,
        "clock_mhz": [one / 1e6 for one in (clocks[0], clocks[32], clocks[-1])],
        "distinct_clocks": len(set(clocks)), "throttle": turn.throttle,
    }  # fmt: skip


def turns(run: Run, bench: DeviceBench, name: str) -> dict[str, Any]:
    """Single launches in this process: flushed, not flushed, held or not, and what events and host say."""
    record, code = stored(run.records[name])
    told: dict[str, Any] = {}
    with LoadedRecord(record, code, bench, slots=5, travel="files", folder=run.folder) as entry:
        for slot in entry.slots:
            for one in slot.inputs:
                Path(one.path).write_bytes(b"\x3c\x3d\x3e\x3c" * (one.size_bytes // 4))
        flush, hold = bench.flush, bench.driver.hold
        for word, stubs in (("plain", {}), ("warm", {"flush": 1}), ("unheld", {"hold": 1})):
            bench.flush = (lambda: None) if "flush" in stubs else flush  # type: ignore[method-assign]
            bench.driver.hold = (lambda: None) if "hold" in stubs else hold  # type: ignore[method-assign]
            turn = entry.turn(range(5))
            gaps = [host - whole for host, whole in zip(turn.host_s, turn.whole_s, strict=True)]
            told[word] = {
                "us": [round(one * 1e6, 2) for one in turn.times_s],
                "host_less_events_us": round(statistics.median(gaps) * 1e6, 1),
            }
        bench.flush, bench.driver.hold = flush, hold  # type: ignore[method-assign]
        short, few = entry.host_chain(16, empty=False)
        without, _ = entry.host_chain(16, empty=True)
        told["host_chain_us"] = round((short - without) / few * 1e6, 2)
    return told


# ---- contests ------------------------------------------------------------------------------------


def one_contest(made: Judges, old: Path, new: Path) -> dict[str, Any]:
    """Run a contest and say the numbers that matter."""
    before = dict(made.spent_s)
    result = contest(made, {"s": old}, {"s": new})
    spent = {kind: round(took - before.get(kind, 0.0), 3) for kind, took in made.spent_s.items()}
    (shape,) = result.shapes
    last = result.looks[-1] if result.looks else None
    return {
        "verdict": result.verdict, "reason": result.reason, "seconds": round(result.seconds, 3), "quads": result.quads,
        "dropped": result.dropped, "refused": result.refused, "travel": shape.travel, "launches": shape.launches,
        "chain": shape.chain, "empty_us": shape.empty_s * 1e6, "us": [shape.incumbent_s * 1e6, shape.candidate_s * 1e6],
        "mean_pct": 100 * last.mean if last else None, "error_pct": 100 * (last.high - last.mean) / 3 if last else None,
        "host": [[100 * one.host, 100 * one.events, one.agrees] for one in result.host], "clock": result.clock,
        "rel_l2_err": shape.rel_l2_err, "spent_s": spent,
    }  # fmt: skip


def aa(run: Run, made: Judges, name: str, count: int) -> dict[str, Any]:
    """Contests of a record with itself, each in fresh judges: none may be accepted."""
    told: list[dict[str, Any]] = []
    for _ in range(count):
        if run.left_s() > 8 or not told:
            made.refresh()
            told.append(one_contest(made, run.records[name], run.records[name]))
    run.expect(all(one["verdict"] == "not_faster" for one in told), f"A/A {name}: {[one['reason'] for one in told]}")
    return {"contests": told, "floor_pct": max(abs(one["mean_pct"] or 0.0) for one in told)}


def slower(run: Run, made: Judges, name: str, share: float) -> dict[str, Any]:
    """The record against itself with a fill that takes about a share of its time; and the other way round."""
    with Pair.of(made, (run.records[name],) * 2, TimingPlan(1, 0)) as pair:
        base_s = statistics.median(pair.quad().times_s["incumbent"])
    size = max(1 << 20, int(share * base_s * 2.0e12) // 4096 * 4096)
    slow = variant(run, name, f"slow{int(1000 * share)}", filled(size))
    gain, loss = one_contest(made, slow, run.records[name]), one_contest(made, run.records[name], slow)
    run.expect(gain["verdict"] == "accepted", f"{name} against a slower self: {gain['verdict']}: {gain['reason']}")
    run.expect(loss["verdict"] == "not_faster", f"{name} slowed: {loss['verdict']}: {loss['reason']}")
    return {"fill_bytes": size, "gain": gain, "loss": loss}


def switches(made: Judges, run: Run, name: str) -> dict[str, Any]:
    """First launch of a turn against the later ones; cost of a turn and of a launch in it; the plan."""
    folders = (run.records[name],) * 2
    with Pair.of(made, folders, TimingPlan(4, 0)) as pair:
        pair.settle()
        firsts: list[float] = []
        later: list[float] = []
        stamps: list[float] = []
        for _ in range(6):
            for side in pair.sides:
                made.fill(side, range(5))
                turn, stamp_s = made.take(side, range(5))
                firsts.append(turn.times_s[0])
                later += turn.times_s[1:]
                stamps.append(stamp_s)
        begin = time.perf_counter()
        made.fill(pair.sides[0], range(5))
        fill_s = time.perf_counter() - begin
        made.take(pair.sides[0], range(5))
        begin = time.perf_counter()
        made.compare(pair.sides[0], range(5))
        compare_s = time.perf_counter() - begin
        travel = pair.travel
    begin = time.perf_counter()
    with planned(made, folders) as pair:
        plan, planning_s = pair.plan, time.perf_counter() - begin
    return {
        "first_over_later_pct": 100 * (statistics.median(firsts) / statistics.median(later) - 1),
        "turn_of_5_ms": statistics.median(stamps) * 1e3,
        "fill_of_5_ms": fill_s * 1e3,
        "compare_of_5_ms": compare_s * 1e3,
        "plan": plain(plan), "planning_s": planning_s, "travel": travel,
    }  # fmt: skip


def by_files(run: Run, made: Judges, name: str) -> dict[str, Any]:
    """One contest whose contents travel by file."""
    before, made.travel = made.travel, "files"
    try:
        return one_contest(made, run.records[name], run.records[name])
    finally:
        made.travel = before


def fault(run: Run, made: Judges, name: str) -> dict[str, Any]:
    """A kernel that reads address 0: an outcome, a checked device, and a contest that works afterwards."""
    broken = variant(run, name, "faulty", faulty)
    first = one_contest(made, run.records[name], broken)
    second = one_contest(made, run.records[name], run.records[name])
    run.expect(first["verdict"] == "fault", f"faulty kernel: {first['verdict']}: {first['reason']}")
    run.expect(second["verdict"] == "not_faster", f"after a fault: {second['verdict']}: {second['reason']}")
    return {"fault": first["reason"], "after": second["verdict"], "faults": made.faults}


def search(run: Run, name: str) -> dict[str, Any]:
    """A check on all trials, and what one configuration of a search costs: sixteen times the same record."""
    judging = DeviceJudging()
    try:
        begin = time.perf_counter()
        judging.machine()
        started_s = time.perf_counter() - begin
        begin = time.perf_counter()
        checked = judging.check(run.records[name], reference(name), 3, math.inf)
        check_s = time.perf_counter() - begin
        run.expect(not checked.problem, f"check of {name}: {checked.problem}")
        each, times = [], []
        begin_s = judging.spent_s
        for _ in range(16):
            begin = time.perf_counter()
            (timed,) = judging.time([run.records[name]], reference(name), 5, math.inf, again=True)
            each.append(round(time.perf_counter() - begin, 3))
            times.append(round(1e6 * statistics.median(timed.times_s), 2) if timed.times_s else timed.problem)
        spent = {kind: round((took - begin_s.get(kind, 0.0)) / 16, 4) for kind, took in judging.spent_s.items()}
    finally:
        judging.close()
    return {
        "start_s": started_s,
        "check": checked.checks,
        "check_s": check_s,
        "time_s": each,
        "spent_s": spent,
        "us": times,
    }


def start(made: Judges) -> dict[str, Any]:
    """Times of the children's starts."""
    times = {}
    for side in ("incumbent", "candidate"):
        begin = time.perf_counter()
        made.device(side)
        times[side] = round(time.perf_counter() - begin, 3)
    return times


def main() -> int:
    """Do all parts, print what failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("--out", required=True)
    parser.add_argument("--budget-s", type=float, default=140.0)
    parser.add_argument("--platform", default="")
    args = parser.parse_args()
    Path(args.out).mkdir(parents=True, exist_ok=True)
    run = Run(Path(args.out), args.budget_s)
    try:
        driver = CudaDriver()
    except MissingTool as error:
        print(error)
        return int(error.exit_code)
    platform = args.platform or ("H200_SXM" if "H200" in driver.device().name else "H100_SXM")
    run.part("device", lambda: device(driver, run))
    run.part("records", lambda: make(run, platform))
    bench = DeviceBench(driver)
    run.part("clock", lambda: clock(bench))
    run.part("search product", lambda: search(run, "product"), 15)
    for name in CASES:
        run.part(f"turns {name}", lambda name=name: turns(run, bench, name))
    for name in CASES:
        with judges(reference(name)) as made:
            run.part(f"start {name}", lambda: start(made))
            run.part(f"switches {name}", lambda name=name: switches(made, run, name))
            run.part(f"A/A {name}", lambda name=name: aa(run, made, name, 4), 12)
            run.part(f"slower {name}", lambda name=name: slower(run, made, name, 0.04), 12)
            if name == "norm":
                run.part(f"files {name}", lambda name=name: by_files(run, made, name), 12)
                run.part(f"fault {name}", lambda name=name: fault(run, made, name), 12)
    run.results["failed"] = run.failed
    run.write()
    print(f"{time.monotonic() - run.began:.0f} s; {len(run.failed)} failed", *run.failed, sep="\n  ")
    return 1 if run.failed else 0


if __name__ == "__main__":
    sys.exit(main())
