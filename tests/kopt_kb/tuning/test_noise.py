"""Noise is what repeats of one kernel show; on another machine it is measured anew, and what was timed keeps its own."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import pytest

from kopt_kb.base.errors import BadInput, KoptError, MissingTool
from kopt_kb.launch.candidate.answers import Environment, Sample, read_answer
from kopt_kb.launch.candidate.job import Job, Outcome, Started
from kopt_kb.tuning.campaign import Campaign
from kopt_kb.tuning.decision import GateResult, decide
from kopt_kb.tuning.machine import lacks_noise
from kopt_kb.tuning.noise import noise_floor_pct, noise_of
from kopt_kb.tuning.options import Budget, CampaignOptions, Settings
from kopt_kb.tuning.policy import policy_named
from kopt_kb.tuning.proposals import Proposal, ProposerView
from kopt_kb.workspace.journal.events import Event
from kopt_kb.workspace.views.render import render_workspace
from kopt_kb.workspace.workspace import Workspace


def test_the_largest_deviation_from_the_median() -> None:
    """In percent of it."""
    found = noise_of("8x8", [Sample(9, one) for one in (1.0, 1.02, 0.99)], "run")
    assert (found.n, found.median_s, found.run) == (3, 1.0, "run")
    assert found.floor_pct == pytest.approx(2.0) and found.mad_s == pytest.approx(0.01)


def test_equal_printed_times_are_as_noisy_as_their_last_digit() -> None:
    """Of noise and step the larger one holds; records without a step are as before."""
    assert noise_of("8x8", [Sample(9, 1.0, step_pct=0.5)] * 3, "run").floor_pct == 0.5
    noise = {"8x8": noise_of("8x8", [Sample(9, one) for one in (1.0, 1.02, 1.0)], "run")}
    assert noise_floor_pct(noise, [0.5]) == pytest.approx(2.0)
    assert noise_floor_pct(noise, [3.0, 1.0]) == pytest.approx(3.0)
    assert noise_floor_pct({}, [None]) == 0.0


@pytest.mark.parametrize("old", range(100, 400, 7))
def test_one_step_is_no_gain_and_two_are(old: int) -> None:
    """Whatever rate is printed without decimals."""
    policy, words = policy_named("gpu-wiki"), []
    gates = [GateResult(gate, "pass") for gate in policy.required_gates]
    for more in (1, 2):
        times = ({"8x8": [1 / old] * policy.repeats}, {"8x8": [1 / (old + more)] * policy.repeats})
        floor = noise_floor_pct({}, [100 / old, 100 / (old + more)])
        words.append(decide(policy, *times, gates, noise_pct=floor).rule)
    assert words[0] == "noise floor" and words[1] != "noise floor"


AMOUNT = {"8192x4096": 134_225_920, "1024x512": 2_098_176}
PRODUCTS = {"card": "T10", "other card": "T10", "big card": "T20", "board": ""}
CHECK = {"build_error": "", "passed": True, "problem": "", "rel_l2_err": 0.0, "checks": 4}


class Killed(KeyboardInterrupt):
    """The machine went away."""


class Card:
    """An executor on a device of this name; every further comment line of a kernel makes it a tenth faster."""

    name, simulated, trust = "card", False, "isolated"
    close = staticmethod(lambda: None)

    def __init__(self, device: str = "card", *, spread: float = 0.001, **answers: dict[str, Any]) -> None:
        self.device, self.spread, self.answers, self.jobs = device, spread, answers, list[str]()

    def run(self, job: Job, started: Started) -> Outcome:
        """Answer from the device and the source; `answers` lay others over."""
        started((job.kind,), 1, None)
        self.jobs.append(job.kind)
        machine = {"device": self.device, "uuid": None, "driver": "5", "clocks": {}, "versions": {}}
        known = {"environment": machine, "check": CHECK, "timing": {"shapes": self._times(job)}, **self.answers}
        return Outcome("ok", 0, None, 0.1, "", read_answer(job.kind, known.get(job.kind, {"unavailable": "none"})))

    def _times(self, job: Job) -> dict[str, Any]:
        sides = {"incumbent": job.incumbent, "candidate": job.candidate}
        return {shape: {side: self._repeats(source, shape) for side, source in sides.items()} for shape in AMOUNT}

    def _repeats(self, source: bytes, shape: str) -> list[dict[str, float]]:
        at = AMOUNT[shape] / 1e12 * 0.9 ** source.count(b"\n# ")
        return [{"n": 9, "median_s": at * (1 + one * self.spread)} for one in range(3)]


class Numbered:
    """A new comment line every round."""

    name = "numbered"

    def propose(self, view: ProposerView) -> Proposal:
        """Return the incumbent with one line more."""
        source = view.incumbent + f"# {view.round}\n".encode()
        return Proposal("caching", f"change {view.round}", "less time", self.name, source)


def campaign(workspace: Workspace, executor: Card, rounds: int = 1) -> Campaign:
    """A campaign of that many rounds on the executor's machine."""
    policy, options = (
        replace(policy_named("gpu-wiki", max_rounds=rounds), least_trust="isolated"),
        CampaignOptions(product_of=lambda name: PRODUCTS[name]),
    )
    return Campaign(workspace, policy, (Numbered(),), executor, settings=Settings(samples=5), options=options)


def until(workspace: Workspace, executor: Card, kind: str, number: int = 0, rounds: int = 1) -> None:
    """Step until an event of this kind (of a round) is there, and go away."""
    with campaign(workspace, executor, rounds) as one:
        while not any(e.kind == kind and getattr(e.data, "round", number) == number for e in workspace.events()):
            one.step()


def endlessly(one: Campaign) -> None:
    """Step until something is raised."""
    while True:
        one.step()


def events(workspace: Workspace, kind: str) -> list[Event]:
    """The events of a kind."""
    return [one for one in workspace.events() if one.kind == kind]


def test_another_machine_between_rounds_is_recorded_with_its_noise(workspace: Workspace) -> None:
    """Times of the next round name the new machine; the decision uses the noise measured on it."""
    until(workspace, Card(), "snapshot_taken")
    executor = Card("other card", spread=0.2)
    with campaign(workspace, executor) as one:
        report = one.run()
        state = one.state()
    first, second = events(workspace, "environment_recorded")
    # What the machine reaches, its noise, then the round; of what is rolled back no profile is taken.
    assert executor.jobs == ["environment", "timing", "timing", "check", "timing"]
    assert [one.data.run for one in events(workspace, "noise_measured")[2:]] == [f"noise-{second.seq}.timing.1"] * 2
    used = {(one.data.run.partition(".")[0], one.data.environment) for one in events(workspace, "measured")}
    assert used == {("v0", first.seq), ("v1", second.seq)}
    assert (report.rounds[1].decision, report.rounds[1].rule) == (
        "rollback",
        "noise floor",
    )  # 11 % under a noise of 20 %
    assert not lacks_noise(state)


def test_the_same_machine_is_read_once_and_not_recorded_again(workspace: Workspace) -> None:
    """One environment job an opened campaign, before anything is measured."""
    until(workspace, Card(), "snapshot_taken")
    executor = Card()
    with campaign(workspace, executor) as one:
        one.run()
    assert executor.jobs == ["environment", "check", "timing", "evidence"]
    assert len(events(workspace, "environment_recorded")) == 1


def test_a_round_begun_elsewhere_is_refused(workspace: Workspace) -> None:
    """Both machines are named, nothing is measured, and the journal says why; back there it goes on."""
    until(workspace, Card(), "gate_judged", 1)
    with campaign(workspace, Card()) as one:
        while len(one.state().rounds) < 2 or not one.state().rounds[1].runs:
            one.step()
    executor = Card("other card")
    with (
        campaign(workspace, executor) as one,
        pytest.raises(BadInput, match=r"round 1 was begun on card \(driver 5\), and this is other card") as error,
    ):
        one.run()
    assert (error.value.error_code, executor.jobs, events(workspace, "blocked")[-1].data.needs) == (
        "KB429", ["environment"], (error.value.what,)
    )  # fmt: skip
    with campaign(workspace, Card()) as one:
        assert one.run().rounds[1].decision == "accept"


@pytest.mark.parametrize(
    ("executor", "error", "said"),
    [
        (Card("big card"), BadInput, "the device big card is T20, this workspace is for T10"),
        (Card(environment={"missing": "no GPU is visible to torch"}), MissingTool, "no GPU is visible"),
    ],
)
def test_a_wrong_machine_is_refused_on_resume(
    workspace: Workspace, executor: Card, error: type[KoptError], said: str
) -> None:
    """As when the campaign was opened."""
    until(workspace, Card(), "snapshot_taken")
    with campaign(workspace, executor) as one, pytest.raises(error, match=said):
        one.run()
    assert (executor.jobs, len(events(workspace, "blocked"))) == (["environment"], 1)


def test_a_new_start_that_is_refused_shows_in_the_views(workspace: Workspace) -> None:
    """What was written before the refusal leaves no view behind the journal."""
    with campaign(workspace, Card()) as one:
        one.run(Budget(rounds=1))
    assert workspace.state().stopped is not None
    missing = Card(environment={"missing": "no GPU is visible to torch"})
    with campaign(workspace, missing) as one:
        one.restart()
        with pytest.raises(MissingTool):
            one.run()
    assert not render_workspace(workspace).written


def test_a_best_version_of_another_device_is_not_evaluable_after_a_restart(workspace: Workspace) -> None:
    """Its records were taken on a device that nobody knows; being on the right one now changes nothing."""
    with campaign(workspace, Card("board")) as one:
        one.run()
    with campaign(workspace, Card(), rounds=1) as one:
        one.restart()
        one.step()
        assert one.report().conditions is None
        one.run()
        assert one.report().conditions is not None  # the next version was timed here


def test_records_belong_to_the_machine_of_their_run(workspace: Workspace) -> None:
    """The times were there when the machine went away, their records not: another one writes them and names theirs."""

    class Dying(Card):
        counts = itertools.count()

        def run(self, job: Job, started: Started) -> Outcome:
            if job.kind == "evidence" and next(self.counts):
                raise Killed
            return super().run(job, started)

    dying = campaign(workspace, Dying())
    with pytest.raises(Killed):
        endlessly(dying)
    dying.close()
    path = workspace.layout.journal
    lines = path.read_bytes().splitlines(keepends=True)
    ended = max(at for at, line in enumerate(lines) if b'"kind":"run_finished"' in line)
    path.write_bytes(b"".join(lines[: ended + 1]))
    with campaign(workspace, Card("other card", spread=0.2)) as one:
        one.stop("user")
    with campaign(workspace, Card("other card", spread=0.2)) as one:
        one.restart()
        report = one.run()
    first = events(workspace, "environment_recorded")[0].seq
    told = [one.data for one in events(workspace, "measured") if one.data.run == "v1.timing.1"]
    assert {one.environment for one in told} == {first} and len(told) == 12
    assert report.rounds[1].decision == "accept"  # 11 % is above the noise of the machine that timed it


def test_a_version_that_does_not_run_there_says_so(workspace: Workspace) -> None:
    """No noise, no round; each start tries again under a name of its own."""
    until(workspace, Card(), "snapshot_taken")
    for _ in range(2):
        broken = Card("other card", timing={"problem": "CUDA error"})
        with campaign(workspace, broken) as one, pytest.raises(BadInput, match=r"v0 can't be timed.*CUDA error"):
            one.run()
    runs = [one.data.run for one in events(workspace, "run_finished")][-2:]
    assert [one.partition(".")[2] for one in runs] == ["timing.1", "timing.2"]


def test_a_project_goes_on_on_another_host(make_project, project_campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own benchmark measures the noise there, on all shapes."""
    workspace = make_project()
    with project_campaign(workspace) as one:
        while not events(workspace, "snapshot_taken"):
            one.step()
    machine = Environment("host other", None, None, {}, {})
    monkeypatch.setattr("kopt_kb.launch.project.executor.host_environment", lambda: machine)
    with project_campaign(workspace) as one:
        one.run()
        state = one.state()
    assert [one.data.device for one in events(workspace, "environment_recorded")][1:] == ["host other"]
    assert len(state.noise) == 5 and {one.run for one in state.noise.values()} == {
        f"noise-{state.environment_seq}.timing.1"
    }  # fmt: skip
