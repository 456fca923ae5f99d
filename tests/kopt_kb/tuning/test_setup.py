"""Before the first round: what is confirmed, the machine, earlier experience."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput, ExitCode, MissingTool
from kopt_kb.launch.candidate.answers import read_answer
from kopt_kb.launch.candidate.job import Job, Outcome
from kopt_kb.launch.candidate.simulator import SimulatorExecutor
from kopt_kb.problem.problem import Problem
from kopt_kb.tuning.options import CampaignOptions, Settings
from kopt_kb.tuning.policy import policy_named
from kopt_kb.tuning.proposals import view_of
from kopt_kb.tuning.session import Session
from kopt_kb.tuning.setup import CampaignSetup
from kopt_kb.workspace.journal.campaign_events import Blocked, TipsRead
from kopt_kb.workspace.journal.setup_events import EnvironmentRecorded
from kopt_kb.workspace.workspace import Workspace


class Machine:
    """An executor whose only answer is what it is asked to say of its machine."""

    name = "scripted"
    simulated = False
    trust = "replayed"
    close = staticmethod(lambda: None)

    def __init__(self, answer: dict[str, object]) -> None:
        self.answer = answer

    def run(self, job: Job, started: Callable[..., None]) -> Outcome:
        """Give the answer."""
        started(("scripted",), 1, None)
        return Outcome("ok", 0, None, 0.0, "", read_answer(job.kind, self.answer))


def setup_of(workspace: Workspace, executor: object, options: CampaignOptions | None = None) -> CampaignSetup:
    """The setup of a workspace's campaign."""
    session = Session.open(workspace.layout, executor)  # type: ignore[arg-type]
    root = str(workspace.layout.root)
    return CampaignSetup(
        session, root, executor, policy_named("gpu-wiki"), (), Settings(), options or CampaignOptions()
    )  # type: ignore[arg-type]


FOUND = {"device": "card", "uuid": None, "driver": "1", "clocks": {}, "versions": {}}


def test_a_kernel_of_other_options_than_were_counted_is_not_begun_with(workspace: Workspace) -> None:
    """A workspace from before options were read: its roofs are of other work; nothing is confirmed."""
    one = setup_of(workspace, SimulatorExecutor())
    state = one.session.state()
    kernel = b'OP = "attention"\nOP_OPTIONS = {"causal": True}\n\n\ndef launch(q, k, v, *, causal=True):\n    pass\n'
    created = replace(state.created, kernel=one.session.store.put(kernel))
    for causal in (False, True):
        problem = Problem.of("attention", ["1x2x64x16"], "bf16", options={"causal": causal})
        other = replace(state, created=created, problem=problem)
        if causal:
            one._refuse_other_options(other)
            continue
        before = one.session.journal.head.seq
        with pytest.raises(
            BadInput, match="of other work than its kernel's: OP_OPTIONS says causal=True, not False"
        ) as e:
            one.define(other)
        assert e.value.where.endswith("kernel.py:2")
        assert one.session.journal.head.seq == before


def test_no_gpu_is_missing_and_recorded(workspace: Workspace) -> None:
    """Exit 3, with the way out; the journal says what was needed."""
    one = setup_of(workspace, Machine({"missing": "no GPU is visible to torch"}))
    with pytest.raises(MissingTool, match="no GPU is visible.*--simulate") as error:
        one.prepare("T10")
    assert error.value.exit_code is ExitCode.MISSING
    assert one.session.journal.events[-1].data == Blocked(("no GPU is visible to torch",))


def test_another_product_is_refused_by_both_names(workspace: Workspace) -> None:
    """Its numbers would be held against conditions that are not its own."""
    one = setup_of(workspace, Machine(FOUND), CampaignOptions(product_of=lambda _: "T20"))
    with pytest.raises(BadInput, match="card is T20, this workspace is for T10"):
        one.prepare("T10")


@pytest.mark.parametrize(("product", "said"), [("T10", 1), ("", 2)])
def test_the_machine_is_recorded(workspace: Workspace, product: str, said: int) -> None:
    """A name that no page has is told."""
    lines: list[str] = []
    one = setup_of(workspace, Machine(FOUND), CampaignOptions(product_of=lambda _: product, say=lines.append))
    one.prepare("T10")
    found = one.session.journal.events[-1].data
    assert isinstance(found, EnvironmentRecorded)
    assert (found.device, found.product, len(lines)) == ("card", product, said)


def test_tips_that_can_not_be_read_are_named(workspace: Workspace, tmp_path: Path) -> None:
    """A file that was named and is absent, or no text, is no silence."""
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    for name in ("absent.md", "binary"):
        one = setup_of(workspace, Machine(FOUND), CampaignOptions(tips=tmp_path / name))
        with pytest.raises(BadInput, match=name):
            one.read_tips(one.session.state())
        one.session.close()


def test_proposers_are_given_the_tips(workspace: Workspace, tmp_path: Path) -> None:
    """What was read is told to whoever is asked for the next hypothesis, outside commands too."""
    file = tmp_path / "tips.md"
    file.write_text("use wide loads")
    one = setup_of(workspace, Machine(FOUND), CampaignOptions(tips=file))
    one.define(one.session.state())
    one.read_tips(one.session.state())
    view = view_of(one.session.state(), b"")
    assert (view.tips, view.document.to_json()["tips"]) == ("use wide loads", "use wide loads")
    one.session.close()


def test_a_simulated_campaign_reads_no_tips(workspace: Workspace, tmp_path: Path) -> None:
    """Nothing from a measured world leads a simulated one."""
    file = tmp_path / "tips.md"
    file.write_text("use wide loads")
    one = setup_of(workspace, SimulatorExecutor(), CampaignOptions(tips=file))
    one.define(one.session.state())
    one.read_tips(one.session.state())
    assert one.session.journal.events[-1].data == TipsRead(None, "")
