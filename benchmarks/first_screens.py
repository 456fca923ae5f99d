"""Numbers of the first screens of `kb roofline`, `kb compare`, `kb init`, computed again from cited lines of the wiki.

Usage: python benchmarks/first_screens.py [--platform NAME ...] > benchmarks/results/first_screens.txt

For each product and each of eight operations `kb roofline --json` is run. Nothing of the package computes here: work
and bytes come from the formulas below, values and units from the line of gpuwiki/ that each citation names, read as
text. Compared are operations and bytes, intensity, bound, every roof, every target and its time, and the least times;
of `kb compare` every ratio; of the README of `kb init` every specification, and target and latency of each Stop
Condition. A line a screen, `ok` with how many numbers were compared, else each that differs. Exit 1 where one does.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PLATFORMS = ("H20", "H100_SXM", "H200_SXM", "B200", "MI300X", "MI308X", "L40S", "MI355X")
M, N, CUBE = 8192, 4096, 4096
B, H, S, D = 4, 32, 2048, 128
WORK: dict[str, tuple[str, dict[str, int], int, int]] = {
    "rms_norm": ("8192x4096", {"fp32 vector": M * (4 * N + 1)}, 2 * (M * N + N), 2 * M * N),
    "layer_norm": ("8192x4096", {"fp32 vector": M * (7 * N + 1)}, 2 * (M * N + 2 * N), 2 * M * N),
    "softmax": ("8192x4096", {"fp32 vector": M * (4 * N - 2)}, 2 * M * N, 2 * M * N),
    "reduction": ("8192x4096", {"fp32 vector": M * (N - 1)}, 2 * M * N, 2 * M),
    "swiglu": ("8192x4096", {"fp32 vector": 3 * M * N}, 4 * M * N, 2 * M * N),
    "gemm": ("4096x4096x4096", {"bf16 matrix": 2 * CUBE**3}, 4 * CUBE**2, 2 * CUBE**2),
    "batched_gemm": ("16x1024x1024x1024", {"bf16 matrix": 32 * 1024**3}, 64 * 1024**2, 32 * 1024**2),
    "attention": (
        "4x32x2048x128",
        {"bf16 matrix": 4 * B * H * S * S * D, "fp32 vector": B * H * (4 * S * S - 2 * S + S * D)},
        6 * B * H * S * D,
        2 * B * H * S * D,
    ),
}
"""Operation → shape, operations by engine, bytes read and bytes written, in bf16."""
UNITS = {"TFLOPS": 10**12, "TOPS": 10**12, "PFLOPS": 10**15, "POPS": 10**15, "GFLOPS": 10**9, "GB/s": 10**9,
         "TB/s": 10**12, "MB/s": 10**6, "GB": 10**9, "GiB": 2**30, "MiB": 2**20, "KiB": 2**10, "B": 1, "MHz": 10**6,
         "GHz": 10**9}  # fmt: skip
NEAR = Fraction(1, 10**9)
"""Share by which a printed float may be off; values of rows that are derived from others are printed rounded."""


def cited(text: str) -> Fraction | None:
    """Return the value of the line that a citation names, in units without a prefix; None where it has none."""
    found = re.search(r"<gpu-wiki>/(\S+):L(\d+)", text)
    assert found is not None, text
    line = (ROOT / "gpuwiki" / found[1]).read_text(encoding="utf-8").splitlines()[int(found[2]) - 1]
    cells = [one.strip() for one in line.strip("|").split("|")]
    return Fraction(cells[1]) * UNITS.get(cells[2], 1) if re.fullmatch(r"[0-9.]+", cells[1]) else None


class Screen:
    """What one screen says, against what it should."""

    def __init__(self) -> None:
        self.compared, self.wrong = 0, list[str]()

    def same(self, name: str, said: object, hand: Fraction | int | str | None) -> None:
        """Compare one value."""
        self.compared += 1
        if isinstance(said, int | float) and isinstance(hand, Fraction | int):
            exact = Fraction(hand)
            good = abs(Fraction(said) - exact) <= NEAR * abs(exact)
        else:
            good = said == hand
        if not good:
            self.wrong.append(f"{name}: {said}, by hand {float(hand) if isinstance(hand, Fraction) else hand}")


def document(*words: str) -> dict[str, Any]:
    """Return what a user gets."""
    done = subprocess.run(
        [sys.executable, "-m", "kopt_kb", *words, "--json"], capture_output=True, text=True, check=False
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def check(platform: str, op: str) -> Screen:
    """Compare all of one screen."""
    shape, flops, read, written = WORK[op]
    words = ("--platform", platform, "--op", op, "--shape", shape, "--dtype", "bf16")
    said, screen = document("roofline", *words), Screen()
    counted = {f"{one['dtype']} {one['engine']}": one["useful"]["value"] for one in said["work"]["flops"]}
    moved = {one["direction"]: one["compulsory"]["value"] for one in said["work"]["bytes"] if one["level"] == "dram"}
    screen.same("operations", counted, flops)  # type: ignore[arg-type]
    screen.same("bytes", moved, {"read": read, "write": written})  # type: ignore[arg-type]
    amounts: dict[str, int] = {**flops, "dram": read + written}
    screen.same("intensity", said["intensity"], Fraction(sum(flops.values()), read + written))
    rates: dict[tuple[str, str], Fraction] = {}
    for ceiling in said["ceilings"]:
        for kind in ("documented", "measured"):
            value = ceiling.get(kind)
            if not value or "si_value" not in value:
                continue
            row = cited(value["citations"][0]) if len(value["citations"]) == 1 else None
            hand = row if row is not None else Fraction(str(value["si_value"]))
            screen.same(f"{ceiling['name']} {kind}", value["si_value"], hand)
            rates[ceiling["name"], kind] = hand
    targets(screen, said, rates)
    times = {name: amounts[name] / rate for (name, kind), rate in rates.items() if kind == "documented"}
    known = len(times) == len(amounts)
    if known:
        slowest = max(times, key=lambda one: times[one])
        screen.same("limiter", said["limiter"], slowest)
        screen.same("bound", said["bound"], "memory" if slowest == "dram" else "compute")
    for least in said["times"]["least"]:
        if least["basis"] == "documented":
            screen.same(
                "least time",
                least["seconds"],
                max(time for name, time in times.items() if least["roof"].startswith(name)),
            )
    one = said["target"]
    if one.get("si_value") and said["times"]["target_s"] is not None:
        screen.same(
            "time at target", said["times"]["target_s"], Fraction(amounts[one["name"]]) / Fraction(str(one["si_value"]))
        )
    return screen


def targets(screen: Screen, said: dict[str, Any], rates: dict[tuple[str, str], Fraction]) -> None:
    """Compare each target with its factor times its roof."""
    for one in said["targets"]:
        kind = "documented" if one["basis"] == "documented" else "measured"
        if one.get("si_value") and (one["name"], kind) in rates:
            hand = Fraction(str(one["factor"])) * rates[one["name"], kind]
            screen.same(f"target {one['name']}", one["si_value"], hand)


def compared(platforms: list[str]) -> Screen:
    """Compare each ratio with the quotient of the two cited lines."""
    screen = Screen()
    for line in document("compare", *platforms)["lines"]:
        first, *others = [cited(one["row"]["citation"]) if one.get("row") else None for one in line["cells"]]
        for name, ratio, value in zip(platforms[1:], line["ratios"][1:], others, strict=True):
            if ratio is not None and first and value is not None:
                screen.same(f"{name} {line['key']}", ratio, value / first)
    return screen


def started(platform: str, op: str) -> Screen:
    """Compare the README of a new workspace with its cited lines: specifications, conditions, latencies, roofs."""
    shape, flops, read, written = WORK[op]
    screen = Screen()
    with tempfile.TemporaryDirectory() as folder:
        words = ("--platform", platform, "--op", op, "--shape", shape, "--dtype", "bf16", "--parent", folder)
        subprocess.run(
            [sys.executable, "-m", "kopt_kb", "init", "w", *words, "--allow-unknown"], capture_output=True, check=False
        )
        text = Path(folder, "kernel_opt_w", "README.md").read_text(encoding="utf-8")
    rows = dict[str, Fraction]()
    for key, value, unit, place in re.findall(r"^- (\S+): ([0-9.]+) (\S+) <- (<gpu-wiki>\S+)$", text, re.MULTILINE):
        hand = cited(place)
        screen.same(key, float(Fraction(value) * UNITS.get(unit, 1)), hand)
        rows[key] = hand if hand is not None else Fraction(value)
    amounts: dict[str, int] = {**flops, "dram": read + written}
    for line in text.partition("## Stop Conditions")[2].partition("\n## ")[0].splitlines():
        cells = [one.strip() for one in line.strip("|").split("|")]
        if len(cells) != 7 or cells[0] != shape:
            continue
        roof, (target, unit), share = cells[1].partition("(")[2].rstrip(")"), cells[2][3:].split(), Fraction(cells[3])
        rate = share * rows[cells[4]]
        digits = len(target.partition(".")[2])
        screen.same(f"target {roof}", target, f"{float(rate / UNITS[unit]):.{digits}f}")
        latency = Fraction(cells[6][3:-3]) / 1000
        screen.same("latency, no longer than its target", latency <= amounts[roof] / rate, True)
        screen.same("latency, within a part in ten thousand", latency * 10001 > 10000 * amounts[roof] / rate, True)
    if not re.search(rf"^\| {shape} \|", text, re.MULTILINE):
        screen.same("a word for no condition", f"No condition for {shape}: " in text, True)
    return screen


def screens(platforms: list[str]) -> Iterator[tuple[str, Screen]]:
    """Check each operation on each product."""
    for platform in platforms:
        for op in WORK:
            yield f"{platform} {op} {WORK[op][0]} bf16", check(platform, op)
        for op in ("rms_norm", "gemm"):
            yield f"init {platform} {op} {WORK[op][0]} bf16", started(platform, op)


def main() -> int:
    """Print a line a screen; exit 1 where a number is refuted."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--platform", nargs="+", default=list(PLATFORMS))
    platforms = parser.parse_args().platform
    total = wrong = 0
    named = [(f"compare {' '.join(platforms)}", compared(platforms))] if len(platforms) > 1 else []
    for name, screen in chain(named, screens(platforms)):
        total += screen.compared
        wrong += len(screen.wrong)
        print(f"{name}: {'; '.join(screen.wrong) or f'{screen.compared} ok'}", flush=True)
    print(f"{total} numbers compared, {wrong} refuted")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
