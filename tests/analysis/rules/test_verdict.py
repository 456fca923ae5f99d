"""The verdict as text and JSON."""

from __future__ import annotations

import json

from kopt_kb.analysis.profile import KernelProfile
from kopt_kb.analysis.rules.classify import classify
from tests.analysis.rules.conftest import profile_of


def test_the_block(zoo: dict[str, KernelProfile]) -> None:
    """Primary bottleneck, evidence with its row, the first recommendation ranked High with its page."""
    lines = classify(zoo["bank_conflict32"]).text().splitlines()
    assert lines[0] == "Primary bottleneck: memory-bound"
    assert lines[1].startswith("Evidence: shared_excess_pct 96.81 % >= 30 (counters/nvidia_thresholds.md:")
    assert lines[3].startswith("1. [High] ")
    assert lines[3].endswith("(advice/bank-conflict.md)")


def test_json_has_the_fields_of_the_contract(zoo: dict[str, KernelProfile]) -> None:
    """Class, limiter, evidence, absent, advice, others; it survives JSON."""
    body = json.loads(json.dumps(classify(zoo["tail_eighth"]).to_json(), allow_nan=False))
    assert (body["class"], body["limiter"], body["root_cause"]) == ("latency-bound", "tail", "scheduling")
    assert {"evidence", "absent", "advice", "others", "headroom", "code"} <= set(body)
    cited = [one["threshold"]["citation"] for one in body["evidence"] if one["threshold"]]
    assert cited
    assert all(one.startswith("counters/nvidia_thresholds.md:") for one in cited)


def test_a_verdict_without_evidence_names_what_is_missing() -> None:
    """Insufficient data prints the absent metrics as its evidence."""
    assert "Evidence: not collected: duration_s" in classify(profile_of()).text()
