"""What limits the AMD kernels of the public reports, worked by hand from their counters.

| kernel | arithmetic | limiter |
|---|---|---|
| vecCopy on MI100 | (8.41 + 6.49) MB over 20.85 us (mean of 3) = 714 GB/s of 1229 documented: 58 % | dram |
| vecCopy on MI200 | (8.39 + 6.68) MB over 17.4 us = 864 GB/s of the 1389 that roofline.csv measured: 62 % | dram |
| vecCopy on MI300X | 16.8 MB over 7.36 us = 2282 GB/s of 5325: 43 %; waves wait for memory 70 % of their cycles | dependency |
| vecCopy on MI350 | no unit above 48 % (L1: 524288 lines over 8582 cycles x 128 CUs); waves wait 89 % | dependency |
| random numbers | vector ALU busy 53.3 %, LDS 17 %, memory under 1 %; integer operations only | int |
| random numbers, copy out | (549 + 2002) GB/s of 4886 measured: 52 %, vector ALU 10.5 % | dram |
| reduction, 256 groups | vL1D at 29 % of its peak, HBM at 21 %; waves wait for memory 80 % | dependency |
| reduction, last | one group on 256 CUs for 116 us | small-grid |
| Sobol numbers | vector ALU 27 %, HBM 19 %; waves wait to issue 47 %, for memory 42 % | latency |
| copies and fills of the runtime | 2.5 and 3.0 us | launch-overhead |
"""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.analysis.readers.read import read_profiles
from kopt_kb.analysis.rules.classify import classify
from kopt_kb.analysis.rules.product import product_of
from kopt_kb.wiki.registry import Registry

pytestmark = pytest.mark.corpus


@pytest.mark.parametrize(
    ("workload", "limiter", "metric", "value"),
    [
        ("vcopy_mi100", "dram", "dram_use_pct", 58.1),
        ("vcopy_mi200", "dram", "dram_use_pct", 62.2),
        ("vcopy_mi300x_rocpd", "latency", "waiting_pct", 69.5),
        ("vcopy_mi350", "latency", "waiting_pct", 88.9),
    ],
)
def test_a_copy_kernel(profile_corpus: Path, workload: str, limiter: str, metric: str, value: float) -> None:
    """One million doubles, on four generations."""
    (profile,) = read_profiles(profile_corpus / "rocprof-compute" / workload)
    verdict = classify(profile, product_of(profile, Registry.open()))
    assert verdict.limiter == limiter
    assert (verdict.evidence[0].metric, verdict.evidence[0].value) == (metric, pytest.approx(value, abs=0.1))


def test_the_kernels_of_an_analysis_database(profile_corpus: Path) -> None:
    """Seven kernels with the tool's own numbers, in order of first launch."""
    database = profile_corpus / "rocprof-compute-db" / "mi350_montecarlo_analysis.db"
    found = [classify(one).limiter for one in read_profiles(database)]
    assert found == ["int", "dram", "launch-overhead", "dependency", "small-grid", "launch-overhead", "latency"]
