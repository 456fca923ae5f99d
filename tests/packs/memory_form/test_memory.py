"""A memory file's numbers come from records by id, its outcomes from gates, its words from notes."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.base.wire import parse, read
from kopt_kb.packs.memory_form.attempts import read_memory
from kopt_kb.packs.memory_form.memory import memories_of, memory_files, memory_text
from kopt_kb.packs.memory_form.memory_model import Iteration
from kopt_kb.workspace.journal.blobs import ObjectStore
from kopt_kb.workspace.views.files import split_view
from kopt_kb.workspace.workspace import Workspace


def version(story, number):
    """One version's memory."""
    return read_memory(story.workspace).get(number)


def test_numbers_are_those_of_the_records(played):
    """v1: 100 and 10 us; geomean 31.6228 us; the records are named."""
    one = version(played, 1).performance
    assert one.latency_us_by_shape == {"8192x4096": 100.0, "1024x512": 10.0}
    assert one.latency_us == pytest.approx(31.6228)
    assert [record.id for record in one.records] == ["a:v1:8192x4096", "a:v1:1024x512"]
    assert one.bandwidth_gbps == pytest.approx((134_225_920 / 1e-4 * 2_098_176 / 1e-5) ** 0.5 / 1e9, rel=1e-5)


def test_the_change_is_against_the_incumbent(played):
    """v1 halves the time of v0: -50 %, throughput +100 %; v3 takes four times as long as v1."""
    one = version(played, 1).performance.comparison_with_previous
    assert (one.version, one.latency_change_pct, one.throughput_change_pct) == ("v0", -50, 100)
    assert version(played, 3).performance.comparison_with_previous.latency_change_pct == 300
    assert version(played, 3).performance.comparison_with_previous.version == "v1"


def test_the_incumbent_timed_in_the_same_round_is_what_counts(story):
    """In round 1 the baseline takes 15 us instead of its earlier 20: 10 us are a third less."""
    story.round(0, "accept", {"1024x512": 2e-5})
    story.round(1, None)
    story.time("v0", {"1024x512": 1.5e-5}, "again")
    story.time("v1", {"1024x512": 1e-5})
    one = version(story, 1).performance.comparison_with_previous
    assert (one.same_round, one.latency_change_pct) == (True, -33.3333)


def test_a_missing_shape_leaves_no_mean(story):
    """The mean has one meaning: over all shapes of the problem."""
    story.round(0, "accept", {"1024x512": 2e-5})
    assert version(story, 0).performance.latency_us is None
    assert version(story, 0).performance.latency_us_by_shape == {"1024x512": 20.0}


def test_outcomes_come_from_the_gates(played):
    """v2 was wrong, v1 right; a round without gates has no outcome."""
    assert version(played, 2).correctness.status == version(played, 2).quality_gate.result == "FAIL"
    assert version(played, 2).quality_gate.failure_reason == "correctness: correctness says fail"
    assert version(played, 1).quality_gate.result == "PASS"
    played.round(4, None, gates={"build": "unavailable"})
    assert version(played, 4).quality_gate.result == version(played, 4).correctness.status == "UNAVAILABLE"


@pytest.mark.parametrize(
    ("outcome", "output", "status", "rel_err"),
    [
        ("hang", '{"result": {"max_rel_err": 0.5}}', "TIMEOUT_FAIL", 0.5),
        ("ok", '{"printed": "", "result": {"rel_l2_err": 0.25}}', "FAIL", 0.25),
        ("ok", '{"result": {"max_rel_err": NaN}}', "FAIL", None),
        ("ok", '{"result": {"max_rel_err": 1' + "0" * 400 + "}}", "FAIL", None),
        ("ok", '{"result": {"max_rel_err": true}}', "FAIL", None),
        ("ok", '{"result": [1]}', "FAIL", None),
        ("ok", '{"result": null}', "FAIL", None),
        ("ok", "[]", "FAIL", None),
        ("crash", "Traceback", "FAIL", None),
        ("crash", None, "FAIL", None),
    ],
)
def test_the_correctness_run_says_the_error(story, outcome, output, status, rel_err):
    """Copied from the run's output; a hang is a timeout; garbage is no number."""
    blob = None if output is None else story.store.put(output.encode())
    story.round(1, None)
    limits = {"attempt": 1, "argv": [], "limits": {}, "pid": 1, "pid_start_ticks": None}
    story.add("run_started", run="r9", candidate="v1", gate="correctness", **limits)
    story.add("run_finished", run="r9", outcome=outcome, exit=1, signal=None, wall_s=1.0, output=blob)
    story.add("gate_judged", candidate="v1", gate="correctness", result="fail", reason="", runs=["r9"])
    one = version(story, 1).correctness
    assert (one.status, one.rel_err) == (status, rel_err)


def test_hypothesis_candidates_and_commit(played):
    """What was stated, tried and kept."""
    one = version(played, 1)
    assert (one.optimization.action_category, one.optimization.action_description) == ("memory", "idea 1")
    assert [(each.name, each.result, each.decision) for each in one.experience.experiments] == [
        ("v1", "PASS", "continue")
    ]
    assert version(played, 3).experience.experiments[0].decision == "revert"
    assert one.git_commit_hash == "0" * 7 + "1" * 33
    assert version(played, 3).git_commit_hash is None
    assert one.problem.device == "NVIDIA T10 48GB"


def test_profiles_fill_evidence_and_isa_progress(story):
    """Evidence of an ISA target's name gives current and met."""
    names = [one.metric for one in version(story, 0).isa_metric_progress]
    assert names
    report = story.store.put(b"report")
    evidence = [{"metric": names[0], "value": 0.5, "met": False}, {"metric": names[1], "value": "x"}]
    story.add("profile_read", report=report, tool="ncu", kernel=None, code="MEM-1", evidence=evidence)
    one = version(story, 0)
    assert (one.isa_metric_progress[0].current, one.isa_metric_progress[0].met) == (0.5, False)
    assert (one.isa_metric_progress[1].current, one.isa_metric_progress[1].met) == (None, None)
    assert (one.profile_evidence[0].tool_used, one.profile_evidence[0].bottleneck_type) == ("ncu", "MEM-1")


def test_simulated_times_are_never_judged(story):
    """They say so and reach no target."""
    seq = story.machine("simulator")
    story.round(0, "accept", {"8192x4096": 1e-9, "1024x512": 1e-9}, environment=seq)
    one = version(story, 0)
    assert one.simulated
    assert one.performance.target_ratio is one.performance.bandwidth_peak_utilization_pct is None


def test_undecodable_words_become_question_marks(story):
    """A lone surrogate in an event can't stop the file."""
    story.round(1, None, claim="odd \udc80")
    text = memory_text(version(story, 1))
    assert "odd ?" in text and text.encode()


def test_a_scan_of_compiled_code_fills_isa_progress_and_names_no_bottleneck(played):
    """What ptxas made of the kernel gives current and met; verdict and limiter stay the profiler's."""
    report = played.store.put(b"{}")
    played.add("round_started", round=4, incumbent=played.workspace.state().created.kernel)
    scanned = [
        {"metric": "global_load_128b_share", "value": 0.5, "met": False},
        {"metric": "spills", "value": 0, "met": True},
    ]
    said = {"report": report, "kernel": None, "evidence": scanned}
    played.add("profile_read", tool="kb isa", code="instructions", **said)
    one = version(played, 4)
    progress = {entry.metric: (entry.current, entry.met) for entry in one.isa_metric_progress}
    assert progress["global_load_128b_share"] == (0.5, False)
    assert progress["spills"] == (0.0, True)
    assert progress["private_memory_accesses"] == (None, None)
    assert one.profile_evidence == () and played.workspace.state().limiter == ""


def test_recorded_memory_files_are_rendered_and_read_back_byte_for_byte(repo_root: Path):
    """Files of all recorded campaigns, by older programs too: text → types → the same text, and from their events as well."""
    seen = 0
    for journal in sorted((repo_root / "benchmarks" / "campaigns").glob("*/*/journal.jsonl")):
        workspace = Workspace.open(journal.parent)
        state, blob = workspace.state(), ObjectStore(workspace.layout.objects).get
        for path, text in memory_files(state, blob, memories_of(state, blob)).items():
            data = (journal.parent / path).read_bytes()
            view = split_view(path, data)
            assert view is not None and view.intact
            assert text.encode() == view.body
            assert memory_text(read(Iteration, parse(data), where=path)).encode() == view.body
            seen += 1
    assert seen == 40


def test_the_level_of_trust_stands_where_the_events_say_it(played):
    """Records and decision carry it; a file from before there were levels keeps its bytes."""
    assert "trust" not in memory_text(version(played, 1))
    played.round(4, None)
    said = {
        "candidate": "v4",
        "shape": "1024x512",
        "n": 3,
        "median_s": 1e-5,
        "spread": {},
        "run": "r",
        "environment": 1,
    }
    played.add("measured", id="r:v4", trust="replayed", **said)
    played.add("decided", round=4, measured=["r:v4"], decision="accept", policy="p", rule="R", trust="isolated")
    one = version(played, 4)
    assert one.decision is not None
    assert ([record.trust for record in one.performance.records], one.decision.trust) == (["replayed"], "isolated")
