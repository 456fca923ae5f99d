"""What comes before the first round: the campaign as confirmed, the machine, earlier experience."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kopt_kb.base.errors import BadInput, KoptError
from kopt_kb.launch.candidate.job import Executor, Job, RunLimits
from kopt_kb.launch.kernel.op_options import clashes
from kopt_kb.tuning.environment import read_machine
from kopt_kb.tuning.jobs import NO_GPU_FIX
from kopt_kb.tuning.naming import named_campaign, on_branch
from kopt_kb.tuning.options import CampaignOptions, Settings
from kopt_kb.tuning.policy import Policy
from kopt_kb.tuning.proposals import Proposer
from kopt_kb.tuning.session import Session
from kopt_kb.tuning.tips import kept_tips
from kopt_kb.workspace.journal.campaign_events import Blocked, CampaignConfirmed, TipsRead
from kopt_kb.workspace.journal.setup_events import EnvironmentRecorded
from kopt_kb.workspace.state import WorkspaceState, machine_of
from kopt_kb.workspace.targets.short import has_targets

__all__ = ["CampaignSetup"]


@dataclass(frozen=True, slots=True)
class CampaignSetup:
    """The states DEFINE_TARGET, PREPARE_ENVIRONMENT and READ_HISTORICAL_TIPS of a campaign.

    Attributes:
        session: Where events are appended.
        root: Folder of the workspace, for errors.
        executor: Runs candidates.
        policy: Thresholds and stop reasons.
        proposers: Asked in order.
        settings: Sizes of measurements.
        options: What the campaign has besides.
    """

    session: Session
    root: str
    executor: Executor
    policy: Policy
    proposers: tuple[Proposer, ...]
    settings: Settings
    options: CampaignOptions

    def define(self, state: WorkspaceState) -> None:
        """Record what was asked for; from here on the campaign is open.

        Raises:
            BadInput: A condition can't be computed.
        """
        needs = _needs(state)
        if needs:
            self.session.append(Blocked(needs))
            raise BadInput(f"the campaign needs {', '.join(needs)}", where=self.root, code="KB426")
        self._refuse_other_options(state)
        names = tuple(proposer.name for proposer in self.proposers)
        policy, settings = self.policy.to_json(), self.settings.to_json()
        own = (policy, self.executor.simulated, self.executor.name, names, settings, self.options.launch)
        self.session.append(CampaignConfirmed(*own))
        if self.options.plan is not None:
            self.session.append(self.options.plan)
        if (self.policy.named or self.policy.branch) and state.route != "roofline":
            self._name(state)
        if state.route != "roofline":
            self.options.say(f"policy {self.policy.name}, executor {self.executor.name}")

    def _refuse_other_options(self, state: WorkspaceState) -> None:
        """Refuse a kernel whose defaults compute something else than the workspace counts and judges."""
        problem, kernel = state.problem, state.created.kernel
        if problem.own is not None or kernel is None or state.task.project is not None:
            return
        for clash in clashes(self.session.store.get(kernel), problem.op, dict(problem.options)):
            what = f"the workspace's roofs and targets are of other work than its kernel's: {clash.what}"
            fix = "make another workspace with kb init, which takes the options from the kernel file"
            raise BadInput(what, where=f"{self.root}/kernel.py:{clash.line}", fix=fix, code="KB077")

    def _name(self, state: WorkspaceState) -> None:
        """Record the campaign's name, places and branch."""
        root = Path(self.root)
        named = named_campaign(state, self.options.project, self.session.store, root, self.policy.branch)
        self.session.append(named)
        self.options.say(f"campaign {named.name}, backend {named.backend}, mode {named.mode}")
        if self.policy.branch and self.options.project is None and (failure := on_branch(root, named.git_branch)):
            self.options.say(f"the workspace is on no branch of its own: {failure}")

    def prepare(self, platform: str) -> None:
        """Record the machine.

        Raises:
            MissingTool: There is no GPU.
            BadInput: It is another product, or gave no answer.
        """
        machine = self._machine(platform)
        self.session.append(machine)
        self.options.say(f"device {machine.device}")
        if machine.is_other_than(platform):
            self.options.say(
                f"no page of the wiki has this device's name: Stop Conditions of {platform} are not evaluable"
            )

    def go_on(self, state: WorkspaceState) -> None:
        """Look at the machine of an open campaign again; record it when it is another one.

        Raises:
            MissingTool: There is no GPU.
            BadInput: It is another product, gave no answer, or the open round was measured on the machine before.
        """
        machine = self._machine(state.created.platform)
        before, current = state.environment, state.open_round
        if before is None or machine_of(machine) == machine_of(before):
            return
        if current is not None and current.decided is None and current.runs:
            wrong = f"round {current.number} was begun on {_named(before)}, and this is {_named(machine)}"
            self.session.append(Blocked((wrong,)))
            fix = "finish the round there, or end the campaign with kb tune stop and start another with kb tune run"
            raise BadInput(wrong, where=self.root, fix=fix, code="KB429")
        self.session.append(machine)
        self.options.say(f"the machine changed from {_named(before)} to {_named(machine)}")

    def _machine(self, platform: str) -> EnvironmentRecorded:
        job = self.session.in_time(Job("environment", limits=RunLimits(self.settings.run_s)))
        of_project = self.options.project is not None
        try:
            machine = read_machine(self.executor, job, self.options.product_of, of_project=of_project)
        except KoptError as error:
            self.session.in_time(job)  # what the end of the call cut off is nobody's fault
            self.session.append(Blocked((error.what,)))
            raise error.restated(where="PREPARE_ENVIRONMENT", fix=NO_GPU_FIX) from error
        if machine.product and machine.product != platform:
            wrong = f"the device {machine.device} is {machine.product}, this workspace is for {platform}"
            self.session.append(Blocked((wrong,)))
            fix = f"make a workspace for it: kb init --platform {machine.product}"
            raise BadInput(wrong, where="PREPARE_ENVIRONMENT", fix=fix, code="KB428")
        return machine

    def read_tips(self, state: WorkspaceState) -> None:
        """Record what the file of earlier experience says; a simulated campaign reads none.

        Raises:
            BadInput: There is a file's name and no text to read.
        """
        known = Path(state.named.tips) if state.named is not None and state.named.tips else None
        known = known if known is not None and known.is_file() else None
        file = (self.options.tips or known) if not state.simulated else None
        try:
            text = file.read_text(encoding="utf-8") if file is not None else ""
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise BadInput(
                f"tips can't be read: {reason}", where=str(file), fix="name a text file, or none", code="KB111"
            ) from error
        kept = kept_tips(state, text)
        if kept != text:
            self.options.say("tips that a gate of the policy would refuse are left out")
        self.session.append(TipsRead(str(file) if kept else None, kept))

    def refuse_rounds_by_hand(self, state: WorkspaceState) -> None:
        """Raise `BadInput` when a person began rounds here."""
        if state.rounds:
            raise BadInput(
                "rounds of this workspace were begun by hand, and the loop begins its own",
                where=self.root,
                fix="make another workspace with kb init",
                code="KB425",
            )


def _named(machine: EnvironmentRecorded) -> str:
    more = ", ".join(filter(None, (machine.uuid, machine.driver and f"driver {machine.driver}")))
    return f"{machine.device} ({more})" if more else machine.device


def _needs(state: WorkspaceState) -> tuple[str, ...]:
    if state.route == "roofline":
        return ()
    missing = not has_targets(state)
    return ("a Stop Condition for every shape: some of its inputs are UNKNOWN",) if missing else ()
