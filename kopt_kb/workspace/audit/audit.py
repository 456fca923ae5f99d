"""The audit of a workspace: cited rows read again, targets recomputed, blocks rendered again, prose searched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from kopt_kb.errors import KoptError
from kopt_kb.problem.shapes import format_shape
from kopt_kb.quantity.citation import Citation, Location
from kopt_kb.wiki.registry import Platform, Registry
from kopt_kb.wiki.resolve import verify
from kopt_kb.workspace import registration
from kopt_kb.workspace.audit.prose import audit_prose
from kopt_kb.workspace.journal.blobs import ObjectError, ObjectStore
from kopt_kb.workspace.journal.chain import JournalError
from kopt_kb.workspace.journal.setup_events import SpecRow
from kopt_kb.workspace.retarget import aim_in_force, factor_in_force, targets_now
from kopt_kb.workspace.state import WorkspaceState, fold
from kopt_kb.workspace.views.blocks import BlockError, parse_blocks
from kopt_kb.workspace.views.conflict import first_difference
from kopt_kb.workspace.views.render import Texts, render_texts, spoken_texts, view_faults
from kopt_kb.workspace.workspace import Workspace

__all__ = ["AUDIT_CODES", "AuditReport", "Finding", "audit"]

AUDIT_CODES: dict[str, str] = {
    "journal": "the journal can't be read or its chain is broken",
    "object": "a blob the journal names is missing or damaged",
    "changed": "a cited row has other content now",
    "missing": "a cited row or page is gone",
    "refused": "the wiki refuses a row this workspace rests on",
    "target": "a target is not what its cited rows and work give",
    "no-target": "a shape has no target because an input is UNKNOWN",
    "placeholder": "a user's stand-in is recorded in place of a value",
    "edited-block": "a rendered block is not what the journal renders",
    "edited-view": "a rendered file was edited, removed, or written by something else than kb",
    "stale-view": "a rendered file shows an earlier journal",
    "set-by": "a note: the targets in force were set by a person, with a reason",
    "tbd": "a field is still TBD",
    "citation": "a citation in a text does not hold",
    "unregistered": "a value of this platform is used without being registered in the README or the current plan",
    "unsourced": "a hardware number is no row, target or measurement of this workspace",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding or note: code, file relative to the workspace, line, what is wrong, what to do."""

    code: str
    file: str
    line: int
    message: str
    fix: str

    def to_json(self) -> dict[str, Any]:
        """Return the contract's finding."""
        return {"code": self.code, "file": self.file, "line": self.line, "message": self.message, "fix": self.fix}

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}; {self.fix} [{self.code}]"


@dataclass(frozen=True, slots=True)
class AuditReport:
    """Result of an audit; notes (a row that moved) do not make it unclean."""

    path: str
    findings: tuple[Finding, ...]
    notes: tuple[Finding, ...] = ()
    checked: int = 0

    @property
    def clean(self) -> bool:
        """Whether nothing was found."""
        return not self.findings

    def to_json(self) -> dict[str, Any]:
        """Return the CLI's JSON."""
        return {
            "path": self.path,
            "clean": self.clean,
            "findings": [one.to_json() for one in self.findings],
            "notes": [one.to_json() for one in self.notes],
            "checked": self.checked,
        }


def audit(path: str | Path, registry: Registry) -> AuditReport:
    """Return everything that does not hold in the workspace at `path`.

    Raises:
        LayoutError: There is no workspace.
    """
    workspace = Workspace.open(path)
    try:
        state = fold(workspace.events())
    except JournalError as error:
        line = error.where.rpartition(":")[2]
        broken = Finding(
            "journal",
            "journal.jsonl",
            int(line) if line.isdigit() else 0,
            error.what,
            error.fix or "restore the journal",
        )
        return AuditReport(str(path), (broken,))
    readme = _text(workspace.layout.readme)
    findings: list[Finding] = []
    notes: list[Finding] = []
    texts: Texts | None = None
    try:
        platform = registry.platform(state.created.platform)
    except KoptError as error:
        return AuditReport(
            str(path), (Finding("missing", "README.md", _line(readme, "platform:"), error.what, error.fix),)
        )
    for one in _rows(state, platform, readme):
        (notes if one.code == "moved" else findings).append(one)
    findings += _targets(state, platform, readme)
    findings += _objects(workspace, state)
    try:
        texts = render_texts(workspace.events(), ObjectStore(workspace.layout.objects).get)
        findings += _blocks(workspace, texts.blocks["README.md"])
        views = list(_views(workspace, texts))
    except ObjectError as error:
        findings.append(Finding("object", "journal.jsonl", 1, f"{error.where}: {error.what}", error.fix))
        views = []
    findings += views
    notes += _set_by(state, readme)
    findings += _open_fields(state, readme)
    prose, moved = audit_prose(workspace.layout, state, platform)
    findings += _authored([Finding(*one) for one in prose], workspace, texts)
    notes += [Finding(*one) for one in moved]
    ordered = sorted(dict.fromkeys(findings), key=lambda one: (one.file, one.line, one.code))
    return AuditReport(str(path), tuple(ordered), tuple(notes), len(state.specs))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _line(text: str, needle: str) -> int:
    """Return the first line that holds `needle`, or 1."""
    return next((n for n, line in enumerate(text.split("\n"), 1) if needle in line), 1)


def _citation(row: SpecRow) -> Citation:
    where = Location(row.citation.path, row.citation.line)
    return Citation(row.key, row.value, row.unit or "-", where, row.citation.row_sha256)


def _rows(state: WorkspaceState, platform: Platform, readme: str) -> Iterator[Finding]:
    blocked = {fault.key: fault for fault in platform.sheet.faults}
    for row in state.specs.values():
        citation = _citation(row)
        line = _line(readme, f"- {row.key}:")
        held, now = verify(platform.wiki, citation)
        fault = blocked.get(row.key) or blocked.get(row.key.partition("[")[0]) or blocked.get(None)
        if fault is not None:
            yield Finding("refused", "README.md", line, f"{row.key}: {fault}", "repair the wiki page first")
        elif held == "changed" and now is not None:
            text = f"{row.key} was {row.value} {row.unit}, {now.path}:L{now.line} says {now.value} {now.unit}"
            yield Finding(
                "changed", "README.md", line, text, "register it again with `kb workspace set`, or restore the page"
            )
        elif held == "missing":
            yield Finding(
                "missing", "README.md", line, f"{citation} is gone from the wiki", "restore the row or drop the value"
            )
        elif held == "moved" and now is not None:
            yield Finding(
                "moved", "README.md", line, f"{row.key} moved to {now.path}:L{now.line}, unchanged", "nothing to do"
            )


def _targets(state: WorkspaceState, platform: Platform, readme: str) -> Iterator[Finding]:
    line = _line(readme, "## Stop Conditions")
    if state.targets is None:
        yield Finding("no-target", "README.md", line, "no targets were set", "create the workspace with `kb init`")
        return
    by_shape = {one.shape: one for one in state.targets.targets if one.shape}
    try:
        found = targets_now(state.problem, platform, factor_in_force(state), aim_in_force(state))
        now = registration.target_set(state.problem, found, reason="audit", by="audit")
    except KoptError as error:
        yield Finding(
            "refused",
            "README.md",
            line,
            f"the targets can't be recomputed: {error.what} ({error.where})",
            error.fix or "repair the wiki page",
        )
        return
    fresh = {one.shape: one for one in now.targets if one.shape}
    for shape in (format_shape(one) for one in state.problem.shapes):
        have, want = by_shape.get(shape), fresh.get(shape)
        at = _line(readme, f"| {shape} |")
        if have is None:
            yield Finding(
                "no-target",
                "README.md",
                at,
                f"{shape} has no target: an input is UNKNOWN",
                "add the row to the wiki and set the target",
            )
        elif want is None:
            yield Finding(
                "target",
                "README.md",
                at,
                f"{shape}: the wiki no longer knows the input of its target",
                "restore the row",
            )
        elif (have.quantity, Fraction(have.value), have.unit) != (
            want.quantity,
            Fraction(want.value),
            want.unit,
        ):
            given = f"{want.quantity} {want.value} {want.unit}"
            text = f"{shape}: target is {have.quantity} {have.value} {have.unit}, its rows give {given}"
            yield Finding("target", "README.md", at, text, "set it again with `kb workspace set`, or restore the page")


def _set_by(state: WorkspaceState, readme: str) -> Iterator[Finding]:
    made = state.targets
    if made is not None and made.supersedes is not None:
        line = _line(readme, "## Stop Conditions")
        text = f"the targets were set by {made.by} in event {state.targets_seq}: {made.reason}"
        yield Finding("set-by", "README.md", line, text, "nothing to do")


def _views(workspace: Workspace, texts: Texts) -> Iterator[Finding]:
    for one in view_faults(workspace, workspace.events(), texts):
        if one.is_stale:
            yield Finding("stale-view", one.path, one.line, one.text, "run `kb render`")
        else:
            fix = f"`kb adopt` it or `kb render --discard {one.path}`"
            yield Finding("edited-view", one.path, one.line, one.text, fix)


def _authored(prose: list[Finding], workspace: Workspace, texts: Texts | None) -> list[Finding]:
    """Return the findings on texts of people: in rendered files only what a note, hypothesis or adoption says."""
    if texts is None:
        return prose
    said = "\n".join(spoken_texts(workspace.events(), ObjectStore(workspace.layout.objects).get))
    kept = []
    for one in prose:
        number = one.message.partition(" is ")[0]
        if one.file not in texts.files or one.code == "citation" or number in said:
            kept.append(one)
    return kept


def _blocks(workspace: Workspace, bodies: Mapping[str, str]) -> Iterator[Finding]:
    path = workspace.layout.readme
    try:
        data = path.read_bytes()
        found = {block.name: block for block in parse_blocks(data, "README.md")}
    except OSError as error:
        yield Finding("edited-block", "README.md", 0, f"README.md can't be read: {error.strerror}", "run `kb render`")
        return
    except BlockError as error:
        line = error.where.rpartition(":")[2]
        yield Finding(
            "edited-block",
            "README.md",
            int(line) if line.isdigit() else 1,
            error.what,
            error.fix or "restore the markers",
        )
        return
    for name, body in bodies.items():
        block = found.get(name)
        if block is None:
            yield Finding(
                "edited-block",
                "README.md",
                1,
                f"block {name} is missing",
                "put its two markers back and run `kb render`",
            )
            continue
        expected = body.encode() if body.endswith("\n") else f"{body}\n".encode()
        difference = first_difference(expected, block.body)
        if difference is not None:
            found_text = f"{difference.found!r} stands where the journal renders {difference.expected!r}"
            text = f"block {name} byte {difference.offset}: {found_text}"
            yield Finding(
                "edited-block",
                "README.md",
                block.line + difference.line,
                text,
                "`kb adopt` it or `kb render --discard README.md`",
            )


def _objects(workspace: Workspace, state: WorkspaceState) -> Iterator[Finding]:
    store = ObjectStore(workspace.layout.objects)
    try:
        if state.created.kernel is not None:
            store.get(state.created.kernel)
    except ObjectError as error:
        yield Finding(
            "object",
            "journal.jsonl",
            1,
            f"the initial kernel: {error.what}",
            "restore objects/ from a backup or the git history",
        )


def _open_fields(state: WorkspaceState, readme: str) -> Iterator[Finding]:
    for number, line in enumerate(readme.split("\n"), 1):
        if line.rstrip().endswith("TBD"):
            yield Finding("tbd", "README.md", number, f"{line.strip()!r} is still open", "fill it in")
    for row in state.unknown.values():
        if row.placeholder:
            at = _line(readme, f"- {row.key}:")
            text = f"{row.key} has the placeholder {row.placeholder}"
            yield Finding("placeholder", "README.md", at, text, "replace it by a sourced row of the wiki")
