"""JSON and JSONL become records that know their lines; what is no JSON is named."""

from __future__ import annotations

from kopt_kb.packs.foreign_logs.documents import json_records, jsonl_records
from kopt_kb.packs.foreign_logs.record import ForeignRecord
from kopt_kb.packs.foreign_logs.tree import Unread

EVALUATION = """{
  "round": 2,
  "best_task": "fuse",
  "benchmark_speedup": 1.25,
  "full_benchmark": {
    "verified_speedup": 1.10,
    "candidate_ms": 2.0,
    "baseline_ms": 2.2
  }
}"""


def test_what_lies_inside_a_record_belongs_to_it() -> None:
    """Names say where; each member has its own line."""
    (found,) = json_records("round_2_evaluation.json", EVALUATION)
    assert isinstance(found, ForeignRecord)
    assert (found.round, found.item) == (2, "fuse")
    assert [(one.name, one.text, one.line) for one in found.of("speedup")] == [
        ("benchmark_speedup", "1.25", 4), ("full_benchmark.verified_speedup", "1.10", 6),
    ]  # fmt: skip
    before = found.first("baseline time")
    assert before is not None
    assert before.line == 8


def test_results_by_number() -> None:
    """Objects under keys without a name, as benchmark suites write them; spreads come from inside."""
    text = '{"1": {"0": {"correctness": true, "runtime": 4.5, "runtime_stats": {"std": 0.01, "num_trials": 100}}}}'
    (found,) = json_records("eval_results.json", text)
    assert isinstance(found, ForeignRecord)
    assert [one.role for one in found.fields] == ["check", "time", "spread", "repeats"]


def test_named_objects_in_a_list_are_records_of_their_own() -> None:
    """The list's owner keeps its own."""
    text = '{"best_speedup": 2.0, "round": 3, "all": [{"task": "a", "speedup": 2.0}, {"task": "b", "speedup": 1.1}]}'
    found = [one for one in json_records("report.json", text) if isinstance(one, ForeignRecord)]
    assert [(one.label, one.item) for one in found][:1] == [("round 3", "")]
    assert {one.item for one in found[1:]} == {"a", "b"}


def test_a_line_that_is_no_json_is_named_and_the_others_are_read() -> None:
    """As a killed writer leaves it."""
    text = '{"round": 1, "speedup": 1.1}\n{"round": 2, "spee\n{"round": 3, "speedup": 1.2}\n'
    found = list(jsonl_records("log.jsonl", text))
    assert [(one.line, one.round) for one in found if isinstance(one, ForeignRecord)] == [(1, 1), (3, 3)]
    assert [one.line for one in found if isinstance(one, Unread)] == [2]


def test_bad_documents_are_named() -> None:
    """Cut, trailing, too deep."""
    for text in ('{"speedup": 1.0', '{"speedup": 1.0} x', "[" * 100 + "]" * 100, "{1: 2}", '{"a" 1}', "[1 2]", "nope"):
        (found,) = json_records("a.json", text)
        assert isinstance(found, Unread), text


def test_profiles_are_no_claims() -> None:
    """Durations that nothing is compared with."""
    assert list(json_records("profile.json", '{"kernels": [{"name": "a", "duration_us": 3.0}]}')) == []
