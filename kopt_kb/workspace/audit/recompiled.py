"""Code objects of a journal made again from the source it keeps, by this machine's compiler, without a GPU."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from kopt_kb.base.errors import KoptError
from kopt_kb.base.wire import Wire
from kopt_kb.launch.kernel.declared import kernel_name
from kopt_kb.launch.recompile.binding import Binder, Origin, RecordedCode, codes_of, named_truly
from kopt_kb.launch.record.judge import load_record
from kopt_kb.launch.record.source import CodeBound, CodeSource
from kopt_kb.sandbox.owned import owned_folder
from kopt_kb.workspace.audit.findings import AuditFinding
from kopt_kb.workspace.audit.timings import last_timing, unpacked
from kopt_kb.workspace.journal.blobs import ObjectStore
from kopt_kb.workspace.journal.events import Event
from kopt_kb.workspace.journal.round_events import RecordBound
from kopt_kb.workspace.state import WorkspaceState

__all__ = ["MadeAgain", "made_again", "recompile_findings"]

_SHOWN = 12


@dataclass(frozen=True, slots=True)
class CodeAgain(Wire):
    """One code object: its sha256, language and kernel, and whether it comes from the source."""

    code: str
    kernel: str
    source: CodeSource


@dataclass(frozen=True, slots=True)
class MadeAgain(Wire):
    """What recompiling came to.

    Attributes:
        version: The version whose code objects were made again.
        codes: Each of them.
        why_not: Why nothing was made again here; empty where it was.
        problems: What contradicts the journal; empty where nothing does.
        versions: Program → version of the compilers of this machine.
    """

    WIRE: ClassVar = ("version", "codes", "why_not", "problems", "versions")
    version: str
    codes: tuple[CodeAgain, ...] = ()
    why_not: str = ""
    problems: tuple[str, ...] = ()
    versions: Mapping[str, str] | None = None

    @property
    def holds(self) -> bool:
        """Whether every code object was made again here and is the recorded one."""
        bound = all(one.source.state == "bound" for one in self.codes)
        return bool(self.codes) and bound and not self.why_not and not self.problems

    def __str__(self) -> str:
        if self.why_not:
            return f"not made again here: {self.why_not}"
        said = ", ".join(f"{one.kernel or one.code[:_SHOWN]} {_said(one.source)}" for one in self.codes)
        return f"{self.version} made again here: {said}"


def made_again(events: tuple[Event, ...], state: WorkspaceState, store: ObjectStore) -> MadeAgain:
    """Make the code objects of the best version's last timing again, from the source that its snapshot holds.

    No Python of the workspace runs: the second compiler takes kernels out of the text.
    """
    best = state.best
    if best is None or best.snapshot is None:
        return MadeAgain("", why_not="no version was accepted")
    if state.task.project is not None:
        return MadeAgain(best.name, why_not="a project's own commands made its code")
    timing = last_timing(events, store, best.name)
    named = timing.basis.records if timing is not None and timing.basis is not None else {}
    records = [sha for name, sha in named.items() if name.partition(" ")[0] == "candidate"]
    if not records:
        return MadeAgain(best.name, why_not="its times rest on no launch record")
    try:
        with owned_folder("kb-audit-source-") as folder:
            outcomes = _outcomes(store.get(best.snapshot.blob), records, store, folder)
    except KoptError as error:
        return MadeAgain(best.name, why_not=f"{error.where}: {error.what}".removeprefix(": "))
    return _held(best.name, outcomes, {one.code: one for one in state.bound.values()})


def recompile_findings(again: MadeAgain | None) -> tuple[AuditFinding, ...]:
    """Return the findings that recompiling brought."""
    fix = "judge the version again; what was timed is not what its source says"
    problems = again.problems if again is not None else ()
    return tuple(AuditFinding("recompile", "journal.jsonl", 0, one, fix) for one in problems)


def _outcomes(source: bytes, records: list[str], store: ObjectStore, folder: Path) -> list[CodeBound]:
    """Return what becomes of the code objects of records, each once."""
    file = folder / "source" / kernel_name(source)
    file.parent.mkdir()
    file.write_bytes(source)
    codes: dict[str, RecordedCode] = {}
    targets = set()
    for at, sha in enumerate(records):
        place = unpacked(sha, store, folder / str(at))
        targets.add(load_record(place).target)
        codes |= {one.digest: _of_here(one, file) for one in codes_of(place)}
    digest, roots = hashlib.sha256(source).hexdigest(), (str(file.parent.resolve()),)
    origin = Origin(targets.pop() if len(targets) == 1 else "", roots, digest=digest)
    return [named_truly(one, file) for one in Binder().bound([*codes.values()], origin)]


def _of_here(code: RecordedCode, file: Path) -> RecordedCode:
    """Return a recorded code object whose request names the source where it lies here."""
    asked = code.request
    if asked is None or Path(asked.file).name != file.name:
        return code
    return replace(code, request=replace(asked, file=str(file.resolve())))


def _held(version: str, outcomes: list[CodeBound], claimed: Mapping[str, RecordBound]) -> MadeAgain:
    """Hold outcomes against what the journal says of the same code objects."""
    made = tuple(CodeAgain(one.code, one.kernel, one.source) for one in outcomes)
    versions = next((one.versions for one in outcomes if one.versions), {})
    lacks = next((one.source for one in outcomes if one.source.reason == "compiler"), None)
    if lacks is not None:
        return MadeAgain(version, why_not=f"the compiler here: {lacks.detail}", versions=versions)
    problems = []
    for one in outcomes:
        said = claimed.get(one.code)
        if one.source.state == "bound" or said is None or said.outcome.state != "bound":
            continue
        if one.source.reason == "differs" and dict(said.versions) != dict(one.versions):
            here, then = (
                ", ".join(f"{name} {of[name]}" for name in sorted(of)) for of in (one.versions, said.versions)
            )
            return MadeAgain(version, why_not=f"the compilers here are {here}, its own were {then}", versions=versions)
        what = f"{said.kernel}, code object {one.code[:_SHOWN]}"
        problems.append(f"{what} is said to come from its source; made again here it is {_said(one.source)}")
    return MadeAgain(version, made, problems=tuple(problems), versions=versions)


def _said(source: CodeSource) -> str:
    return f"{source}: {source.detail}" if source.detail else str(source)
