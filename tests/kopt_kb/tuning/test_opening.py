"""Before the first round: what is confirmed, the machine, earlier experience."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kopt_kb.errors import BadInput, ExitCode, MissingTool
from kopt_kb.runners.candidate.answers import read_answer
from kopt_kb.runners.candidate.job import Job, Outcome
from kopt_kb.runners.simulator import SimulatorExecutor
from kopt_kb.tuning.desk import Desk
from kopt_kb.tuning.opening import Opening
from kopt_kb.tuning.policies import policy_named
from kopt_kb.tuning.proposals import view_of
from kopt_kb.tuning.rounds import Aids
from kopt_kb.tuning.settings import Settings
from kopt_kb.workspace.journal.campaign_events import Blocked, TipsRead
from kopt_kb.workspace.journal.setup_events import EnvironmentRecorded
from kopt_kb.workspace.workspace import Workspace


class Machine:
    """An executor whose only answer is what it is asked to say of its machine."""

    name = "scripted"
    simulated = False

    def __init__(self, answer: dict[str, object]) -> None:
        self.answer = answer

    def run(self, job: Job, started: Callable[..., None]) -> Outcome:
        """Give the answer."""
        started(("scripted",), 1, None)
        return Outcome("ok", 0, None, 0.0, "", read_answer(job.kind, self.answer))


def opening(workspace: Workspace, executor: object, aids: Aids | None = None) -> Opening:
    """An opening of a workspace's campaign."""
    desk = Desk.open(workspace.layout, executor)  # type: ignore[arg-type]
    root = str(workspace.layout.root)
    return Opening(desk, root, executor, policy_named("gpu-wiki"), (), Settings(), aids or Aids())  # type: ignore[arg-type]


FOUND = {"device": "card", "uuid": None, "driver": "1", "clocks": {}, "versions": {}}


def test_no_gpu_is_missing_and_recorded(workspace: Workspace) -> None:
    """Exit 3, with the way out; the journal says what was needed."""
    one = opening(workspace, Machine({"missing": "no GPU is visible to torch"}))
    with pytest.raises(MissingTool, match="no GPU is visible.*--simulate") as error:
        one.prepare("T10")
    assert error.value.exit_code is ExitCode.MISSING
    assert one.desk.journal.events[-1].data == Blocked(("no GPU is visible to torch",))


def test_another_product_is_refused_by_both_names(workspace: Workspace) -> None:
    """Its numbers would be held against conditions that are not its own."""
    one = opening(workspace, Machine(FOUND), Aids(product_of=lambda _: "T20"))
    with pytest.raises(BadInput, match="card is T20, this workspace is for T10"):
        one.prepare("T10")


@pytest.mark.parametrize(("product", "said"), [("T10", 1), ("", 2)])
def test_the_machine_is_recorded(workspace: Workspace, product: str, said: int) -> None:
    """A name that no page has is told."""
    lines: list[str] = []
    one = opening(workspace, Machine(FOUND), Aids(product_of=lambda _: product, say=lines.append))
    one.prepare("T10")
    found = one.desk.journal.events[-1].data
    assert isinstance(found, EnvironmentRecorded)
    assert (found.device, found.product, len(lines)) == ("card", product, said)


def test_tips_that_can_not_be_read_are_named(workspace: Workspace, tmp_path: Path) -> None:
    """A file that was named and is absent, or no text, is no silence."""
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    for name in ("absent.md", "binary"):
        one = opening(workspace, Machine(FOUND), Aids(tips=tmp_path / name))
        with pytest.raises(BadInput, match=name):
            one.read_tips(one.desk.state())
        one.desk.close()


def test_proposers_are_given_the_tips(workspace: Workspace, tmp_path: Path) -> None:
    """What was read is told to whoever is asked for the next hypothesis, outside commands too."""
    file = tmp_path / "tips.md"
    file.write_text("use wide loads")
    one = opening(workspace, Machine(FOUND), Aids(tips=file))
    one.define(one.desk.state())
    one.read_tips(one.desk.state())
    view = view_of(one.desk.state(), b"")
    assert (view.tips, view.to_json()["tips"]) == ("use wide loads", "use wide loads")
    one.desk.close()


def test_a_simulated_campaign_reads_no_tips(workspace: Workspace, tmp_path: Path) -> None:
    """Nothing from a measured world leads a simulated one."""
    file = tmp_path / "tips.md"
    file.write_text("use wide loads")
    one = opening(workspace, SimulatorExecutor(), Aids(tips=file))
    one.define(one.desk.state())
    one.read_tips(one.desk.state())
    assert one.desk.journal.events[-1].data == TipsRead(None, "")


def test_an_open_campaign_stays_what_was_confirmed(workspace: Workspace) -> None:
    """Another executor kind, or another policy, is refused."""
    one = opening(workspace, SimulatorExecutor())
    one.define(one.desk.state())
    state = one.desk.state()
    one.check_same(state)
    with pytest.raises(BadInput, match="never share"):
        Opening(one.desk, one.root, Machine(FOUND), one.policy, (), one.settings, one.aids).check_same(state)
    with pytest.raises(BadInput, match="under policy gpu-wiki"):
        Opening(one.desk, one.root, one.executor, policy_named("primus"), (), one.settings, one.aids).check_same(state)
