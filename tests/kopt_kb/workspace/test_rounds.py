"""Events fold into attempts: each event lands in the attempt it belongs to."""

from __future__ import annotations


def history(story):
    """The attempts of the story so far."""
    return story.workspace.state()


def test_the_baseline_always_exists(story):
    """A fresh workspace has attempt 0, open."""
    found = history(story)
    assert list(found.attempts) == [0]
    assert found.attempts[0].status == "open"


def test_failures_consume_numbers(played):
    """Baseline, accepted, two rollbacks: four numbers, each with its status."""
    assert [one.status for one in history(played).attempts.values()] == ["baseline", "accept", "rollback", "rollback"]


def test_the_incumbent_is_the_last_accepted(played):
    """v1; it and the baseline are protected, v2 and v3 are not."""
    found = history(played)
    assert found.incumbent.number == 1
    assert found.unmaskable() == {0, 1}


def test_the_fastest_accepted_version_is_protected_beside_the_incumbent(story):
    """v1 at 10 us, v2 accepted with a note at 12 us: both stay."""
    story.round(0, "accept", {"1024x512": 2e-5})
    story.round(1, "accept", {"1024x512": 1.0e-5})
    story.round(2, "accept_with_note", {"1024x512": 1.2e-5})
    story.round(3, "rollback", {"1024x512": 0.9e-5})
    assert history(story).unmaskable() == {0, 1, 2}


def test_the_median_repeat_stands_for_a_shape(story):
    """Of 3, 1 and 2 us the record of 2 us; of two the faster."""
    story.round(0, None)
    for tag, median_s in (("a", 3e-6), ("b", 1e-6), ("c", 2e-6)):
        story.time("v0", {"1024x512": median_s}, tag)
    assert history(story).attempts[0].own_records["1024x512"].id == "c:v0:1024x512"
    assert history(story).attempts[0].status == "baseline"


def test_the_incumbent_timed_again_is_no_record_of_its_own_round(story):
    """A/B in round 1 times v0 once more: v0 keeps its number, v1 gets its own."""
    story.round(0, "accept", {"1024x512": 2e-5})
    story.round(1, None)
    story.time("v0", {"1024x512": 9e-5}, "again")
    story.time("v1", {"1024x512": 1e-5})
    found = history(story).attempts
    assert found[0].own_records["1024x512"].median_s == 2e-5
    assert found[1].own_records["1024x512"].median_s == 1e-5
    assert found[1].standing("v0")["1024x512"].median_s == 9e-5


def test_a_sweep_is_one_attempt_and_the_decided_candidate_is_chosen(story):
    """Two candidates; the decision names the first one's record."""
    story.round(1, None)
    kernel = story.workspace.state().created.kernel
    story.add("candidate_submitted", round=1, candidate="other", blob=kernel, params={}, proposer="ann")
    (first,) = story.time("v1", {"1024x512": 1e-5})
    story.time("other", {"1024x512": 2e-5})
    assert history(story).attempts[1].chosen.name == "other"
    story.add("decided", round=1, decision="accept", policy="p", rule="r", measured=[first])
    assert history(story).attempts[1].chosen.name == "v1"


def test_an_unfinished_round_is_open(played):
    """Only the last one, and never the baseline."""
    assert history(played).undecided is None
    played.round(4, None)
    assert history(played).undecided.number == 4


def test_masks_come_and_go_and_never_hide_what_is_protected(played):
    """An event that masks the baseline, an unknown number and v2 hides v2 alone."""
    played.add("memory_masked", versions=[0, 1, 2, 99], reason="noise", seed=None)
    assert history(played).masked == {2: "noise"}
    played.add("memory_unmasked", versions=[2], reason="sorry", seed=None)
    assert history(played).masked == {}


def test_simulated_attempts_are_known_by_their_machine(story):
    """The simulator's environment marks every attempt it timed."""
    seq = story.machine("simulator")
    story.round(0, "accept", {"1024x512": 2e-5}, environment=seq)
    found = history(story)
    assert found.is_simulated(found.attempts[0])


def test_events_about_the_campaign_are_kept(story, samples):
    """Noise, stop, block, runs and adoptions."""
    for kind in ("noise_measured", "stopped", "blocked", "run_started", "run_finished", "file_adopted", "profile_read"):
        story.add(kind, **samples[kind])
    found = history(story)
    assert (found.stopped.reason, found.blocked.needs, len(found.noise_records)) == ("target", ("a GPU",), 1)
    assert list(found.runs) == ["r1"] and found.adopted[0][2].path == "README.md"
    assert len(found.attempts[0].profiles) == 1


def decide(story, number, decision, refutes=()):
    """Play a decision that takes accepted versions back."""
    end = {"round": number, "decision": decision, "policy": "p", "rule": "r", "measured": (), "refutes": refutes}
    story.add("decided", **end)


def test_a_refuted_version_is_accepted_no_more(story):
    """Neither incumbent nor protected, although it is the fastest; it can be masked. The word of its round stays."""
    story.round(0, "accept", {"1024x512": 2e-5})
    story.round(1, "accept", {"1024x512": 1e-5})
    story.round(2, None, {"1024x512": 1e-5})
    assert history(story).unmaskable() == {0, 1}
    decide(story, 2, "rollback", (1,))
    found = history(story)
    assert [one.status for one in found.attempts.values()] == ["baseline", "refuted", "rollback"]
    assert (found.attempts[1].refuted_by, found.attempts[1].accepted) == (2, False)
    assert found.attempts[1].decided.decision == "accept"
    assert (found.incumbent.number, found.unmaskable()) == (0, {0})


def test_only_accepted_versions_after_the_baseline_can_be_refuted(story):
    """The baseline stands whatever a journal says, a rolled back attempt is one already, and 9 does not exist."""
    story.round(0, "accept", {"1024x512": 2e-5})
    story.round(1, "rollback")
    story.round(2, None)
    decide(story, 2, "rollback", (0, 1, 2, 9))
    assert [one.status for one in history(story).attempts.values()] == ["baseline", "rollback", "rollback"]
