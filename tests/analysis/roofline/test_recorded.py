"""A roofline reads back from its document, byte for byte, with typed access to what a judge needs."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import jsonschema
import pytest

from kopt_kb.analysis.roofline.recorded import RecordedRoofline, RecordedTarget, read_rooflines
from kopt_kb.analysis.roofline.roofline import Roofline, roofline
from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import WireError, canonical, schema
from kopt_kb.problem.work import work
from kopt_kb.wiki.registry import Platform, Registry

WORKS = {
    "attention": (4, 32, 4096, 128),
    "gemm": (4096, 4096, 4096),
    "rms_norm": (8192, 4096),
    "elementwise": (1024, 1024),
}


@pytest.fixture
def t10(wiki_root: Path) -> Platform:
    """100 SMs: 102.4 TFLOPS fp16 matrix, 25.6 TFLOPS fp32 vector, 2.0 TB/s."""
    return Registry.open(wiki_root).platform("T10")


@pytest.mark.core
@pytest.mark.parametrize("op", WORKS)
@pytest.mark.parametrize("dtype", ["fp16", "bf16"])
def test_every_roofline_reads_back_as_written(t10: Platform, op: str, dtype: str) -> None:
    """UNKNOWN roofs included; the work is the same work, and both schemas hold."""
    live = roofline(work(op, WORKS[op], dtype), t10)
    document = json.loads(json.dumps(live.to_json()))
    (record,) = read_rooflines([document])
    assert canonical(record) == canonical(live)
    assert record.work == live.work
    jsonschema.validate(document, schema(Roofline))
    jsonschema.validate(document, schema(RecordedRoofline))


def test_rooflines_of_recorded_campaigns_read_back_byte_for_byte(repo_root: Path) -> None:
    """All that were ever registered on a real machine."""
    seen = 0
    for journal in sorted((repo_root / "benchmarks" / "campaigns").glob("*/*/journal.jsonl")):
        for line in journal.read_text().splitlines():
            event = json.loads(line)
            if event["kind"] == "target_set":
                documents = event["data"]["work"]["rooflines"]
                assert canonical(read_rooflines(documents)) == canonical(documents)
                seen += len(documents)
    assert seen >= 5


def test_times_and_amounts_are_of_one_roof(t10: Platform) -> None:
    """A 4096^3 fp16 GEMM: 2*4096^3 operations at 102.4 TFLOPS; 3*4096^2*2 bytes at 2 TB/s."""
    (record,) = read_rooflines([roofline(work("gemm", (4096,) * 3, "fp16"), t10).to_json()])
    assert record.shape == "4096x4096x4096"
    assert record.amount_under("fp16 matrix") == 2 * 4096**3
    assert record.least_s("fp16 matrix", "documented") == Fraction(2 * 4096**3, 1024 * 10**11)
    assert record.least_s("dram", "documented") == Fraction(3 * 4096**2 * 2, 2 * 10**12)
    assert record.least_s("fp16 matrix", "measured") is None
    assert record.least_s("fp8 matrix", "documented") is None
    ceiling = record.ceiling("dram")
    assert ceiling is not None
    assert (ceiling.is_engine, ceiling.unit_si, ceiling.per_s("documented")) == (False, "B/s", 2 * 10**12)
    assert ceiling.roof == ceiling.documented


def test_an_unknown_roof_gives_no_time(t10: Platform) -> None:
    """bf16 is UNKNOWN on this part."""
    (record,) = read_rooflines([roofline(work("gemm", (64, 64, 64), "bf16"), t10).to_json()])
    assert record.least_s("bf16 matrix", "documented") is None
    assert isinstance(record.target, RecordedTarget)
    assert (record.target.value, record.target.needs is not None) == (None, True)


def test_a_wrong_member_is_named_by_its_path(t10: Platform) -> None:
    """Nothing is guessed: a changed record is refused where it was changed."""
    document = roofline(work("gemm", (64, 64, 64), "fp16"), t10).to_json()
    with pytest.raises(WireError, match=r"^rooflines\[0\]\.target\.value: has to be a finite number, not '1'"):
        read_rooflines([{**document, "target": {**document["target"], "value": "1"}}])
    with pytest.raises(WireError, match=r"^rooflines\[0\]\.surplus: is no member of this record"):
        read_rooflines([{**document, "surplus": 1}])
    with pytest.raises(BadInput):
        read_rooflines([{**document, "work": {}}])
