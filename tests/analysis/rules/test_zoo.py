"""The verdict on kernels built to have one limiter."""

from __future__ import annotations

import csv
import gzip
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from kopt_kb.analysis.profile import LIMITERS as OCCUPANCY_LIMITERS
from kopt_kb.analysis.profile import PIPES, KernelProfile
from kopt_kb.analysis.readers.read import read_profiles
from kopt_kb.analysis.rules.classify import classify
from kopt_kb.analysis.rules.table import LIMITERS, RULES

Zoo = dict[str, KernelProfile]
Expected = dict[str, tuple[str, str]]

_COARSE = ("compute", "memory", "latency", "communication")
_THROUGHPUT = (
    "duration_s", "elapsed_cycles", "sm_sol_pct", "memory_sol_pct", "dram_sol_pct", "l2_sol_pct", "l1_sol_pct",
    "sm_active_cycles", "sm_active_pct", "grid_blocks", "block_threads", "sm_count", "waves_per_sm",
    "registers_per_thread", "achieved_occupancy_pct", "theoretical_occupancy_pct", "active_warps_per_sm",
    *(f"occupancy_limit.{one}" for one in OCCUPANCY_LIMITERS),
)  # fmt: skip
_BASIC_PAGE = frozenset(_THROUGHPUT)
_BASIC = _BASIC_PAGE | {"sm_active_cycles_max", *(f"pipe_elapsed.{one}_pct" for one in PIPES)}
_FULL_PAGE = _BASIC_PAGE | {
    "dram_bytes", "issue_active", "instructions", "instructions_per_cycle", "l1_hit_pct", "l2_hit_pct",
    "threads_per_instruction", "unpredicated_threads_per_instruction", "warp_latency_cycles",
}  # fmt: skip
"""What `--set basic` stores, what its printed page shows, and what the printed page of `--set full` shows."""


def test_every_kernel_is_judged_by_its_limiter(zoo: Zoo, expected: Expected) -> None:
    """Class and limiter of each recording are the expected ones."""
    got = {name: ((verdict := classify(one)).bottleneck, verdict.limiter) for name, one in zoo.items()}
    assert got == expected


def test_the_zoo_covers_the_table(expected: Expected) -> None:
    """Each limiter that a full recording can show is shown by at least one, or named with a reason until it is."""
    shown = {limiter for _, limiter in expected.values()}
    unrecorded = {limiter: why for rule in RULES for limiter, why in rule.unrecorded.items()}
    assert not shown & set(unrecorded)
    assert shown | set(unrecorded) == set(LIMITERS) - {"insufficient-data", *_COARSE}
    assert all(unrecorded.values())


@pytest.mark.parametrize(("kept", "same", "abstained"), [(_BASIC, 105, 3), (_BASIC_PAGE, 100, 6), (_FULL_PAGE, 100, 6)])
def test_less_of_a_run_gives_the_same_class(zoo: Zoo, kept: frozenset[str], same: int, abstained: int) -> None:
    """Cut to what smaller sets and printed pages hold, a kernel keeps its class or gets none.

    Named exceptions: atomics that fill L2 or shared memory, barriers that fill a control pipe and scattered stores
    show only the unit they fill.
    """
    found = Counter[str]()
    for name, one in zoo.items():
        whole = classify(one).bottleneck
        part = classify(replace(one, metrics={key: one.metrics[key] for key in one.metrics.keys() & kept})).bottleneck
        result = "same" if part == whole else "abstains" if part == "insufficient-data" else "differs"
        found[result] += 1
        assert result != "differs" or name.startswith(("atomics", "barrier", "uncoalesced_scatter")), (name, part)
    assert found["same"] >= same
    assert found["abstains"] <= abstained


def test_hard_cases(zoo: Zoo) -> None:
    """Persistent grids are no small grids, wide loads no waste, saturated DRAM no latency, aligned triples no waste."""
    found = {name: classify(zoo[name]) for name in ("dram_persistent16", "fp32_persistent", "dram_points")}
    assert [one.limiter for one in found.values()] == ["dram", "fp32", "dram"]
    mentioned = {other.limiter for one in found.values() for other in one.others}
    assert not mentioned & {"small-grid", "uncoalesced"}


def test_ncu_calls_chains_at_full_occupancy_latency(zoo: Zoo) -> None:
    """ncu's own class stays beside ours and says less."""
    chain = zoo["dependency_chase_l2"]
    assert (chain.sol_class, classify(chain).limiter) == ("latency", "dependency")


def test_another_product_gives_the_same_limiters(repo_root: Path, expected: Expected, tmp_path: Path) -> None:
    """On an H100, on which no threshold was chosen, one of 111 is judged otherwise: 7 points apart, not 10."""
    folder = repo_root / "benchmarks" / "limiters"
    with (folder / "h100.csv").open(newline="", encoding="utf-8") as file:
        labels = {**expected, **{row["kernel"]: (row["class"], row["limiter"]) for row in csv.DictReader(file)}}
    labels = {name: label for name, label in labels.items() if label[1]}
    got = {}
    for packed in sorted((folder / "h100").glob("*.raw.csv.gz")):
        page = tmp_path / packed.stem
        page.write_bytes(gzip.decompress(packed.read_bytes()))
        got.update({one.function: classify(one) for one in read_profiles(page)})
    wrong = {name for name, label in labels.items() if (got[name].bottleneck, got[name].limiter) != label}
    assert (len(labels), wrong) == (111, {"fp32_stream"})
