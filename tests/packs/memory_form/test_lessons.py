"""Failures, hypotheses and missed targets of the events stand in the memory without anybody typing them."""

from __future__ import annotations

from kopt_kb.packs.memory_form.attempts import read_memory
from kopt_kb.workspace.views.render import texts_of


def memory(story, number):
    """One version's memory."""
    return read_memory(story.workspace).get(number)


def test_a_failed_gate_is_a_pitfall_with_its_kind_and_reason(played):
    """v2 was wrong: accuracy; and what was done about it."""
    found = [(one.error_type, one.lesson, one.error_message) for one in memory(played, 2).pitfalls_and_fixes]
    assert found == [
        ("accuracy", "v2 failed the gate correctness", "correctness says fail"),
        ("performance", "idea 2: rollback, R3", ""),
    ]
    assert memory(played, 1).pitfalls_and_fixes == ()


def test_how_a_run_ended_says_the_kind(story):
    """A hang is a timeout, a crash a runtime error; a gate that could not judge is named too."""
    story.round(0, None)
    for name, outcome in (("check", "hang"), ("timing", "crash")):
        limits = {"attempt": 1, "argv": [], "limits": {}, "pid": 1, "pid_start_ticks": None}
        story.add("run_started", run=name, candidate="v0", gate=name, **limits)
        story.add("run_finished", run=name, outcome=outcome, exit=None, signal=9, wall_s=1.0, output=None)
        story.add("gate_judged", candidate="v0", gate=name, result="fail", reason=f"{name} ended", runs=[name])
    story.add("gate_judged", candidate="v0", gate="evidence", result="unavailable", reason="no ncu", runs=[])
    story.add("gate_judged", candidate="v0", gate="limits", result="pass", reason="spills 80 B a thread", runs=[])
    found = [(one.error_type, one.error_message, one.root_cause) for one in memory(story, 0).pitfalls_and_fixes]
    assert found == [
        ("timeout", "check ended", "run check ended as hang, signal 9"),
        ("runtime", "timing ended", "run timing ended as crash, signal 9"),
        ("runtime", "no ncu", ""),
        ("performance", "spills 80 B a thread", ""),
    ]


def test_values_that_nobody_publishes_are_pitfalls_of_the_first_attempt(played, samples):
    """As the citation would print them, with the reason; once, although a note says it too."""
    played.add("specs_registered", **samples["specs_registered"])
    played.say("note_added", "l2_capacity: UNKNOWN (gpu-wiki not found). no sheet", topic="pitfall", by="kb init")
    (found,) = memory(played, 0).pitfalls_and_fixes
    assert (found.error_type, found.lesson) == ("unknown_spec", "l2_capacity: UNKNOWN (gpu-wiki not found)")
    assert found.root_cause == "no sheet"


def test_each_hypothesis_is_an_entry_of_the_search_log(played):
    """With its category, what came of it, by how much, and whether to try it again; the baseline states none."""
    (entry,) = memory(played, 1).search_log
    assert (entry.source, entry.query, entry.actionability) == ("campaign", "memory", "kept")
    assert entry.finding == "idea 1: accept; R3; throughput +100.000% against its incumbent"
    assert memory(played, 3).search_log[0].actionability == "not to be repeated as it is"
    assert memory(played, 0).search_log == ()


def test_an_accepted_attempt_says_where_it_leaves_time(played):
    """v1 is at 74.57 and 11.66 % of its targets, the worst first; a rolled back one says nothing."""
    shown = [one.direction for one in memory(played, 1).open_directions]
    assert shown == ["1024x512: at 11.65 % of its target (dram)", "8192x4096: at 74.56 % of its target (dram)"]
    assert memory(played, 1).open_directions[0].rationale == "no profile says why yet"
    assert memory(played, 3).open_directions == ()


def test_with_every_target_met_the_shape_furthest_from_its_roof_is_named(story):
    """134,225,920 B in 70 us are 95.87 % of 2 TB/s, 2,098,176 B in 1.1 us 95.37 %."""
    story.round(0, "accept", {"8192x4096": 7e-5, "1024x512": 1.1e-6}, environment=story.machine())
    (one,) = memory(story, 0).open_directions
    assert one.direction == "1024x512: at 95.37 % of the documented dram roof; every target is met"


def test_the_log_lists_directions_of_the_best_version_and_of_people(played):
    """Not those of versions that are no longer the best, and none of masked ones."""
    for version in (2, 3):
        text = f'{{"direction": "idea of v{version}"}}'
        played.say("memory_noted", text, version=version, field="open_directions", by="ann")
    played.add("memory_masked", versions=[2], reason="x", seed=None)
    log = texts_of(played.workspace.state(), played.store.get).files["logs/optimize.md"]
    shown = log.split("## Directions to Try")[1].split("##")[0].split("\n")
    assert [line for line in shown if line] == [
        "- 1024x512: at 11.65 % of its target (dram)", "- 8192x4096: at 74.56 % of its target (dram)", "- idea of v3",
    ]  # fmt: skip


def test_simulated_times_give_no_direction(story):
    """Nothing was measured."""
    story.round(0, "accept", {"8192x4096": 2e-4}, environment=story.machine("simulator"))
    assert memory(story, 0).open_directions == ()
