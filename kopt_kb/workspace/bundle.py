"""A campaign in one file: journal, blobs and cited pages under an in-toto statement, to be audited anywhere.

A bundle is a gzipped tar of regular files in one order, without times or owners: the same journal gives the same bytes.
`statement.json` comes first. Its subjects are the sha256 of every other file (in-toto Attestation Framework, Statement
v1), so that signing the statement, with whatever tool, signs all of it; its predicate is what a reader wants to know
without unpacking, and is computed again by whoever verifies.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import JsonMap, Wire, canonical
from kopt_kb.launch.candidate.launcher_run import LauncherWord
from kopt_kb.wiki.registry import Platform
from kopt_kb.wiki.resolve import verify
from kopt_kb.workspace.journal.blobs import ObjectStore
from kopt_kb.workspace.journal.disk import read_regular
from kopt_kb.workspace.journal.setup_events import EnvironmentRecorded
from kopt_kb.workspace.layout import Layout
from kopt_kb.workspace.levels import level_words
from kopt_kb.workspace.registration import citation_of
from kopt_kb.workspace.state import WorkspaceState

__all__ = [
    "PREDICATE",
    "STATEMENT",
    "BundledDecision",
    "CitedRow",
    "Predicate",
    "Statement",
    "Subject",
    "bundle",
    "statement_of",
]

STATEMENT = "statement.json"
PREDICATE = "urn:kopt-kb:campaign:1"
"""Type of the predicate; another meaning of a member is another type."""

_TYPE = "https://in-toto.io/Statement/v1"


@dataclass(frozen=True, slots=True)
class Subject(Wire):
    """A file of the bundle and its hash."""

    name: str
    digest: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class CitedRow(Wire):
    """A registered value, with the row and the document that say it.

    Attributes:
        key: Metric with its axes.
        value: As printed.
        unit: As printed.
        grade: The row's.
        page: Path of the page in the bundle.
        line: Line of the row.
        row_sha256: Hash of the row.
        documents: Title, address, revision, day it was read, locator and quote of each source.
    """

    key: str
    value: str
    unit: str
    grade: str
    page: str
    line: int
    row_sha256: str
    documents: tuple[Mapping[str, str], ...]


@dataclass(frozen=True, slots=True)
class BundledDecision(Wire):
    """The end of a round, how far its times can be trusted, and whether its launcher was seen to do what was timed."""

    round: int
    decision: str
    policy: str
    rule: str
    trust: str
    launcher: LauncherWord = ""


@dataclass(frozen=True, slots=True)
class Predicate(Wire):
    """What a campaign came to.

    Attributes:
        workspace: Its name.
        platform: Product.
        problem: Operation, shapes, type and tolerances.
        head: Number and hash of the journal's last event.
        versions: Program → version, of the workspace's making.
        machines: Every machine that was recorded.
        decisions: Every round that ended.
        best: Number and blob of the best version; null without one.
        stopped: Why the campaign ended; empty while it is open.
        citations: Every registered value.
        level: Of a project: on what its gains rest; empty of a kernel, whose decisions say it.
    """

    WIRE: ClassVar = (
        "workspace", "platform", "problem", "head", "versions", "machines", "decisions", "best", "stopped", "citations",
        "level?=_level",
    )  # fmt: skip

    workspace: str
    platform: str
    problem: JsonMap
    head: Mapping[str, str | int]
    versions: Mapping[str, str]
    machines: tuple[EnvironmentRecorded, ...]
    decisions: tuple[BundledDecision, ...]
    best: Mapping[str, str | int] | None
    stopped: str
    citations: tuple[CitedRow, ...]
    level: str = ""

    @property
    def _level(self) -> str | None:
        return self.level or None

    @classmethod
    def from_wire(cls, document: Mapping[str, object]) -> Mapping[str, object]:
        """Read what is there: only a project's has a level."""
        return document


@dataclass(frozen=True, slots=True)
class Statement(Wire):
    """An in-toto statement."""

    WIRE: ClassVar = ("_type=kind", "subject", "predicateType=predicate_type", "predicate")
    subject: tuple[Subject, ...]
    predicate: Predicate
    predicate_type: str = PREDICATE
    kind: str = _TYPE


def bundle(layout: Layout, state: WorkspaceState, platform: Platform, output: Path) -> Statement:
    """Write a workspace's bundle; the file must not exist.

    Args:
        layout: The workspace.
        state: Folded from its whole journal.
        platform: Its product, as its wiki says it now.
        output: The file.

    Raises:
        BadInput: The file exists, or can't be written.
        ObjectError: A blob that the journal names is missing or damaged.
    """
    files = dict(_files(layout, state, platform))
    statement = statement_of(state, platform, files)
    files = {STATEMENT: canonical(statement.to_json()) + b"\n", **files}
    try:
        with (
            output.open("xb") as raw,
            gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as packed,
            tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive,
        ):
            for name, data in files.items():
                member = tarfile.TarInfo(name)
                member.size, member.mode = len(data), 0o644
                archive.addfile(member, io.BytesIO(data))
    except FileExistsError:
        fix = "name a new file; nothing is overwritten"
        raise BadInput("exists already", where=str(output), fix=fix, code="KB113") from None
    except OSError as error:
        raise BadInput(f"can't be written: {error.strerror or error}", where=str(output), code="KB112") from error
    return statement


def statement_of(state: WorkspaceState, platform: Platform, files: Mapping[str, bytes]) -> Statement:
    """Return the statement of a state and the files that stand beside it, without the statement itself."""
    subjects = tuple(
        Subject(name, {"sha256": hashlib.sha256(data).hexdigest()}) for name, data in sorted(files.items())
    )
    return Statement(subjects, _predicate(state, platform))


def _files(layout: Layout, state: WorkspaceState, platform: Platform) -> Iterator[tuple[str, bytes]]:
    """Yield the journal, all blobs and the pages that the workspace's values stand on."""
    yield "journal.jsonl", read_regular(layout.journal) or b""
    store = ObjectStore(layout.objects)
    for sha in store.names():
        yield f"objects/{sha}", store.get(sha)
    identity = platform.identity
    own = {identity.path, f"targets/{identity.target}.md", f"measured/{identity.platform.lower()}.md"}
    for path in sorted(own | {row.citation.path for row in state.specs.values()}):
        content = platform.wiki.read(path)
        if content is not None:
            yield f"wiki/{path}", content


def _predicate(state: WorkspaceState, platform: Platform) -> Predicate:
    best = state.best
    chosen = best.snapshot.blob if best is not None and best.snapshot is not None else ""
    decisions = tuple(
        BundledDecision(attempt.number, data.decision, data.policy, data.rule, data.trust, data.launcher)
        for attempt in state.attempts.values()
        if (data := attempt.decided) is not None
    )
    return Predicate(
        state.created.name,
        state.created.platform,
        state.created.problem,
        {"seq": state.seq, "zh": state.head},
        state.created.versions,
        tuple(state.environments.values()),
        decisions,
        {"version": best.number, "blob": chosen} if best is not None else None,
        state.stopped.reason if state.stopped is not None else "",
        tuple(_cited(state, platform)),
        level_words(state, ()) if state.task.project is not None else "",
    )


def _cited(state: WorkspaceState, platform: Platform) -> Iterator[CitedRow]:
    for row in state.specs.values():
        at = row.citation
        _, now = verify(platform.wiki, citation_of(row))
        notes = platform.sheet.footnotes.get(at.path, {})
        documents = [
            {
                "title": note.title, "url": note.url, "revision": note.revision, "read": note.read,
                "locator": source.locator, "quote": source.quote,
            }
            for source in (now.sources if now is not None else ())
            if (note := notes.get(source.id)) is not None
        ]  # fmt: skip
        yield CitedRow(
            row.key, row.value, row.unit, row.grade, f"wiki/{at.path}", at.line, at.row_sha256, tuple(documents)
        )
