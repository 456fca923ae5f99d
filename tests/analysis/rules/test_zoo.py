"""The verdict on kernels built to have one limiter."""

from __future__ import annotations

from kopt_kb.analysis.profile import KernelProfile
from kopt_kb.analysis.rules import LIMITERS, classify

Zoo = dict[str, KernelProfile]
Expected = dict[str, tuple[str, str]]


def test_every_kernel_is_judged_by_its_limiter(zoo: Zoo, expected: Expected) -> None:
    """Class and limiter of each recording are the expected ones."""
    got = {name: ((verdict := classify(one)).bottleneck, verdict.limiter) for name, one in zoo.items()}
    assert got == expected


def test_the_zoo_covers_the_table(expected: Expected) -> None:
    """Each limiter that a kernel can show is shown by at least one."""
    assert {limiter for _, limiter in expected.values()} == set(LIMITERS) - {"insufficient-data"}


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
