"""The machine is what the executor's child finds; no answer is an error with a remedy."""

from __future__ import annotations

import pytest

from kopt_kb.base.errors import BadInput, MissingTool
from kopt_kb.launch.candidate.answers import read_answer
from kopt_kb.launch.candidate.job import Ending, Job, Outcome, RunLimits, Started
from kopt_kb.tuning.environment import harness_digest, read_machine

FOUND = {"device": "NVIDIA T10 48GB", "uuid": None, "driver": "1", "clocks": {}, "versions": {"torch": "2"}}
ASKED = Job("environment", limits=RunLimits(9.0))


class Answering:
    """Ends every job alike."""

    name, simulated, trust = "answering", False, "replayed"
    close = staticmethod(lambda: None)

    def __init__(self, result: dict[str, object] | None, outcome: Ending = "ok", printed: str = "") -> None:
        self.result, self.outcome, self.printed = result, outcome, printed

    def run(self, job: Job, started: Started) -> Outcome:
        started((job.kind,), 1, None)
        return Outcome(self.outcome, 0, None, 0.1, self.printed, self.result and read_answer(job.kind, self.result))


def test_the_product_is_looked_up_when_somebody_can() -> None:
    """Empty when nobody looked, and when no page has the name: it is not known to be the product then."""
    products = [read_machine(Answering(FOUND), ASKED, look).product for look in (None, lambda _: "T10", lambda _: "")]
    assert products == ["", "T10", ""]
    machine = read_machine(Answering(FOUND), ASKED)
    assert (machine.device, machine.driver, machine.harness) == ("NVIDIA T10 48GB", "1", harness_digest())


def test_no_gpu_is_missing() -> None:
    """As the child says it."""
    with pytest.raises(MissingTool, match="no GPU is visible"):
        read_machine(Answering({"missing": "no GPU is visible to torch"}), ASKED)


def test_a_child_that_dies_is_named_with_its_last_words() -> None:
    """Never a record without a device."""
    with pytest.raises(BadInput, match="ended with crash: srun: no such partition"):
        read_machine(Answering(None, "crash", "a\nsrun: no such partition\n"), ASKED)


def test_a_project_has_a_harness_of_its_own() -> None:
    """What runs and reads its benchmark is other code."""
    assert harness_digest() == harness_digest() and len(harness_digest()) == 64
    assert harness_digest(of_project=True) != harness_digest()
