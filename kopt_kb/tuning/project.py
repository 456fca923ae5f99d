"""Adapts a project to the campaign: its files, what is frozen at the baseline, and what every job must know."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.candidate.answers import Timing
from kopt_kb.launch.candidate.job import Job, JobKind, Request, RunLimits
from kopt_kb.launch.project.bundle import bundle, bundle_of, checked_out, files_of
from kopt_kb.launch.project.file import ProjectFile, read_project
from kopt_kb.launch.project.paths import changed_files, hash_files, protected_files, select
from kopt_kb.problem.shapes import format_shape
from kopt_kb.tuning.decision import GateResult
from kopt_kb.tuning.lint import lint_files
from kopt_kb.tuning.patch import patched_files
from kopt_kb.tuning.policy import Policy
from kopt_kb.tuning.proposals import Proposal, ProposerAnswer, ShownFiles
from kopt_kb.tuning.validation_scope import representative_shapes
from kopt_kb.tuning.versions import confirmed_rounds
from kopt_kb.workspace.journal.campaign_events import Blocked, ProjectFrozen, ProjectProtected
from kopt_kb.workspace.journal.round_events import RoundStarted
from kopt_kb.workspace.state import WorkspaceState

if TYPE_CHECKING:
    from kopt_kb.tuning.session import Session


__all__ = ["ProjectAdapter"]

_MAX_CONFIRMATIONS = 2
"""How often a campaign asks for the same confirmation when it could not be measured, before it ends."""


@dataclass(frozen=True, slots=True)
class ProjectAdapter:
    """The project of a workspace.

    Attributes:
        project: What its file says, as captured when the workspace was made.
        data: Bytes of that file.
        root: The project's folder.
    """

    project: ProjectFile
    data: bytes
    root: Path

    @classmethod
    def of(cls, state: WorkspaceState, read: Callable[[str], bytes]) -> ProjectAdapter | None:
        """Return the project of a workspace; None when it has none. `read` gives the bytes of a blob."""
        kept = state.task.project
        if kept is None:
            return None
        data = read(kept.blob)
        return cls(read_project(data, kept.file), data, Path(kept.root))

    # ---- before rounds ---------------------------------------------------------------------------

    def begin(self, session: Session, state: WorkspaceState) -> None:
        """Note the hashes of all protected files, which nothing may change from here on; then begin the baseline."""
        self.guard(session, state)
        if state.protected is not None:
            session.append(RoundStarted(0, session.store.put(self.baseline())))
            return
        hashes = hash_files(self.root, select(self.project, self.root).protected)
        session.append(ProjectProtected(str(self.root), hashes))

    def baseline(self) -> bytes:
        """Return the bundle of the project's editable files as they are now."""
        return bundle_of(self.root, select(self.project, self.root).editable)

    def guard(self, session: Session, state: WorkspaceState) -> None:
        """Block the campaign when the project file or a protected file of the project is not what it was.

        Raises:
            BadInput: Naming the file; no candidate is to blame.
        """
        path = Path(self.project.where)
        same = path.is_file() and path.read_bytes() == self.data
        hashes = _hashes(state)
        since = "the baseline" if hashes and same else "the workspace was made"
        changed = [] if same else [(path, "changed")]
        changed += [(self.root / path, "changed") for path in changed_files(self.root, hashes)]
        present = protected_files(self.project, self.root) if hashes else ()
        changed += [(self.root / path, "is new") for path in present if path not in hashes]
        if not changed:
            return
        first, how = changed[0]
        need = f"{first} {how} since {since}"
        last = session.journal.events[-1].data
        if not (isinstance(last, Blocked) and last.needs == (need,)):
            session.append(Blocked((need,)))
        raise BadInput(
            f"{how} since {since}, and every round rests on it", where=str(first),
            fix=f"{'remove' if how == 'is new' else 'restore'} it, or make another workspace with kb init",
            code="KB414",
        )  # fmt: skip

    def freeze(self, session: Session, state: WorkspaceState) -> bool:
        """Note the header of the baseline's CSV and the representative shapes: they hold until the campaign ends.

        Before every round the project is compared with its hashes; True when something was noted.
        """
        self.guard(session, state)
        if state.frozen is not None or state.best is None:
            return False
        first = state.rounds[0]
        timed = next((run for run in first.attempts(first.name, "timing") if run.finished is not None), None)
        if timed is None:
            raise BadInput("the baseline has no finished benchmark", where="BASELINE", code="KB417")
        answer = session.recall(timed).result
        header = answer.header if isinstance(answer, Timing) else ()
        chosen = representative_shapes(state.problem, self.project.scoring.representative)
        session.append(ProjectFrozen(header, tuple(chosen)))
        return True

    # ---- candidates ------------------------------------------------------------------------------

    def shown(self, incumbent: bytes) -> ShownFiles:
        """Return what outside proposers see of the project besides the state."""
        files, own = files_of(incumbent), self.project.kernel_source
        return ShownFiles(files[own], own, files, self.project.editable, self.project.protected)

    def candidate(self, incumbent: bytes, answer: ProposerAnswer, name: str) -> bytes:
        """Return the bundle that an answer with `source`, `files` or `patch` makes of the incumbent."""
        return bundle(patched_files(self.project, self.root, files_of(incumbent), answer, name))

    def lint(self, baseline: bytes, source: bytes, *, caches: bool = True) -> GateResult:
        """Return the lint gate's word on a bundle; `caches`: whether a cache by identity is a finding of it."""
        return lint_files(files_of(baseline), files_of(source), caches=caches)

    def checked_out(self, source: bytes) -> dict[str, bytes]:
        """Return path in the workspace → bytes: kernel.py is the kernel source, the rest lies in a folder."""
        return checked_out(source, self.project.kernel_source)

    @property
    def compares(self) -> bool:
        """Whether results of its kernel are compared with the reference."""
        return "outputs" in self.project.commands

    def policy(self, policy: Policy) -> Policy:
        """Return the policy with the project's core shapes, and without a required lint where it knows no language.

        What a project's own benchmark says is reported, and no policy can ask for more of it; where its results are
        not compared either, nothing but the user's word lets it decide.
        """
        policy = replace(policy, least_trust="reported")
        if policy.needs_skew and self.project.op == "grouped_gemm":
            policy = replace(policy, skewed_shapes=self._skewed())
        core = self.project.scoring.core_shapes
        if core and policy.core_shapes is None:
            policy = replace(policy, core_shapes=core)
        if all(path.endswith(".py") for path in files_of(self.baseline())):
            return policy
        return replace(policy, required_gates=tuple(gate for gate in policy.required_gates if gate != "lint"))

    def _skewed(self) -> tuple[str, ...]:
        """Return the shapes with uneven experts; raises `BadInput` where the project names none."""
        named = self.project.scoring.skewed
        if not named:
            raise BadInput(
                "no shape with uneven experts is named, and gains of even ones do not reach training",
                where=self.project.where,
                fix='benchmark one, for example with an expert of half the rows, and name it: [scoring] skewed = ["…"]',
                code="KB426",
            )
        return named

    # ---- jobs ------------------------------------------------------------------------------------

    def has_quick(self, state: WorkspaceState) -> bool:
        """Return whether fewer shapes than all can be benchmarked, and are worth it."""
        chosen = state.frozen.representative if state.frozen is not None else ()
        return self.project.quick_command() is not None and 0 < len(chosen) < len(state.problem.shapes)

    def job(self, session: Session, state: WorkspaceState, job: Job) -> Job:
        """Return a job as the project's commands need it; its body says quick or full.

        Raises:
            BadInput: The project is not what it was.
        """
        self.guard(session, state)
        body = self.body(state, job.body)
        limits = self.limits(job.kind, body, job.limits.resident_bytes)
        return replace(job, body=body, limits=limits, reference=b"")

    def body(self, state: WorkspaceState, asked: Request) -> Request:
        """Return a request with what the project's commands must know."""
        problem, frozen = state.problem, state.frozen
        shapes = tuple(format_shape(shape) for shape in problem.shapes)
        return replace(
            asked,
            shapes=frozen.representative if frozen and asked.is_quick else shapes,
            amounts=problem.passes(),
            header=frozen.header if frozen else (),
            protected=_hashes(state),
            probe=frozen is None,
        )

    def limits(self, kind: JobKind, body: Request, resident_bytes: int) -> RunLimits:
        """Return the limits of a whole job: the sum of what its commands may take."""
        commands = self.project.commands
        limit = {name: command.limit_s for name, command in commands.items()}
        timed = limit["quick"] if body.is_quick and "quick" in limit else limit["benchmark"]
        build = limit.get("build", 0.0)
        total = {
            "check": build + limit["test"] + limit.get("outputs", 0.0),
            "timing": 2 * build + 2 * body.repeats * timed,
            "evidence": build + limit.get("profile", 0.0),
        }
        probe = build + limit["test"] + timed if body.probe else 0.0  # of a broken kernel
        if body.probe and self.compares:  # and of what outputs and the benchmark call
            probe += 2 * build + 2 * limit["outputs"] + timed
        return RunLimits(total.get(kind, limit["test"]) + probe, resident_bytes)

    # ---- the end ---------------------------------------------------------------------------------

    def confirmation(self, session: Session, state: WorkspaceState) -> tuple[Proposal, str] | None:
        """Return the round that validates on all shapes what quick rounds accepted, and the blob it is held against.

        None when nothing the best version rests on is open: it, and every version between it and the baseline, was
        held against another one on all shapes. The claim is a hypothesis like any other: when it fails, the campaign
        is back at the last version without open ones. A round that could not be measured says nothing: it is asked
        again, at most `_MAX_CONFIRMATIONS` times before the campaign ends, and as often when it goes on.
        """
        accepted = [round_ for round_ in state.rounds if round_.snapshot is not None and round_.refuted_by is None]
        whole = confirmed_rounds(accepted)
        if not accepted or accepted[-1] in whole.values():
            return None
        best, (sha, base) = accepted[-1], list(whole.items())[-1]
        claim = f"{best.name} holds on every shape against {base.name}"
        asked = [
            round_
            for round_ in state.rounds
            if round_.proposal is not None and round_.proposal.claim.partition(", again")[0] == claim
        ]
        if sum(1 for round_ in asked if round_.seq > state.campaign_seq) >= _MAX_CONFIRMATIONS:
            return None
        again = ("", ", again")[len(asked)] if len(asked) < 2 else f", again ({len(asked) + 1})"
        made = Proposal(
            "validation",
            f"{claim}{again}",
            "the gain is there on all shapes, not only on the representative ones",
            "kb tune",
            session.store.get(best.snapshot.blob) if best.snapshot is not None else b"",
            confirms=tuple(round_.number for round_ in accepted if round_.number > base.number),
        )
        return made, sha


def _hashes(state: WorkspaceState) -> Mapping[str, str]:
    return state.protected.protected if state.protected is not None else {}
