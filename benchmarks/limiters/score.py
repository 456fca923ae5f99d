"""Scoreboard: what limits a kernel, by this package and by others, on kernels whose limiter is known.

python benchmarks/limiters/score.py [--kernelagent DIR] [--aka DIR] [--wrong]

The kernels are those of `benchmarks/zoo`, recorded on an H100 (`h100/`: raw page for counters, details page for ncu's
stored rules). A label is what the kernel was built for (`tests/data/zoo/expected.csv`); where that depends on the
product, `h100.csv` has it with the arithmetic. No threshold was chosen on these recordings. DIR are checkouts of
meta-pytorch/KernelAgent and alibaba/atrex-kernel-agent, whose classifiers are imported as they are; without them they
are left out. Words of other tools are read in their favour: see ACCEPTS.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import importlib.util
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from kopt_kb.analysis.profile import KernelProfile
from kopt_kb.analysis.readers.read import read_profiles
from kopt_kb.analysis.rules.classify import classify
from kopt_kb.analysis.rules.table import LIMITERS

HERE = Path(__file__).resolve().parent
ZOO = HERE.parents[1] / "tests" / "data" / "zoo"
PARTS = ("memory", "compute", "latency", "forms", "library")
CLASS_OF = {**LIMITERS, "launch-overhead": "latency-bound"}
"""An idle device counts as latency here: others have no word for launches."""

_OCCUPANCY = {one for one in LIMITERS if one.startswith("occupancy-")}
_MEMORY = {"dram", "l2", "l1", "shared", "memory"}
_LATENCY = {one for one, kind in CLASS_OF.items() if kind == "latency-bound"}
_COMPUTE = {one for one, kind in CLASS_OF.items() if kind == "compute-bound"}
_PIPES = _COMPUTE - {"divergence"}
_FEW = 4

ACCEPTS: Mapping[str, set[str]] = {
    # ncu's rules, by identifier; what stands behind the colon is told by the text of the rule
    "HighPipeUtilization": _PIPES, "HighPipeUtilization:FMA": {"fp32", "int"}, "HighPipeUtilization:ALU": {"int"},
    "HighPipeUtilization:XU": {"sfu"}, "HighPipeUtilization:FP64": {"fp64"}, "HighPipeUtilization:Tensor": {"tensor"},
    "HighPipeUtilization:Shared": {"fp64", "tensor"}, "HighPipeUtilization:idle": _LATENCY,
    "IssueSlotUtilization": _LATENCY, "CPIStall": {"dependency", "latency", *_MEMORY}, "CPIStall:barrier": {"barrier"},
    "AchievedOccupancy": {"small-grid", "tail", "imbalance"}, "TheoreticalOccupancy": _OCCUPANCY,
    "LaunchConfiguration": {"small-grid", "tail", *_OCCUPANCY}, "ThreadDivergence": {"divergence"},
    "WorkloadImbalance": {"imbalance", "tail", "small-grid"}, "UncoalescedGlobalAccess": {"uncoalesced"},
    "MemoryCacheAccessPattern": {"uncoalesced", "spill"}, "UncoalescedSharedAccess": {"bank-conflict"},
    "SharedMemoryConflicts": {"bank-conflict"}, "MemoryL2Compression": _MEMORY, "SOLFPRoofline": {"fp32", "fp64"},
    "FPInstructions": {"fp32", "fp64"},
    # ncu's class
    "small_grid": _LATENCY, "latency": _LATENCY, "compute": _COMPUTE, "memory": {*_MEMORY, "uncoalesced",
    "bank-conflict", "spill"}, "balanced": {"balanced"},
    # KernelAgent
    "underutilized": _LATENCY,
    # AKA's patterns
    "A": {"small-grid", "launch-overhead"}, "B": {"tail"}, "C": {"uncoalesced"}, "D": {"uncoalesced"},
    "E": {"dependency", "latency"}, "F": {"fp32", "int", "issue"}, "G": {"atomics"}, "H": {"bank-conflict", "shared"},
    "I": {"barrier"}, "J": {"small-grid", "tail", "imbalance"}, "K": {"spill", "occupancy-registers"}, "L": {"fp64"},
    "M": {"dependency", "latency", "dram"}, "N": {"divergence"}, "_mem": _MEMORY,
}  # fmt: skip
"""Limiters that each word of another tool is right for."""


class Case(NamedTuple):
    """A kernel with its label, its counters and what ncu stored."""

    name: str
    limiter: str
    profile: KernelProfile
    rules: list[tuple[float, str, str]]

    @property
    def raw(self) -> dict[str, float | str]:
        """Counters by ncu's names."""
        return {name: one.value for name, one in self.profile.launches[0].raw.items()}


Answer = list[str]
"""Words, the first first; empty for none."""


def unpacked(name: str, folder: Path) -> Path:
    """Write a recording into a folder and return its path."""
    path = folder / name
    path.write_bytes(gzip.decompress((HERE / "h100" / f"{name}.gz").read_bytes()))
    return path


def stored_rules(path: Path) -> dict[str, list[tuple[float, str, str]]]:
    """Return (rank, rule, text) of each kernel by its name; rank is the estimated speed-up, global ones first."""
    lines = path.read_text(encoding="utf-8").splitlines()
    start = next(at for at, line in enumerate(lines) if line.startswith('"ID"'))
    found: dict[str, list[tuple[float, str, str]]] = {}
    for row in csv.DictReader(lines[start:]):
        if row["Rule Name"] and row["Rule Type"] == "OPT":
            whole = 1000.0 if row["Estimated Speedup Type"] == "global" else 0.0
            rule = (whole + float(row["Estimated Speedup"] or 0), row["Rule Name"], row["Rule Description"])
            found.setdefault(row["Kernel Name"], []).append(rule)
    return found


def cases() -> list[Case]:
    """Return every labelled kernel."""
    with (ZOO / "expected.csv").open(newline="", encoding="utf-8") as file:
        labels = {row["kernel"]: row["limiter"] for row in csv.DictReader(file)}
    with (HERE / "h100.csv").open(newline="", encoding="utf-8") as file:
        labels.update({row["kernel"]: row["limiter"] for row in csv.DictReader(file)})
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for part in PARTS:
            rules = stored_rules(unpacked(f"{part}.details.csv", Path(folder)))
            found += [
                Case(one.function, label, one, rules.get(one.name, []))
                for one in read_profiles(unpacked(f"{part}.raw.csv", Path(folder)))
                if (label := labels.get(one.function))
            ]
    return found


def ours(case: Case) -> Answer:
    """Return this package's limiter and those it ranks behind."""
    verdict = classify(case.profile)
    return [] if verdict.limiter == "insufficient-data" else [verdict.limiter, *(one.limiter for one in verdict.others)]


def ncu_class(case: Case) -> Answer:
    """Return the class of ncu's Speed-of-Light rule; "high throughput" stands for the larger of the two."""
    kind = case.profile.sol_class
    if kind == "high_throughput":
        compute, memory = case.profile.get("sm_sol_pct") or 0.0, case.profile.get("memory_sol_pct") or 0.0
        kind = "compute" if compute > memory else "memory"
    return [kind] if kind else []


def ncu_rules(case: Case) -> Answer:
    """Return ncu's stored rules by their estimated speed-up, those of the whole kernel before those of a part."""
    words = []
    for _, rule, text in sorted(case.rules, key=lambda one: -one[0]):
        if rule == "HighPipeUtilization":
            words.append(f"{rule}:idle" if "under-utilized" in text else f"{rule}:{text.split(' ', 1)[0]}")
        else:
            words.append(f"{rule}:barrier" if rule == "CPIStall" and "barrier" in text.lower() else rule)
    return words


def kernelagent(module: ModuleType) -> Callable[[Case], Answer]:
    """Return KernelAgent's roofline analyser; what a language model would add to it can't be run here."""
    analyzer = module.RooflineAnalyzer()

    def answer(case: Case) -> Answer:
        word = analyzer.analyze(case.raw).bottleneck
        return [] if word == "unknown" else [word]

    return answer


def aka(module: ModuleType) -> Callable[[Case], Answer]:
    """Return AKA's classifier: its patterns by confidence, in its order."""
    order = {"high": 0, "medium": 1, "low": 2}

    def answer(case: Case) -> Answer:
        return [one[0] for one in sorted(module.classify(case.raw), key=lambda one: order[one[2]])]

    return answer


def loaded(folder: Path, file: str) -> ModuleType:
    """Import one file of a checkout by its path."""
    spec = importlib.util.spec_from_file_location(Path(file).stem, folder / file)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{folder / file} can't be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def limiters_of(word: str) -> set[str]:
    """Return the limiters that a word is right for."""
    return ACCEPTS.get(word, {word})


def right_class(word: str, limiter: str) -> bool:
    """Return whether a word is right about the class: memory, compute, latency, balanced."""
    return any(CLASS_OF[one] == CLASS_OF[limiter] for one in limiters_of(word) if one in CLASS_OF)


def names(word: str, limiter: str) -> bool:
    """Return whether a word names a limiter: it is one of few that the word can mean."""
    meant = limiters_of(word)
    return len(meant) <= _FEW and limiter in meant


def score(name: str, all_cases: list[Case], answer: Callable[[Case], Answer]) -> tuple[list[str], list[str]]:
    """Return the row of a tool and the kernels that its first word is wrong about."""
    wrong, abstained, by_class, exact, among, words = [], 0, 0, 0, 0, 0
    for case in all_cases:
        told = answer(case)
        words += len(told)
        abstained += not told
        by_class += bool(told) and right_class(told[0], case.limiter)
        exact += bool(told) and names(told[0], case.limiter)
        among += any(names(one, case.limiter) for one in told)
        if told and not names(told[0], case.limiter):
            wrong.append(f"{case.name}: {case.limiter}, told {told[0]}")
    count = len(all_cases)
    cells = [f"{one} ({100 * one / count:.0f} %)" for one in (by_class, exact, among)]
    return [name, *cells, str(abstained), f"{words / count:.1f}"], wrong


def main() -> None:
    """Print the scoreboard."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernelagent", type=Path, help="checkout of meta-pytorch/KernelAgent")
    parser.add_argument("--aka", type=Path, help="checkout of alibaba/atrex-kernel-agent")
    parser.add_argument("--wrong", action="store_true", help="list what each tool is wrong about")
    args = parser.parse_args()
    tools: dict[str, Callable[[Case], Answer]] = {
        "kb profile read": ours, "ncu's class": ncu_class, "ncu's rules": ncu_rules
    }  # fmt: skip
    if args.kernelagent:
        file = "kernel_perf_agent/kernel_opt/roofline/ncu_roofline.py"
        tools["KernelAgent"] = kernelagent(loaded(args.kernelagent, file))
    if args.aka:
        tools["AKA"] = aka(loaded(args.aka, "tools/classify_ncu.py"))
    all_cases = cases()
    results = {name: score(name, all_cases, answer) for name, answer in tools.items()}
    print(f"{len(all_cases)} kernels on an H100")
    head = ["tool", "class right", "limiter named first", "limiter named at all", "no answer", "words a kernel"]
    rows: list[Any] = [head, *(row for row, _ in results.values())]
    widths = [max(len(row[at]) for row in rows) for at in range(len(head))]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    if args.wrong:
        for name, (_, wrong) in results.items():
            print("", f"{name}:", *(f"  {one}" for one in wrong), sep="\n")


if __name__ == "__main__":
    main()
