"""A profiler's report becomes evidence that is bound to the candidate's blob."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kopt_kb.runners.candidate.answers import Evidence
from kopt_kb.tuning.evidence import read_evidence

KERNEL, REPORT = "ab" * 32, "cd" * 32


def test_no_report_is_unavailable() -> None:
    """Text that is no report is unavailable."""
    word, profile = read_evidence(Evidence("==PROF== nothing\n", "2x4"), REPORT, KERNEL)
    assert (word.result, profile) == ("unavailable", None)


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        (
            "gemm",
            [("high_throughput", "matmul_small_tiles"), ("balanced", "matmul_pointers")]
            + [("balanced", "matmul_pointers")]
            + [("high_throughput", "matmul_persistent")] * 2
            + [("high_throughput", "matmul_descriptors")],
        ),
        (
            "rms_norm",
            [("latency", "rms_norm_three_pass"), ("memory", "rms_norm_persistent")]
            + [("high_throughput", "rms_norm_single_pass")] * 5,
        ),
        ("rms_norm_2", [("latency", "rms_norm_three_pass")] + [("high_throughput", "rms_norm_two_pass")] * 2),
        (
            "softmax",
            [("latency", "softmax_three_pass"), ("memory", "softmax_persistent")]
            + [("high_throughput", "softmax_single_pass")] * 5,
        ),
    ],
)
def test_a_real_report_of_a_campaign(repo_root: Path, op: str, expected: list[tuple[str, str]]) -> None:
    """The recorded campaigns' blobs read again: naive kernels latency-bound, tuned ones at high throughput."""
    folder = repo_root / "benchmarks" / "campaigns" / "h200_sxm" / op
    lines = [json.loads(one) for one in (folder / "journal.jsonl").read_text().splitlines()]
    found = []
    for line in lines:
        if line["kind"] == "profile_read":
            csv = (folder / "objects" / line["data"]["report"]).read_text()
            word, profile = read_evidence(Evidence(csv, "16384x8192"), REPORT, KERNEL)
            assert word.result == "pass" and profile is not None
            assert (profile.kernel, profile.report) == (KERNEL, REPORT)
            found.append((profile.code, profile.evidence[0]["kernel"]))
    assert found == expected
